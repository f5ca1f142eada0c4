// How a packet of libam becomes messages of a machine, which are shorter.
#pragma once

#include <algorithm>
#include <cstddef>

namespace am::emulated {

/// Calls f(words of this part, whether it is the last) for each: one at least.
template <class F>
void for_each_part(std::size_t words, std::size_t most, F f) {
  for (bool last = false; !last;) {
    const std::size_t these = std::min(words, most);
    words -= these;
    last = words == 0;
    f(these, last);
  }
}

}  // namespace am::emulated
