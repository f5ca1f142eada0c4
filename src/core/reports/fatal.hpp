// How a node ends when it cannot go on: one line that names it, then the end of the process. Takes no memory and no lock:
// also where an interrupt came in the middle of malloc or stdio.
#pragma once

#include <am/types.hpp>
#include <cstdlib>

#include "core/reports/text_out.hpp"

namespace am::core {

template <class... T>
void say_last(NodeId node, const T&... parts) noexcept {
  TextOut out(&write_to_stderr);
  out << "am: node " << node << ": ";
  (out << ... << parts) << "\n";
}

/// The program or the library broke a rule: a line `am: node 3: <parts>`, then abort (a core dump for whoever wants it).
template <class... T>
[[noreturn]] void broken(NodeId node, const T&... parts) noexcept {
  say_last(node, parts...);
  std::abort();
}

/// The surroundings failed (a peer died, a deadline passed, no memory): the line, then exit code 1 without clean-up.
template <class... T>
[[noreturn]] void give_up(NodeId node, const T&... parts) noexcept {
  say_last(node, parts...);
  std::_Exit(1);
}

}  // namespace am::core
