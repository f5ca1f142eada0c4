#include "host/zeroed_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace am::host {
namespace zeroed_array_test {

struct alignas(64) Line {
  std::uint64_t words[8];
};
struct Odd {
  char bytes[3];
};

template <class T>
bool aligned(const T* place) {
  return reinterpret_cast<std::uintptr_t>(place) % alignof(T) == 0;
}

TEST(ZeroedArray, IsZeroAndLiesAsItsTypeWants) {
  for (std::size_t count = 0; count < 200; ++count) {
    const ZeroedArray<Line> lines(count);
    const ZeroedArray<Odd> odd(count);
    EXPECT_TRUE(aligned(lines.get()));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint64_t& word : lines[i].words) ASSERT_EQ(std::exchange(word, ~std::uint64_t{0}), 0u);
      for (char& byte : odd[i].bytes) ASSERT_EQ(std::exchange(byte, 'x'), 0);
    }
  }
}

TEST(ZeroedArray, LiesAsItsTypeWantsAlsoWhenItIsLarge) {
  const ZeroedArray<Line> lines(1 << 16);  // malloc takes pages of its own for it
  EXPECT_TRUE(aligned(lines.get()));
  lines[(1 << 16) - 1].words[7] = 1;
}

}  // namespace zeroed_array_test
}  // namespace am::host
