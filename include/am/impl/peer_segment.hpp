// Where another node's memory segment lies in this process. base is null until the first use, or for good when that
// node's memory cannot be reached by loads and stores.
#pragma once

#include <cstddef>

namespace am::impl {

struct PeerSegment {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

}  // namespace am::impl
