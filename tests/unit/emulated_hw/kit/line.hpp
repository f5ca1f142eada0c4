// What the memory of a live network is made of, which has to be aligned as this is.
#pragma once

#include <cstddef>

namespace test {

struct alignas(64) Line {
  std::byte bytes[64];
};

}  // namespace test
