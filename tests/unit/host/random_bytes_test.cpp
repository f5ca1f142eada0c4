// Random bytes of the kernel.
#include "host/random_bytes.hpp"

#include <gtest/gtest.h>

#include <array>

namespace am::host {
namespace random_bytes_test {

TEST(RandomBytes, AreNewEachTime) {
  std::array<std::byte, 32> a{};
  std::array<std::byte, 32> b{};
  fill_random(a);
  fill_random(b);
  EXPECT_NE(a, b);
  EXPECT_NE(a, (std::array<std::byte, 32>{}));
}

}  // namespace random_bytes_test
}  // namespace am::host
