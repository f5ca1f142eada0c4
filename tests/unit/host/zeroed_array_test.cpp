#include "host/zeroed_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace am::host::zeroed_array_test {

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
  std::vector<std::size_t> counts(200);
  std::iota(counts.begin(), counts.end(), std::size_t{0});
  counts.push_back(1 << 16);  // malloc takes pages of its own for it
  for (const std::size_t count : counts) {
    const ZeroedArray<Line> lines(count);
    const ZeroedArray<Odd> odd(count);
    EXPECT_TRUE(aligned(lines.get()));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint64_t& word : lines[i].words) ASSERT_EQ(std::exchange(word, ~std::uint64_t{0}), 0u);
      for (char& byte : odd[i].bytes) ASSERT_EQ(std::exchange(byte, 'x'), 0);
    }
  }
}

}  // namespace am::host::zeroed_array_test
