// A word of the M-Machine: 64 bits, and the tag that says whether they are a guarded pointer. Programs compute with both; only what
// is privileged sets the tag (guarded_pointer.hpp).
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 5.2.1 and Figure 5-4; the flits of 4.1 and the
// events of 4.2.3 carry 65 bits of it.
#pragma once

#include <cstdint>

namespace am::mmachine {

struct Word {
  std::uint64_t bits = 0;
  bool is_pointer = false;

  friend constexpr bool operator==(const Word&, const Word&) = default;
};

}  // namespace am::mmachine
