// How a node ends when it cannot go on: one line that names it, then the end of the process.
#pragma once

#include <am/types.hpp>
#include <string_view>

namespace am::core {

/// The program or the library broke a rule: a line `am: node 3: <text>`, then abort (a core dump for whoever wants it).
[[noreturn]] void broken(NodeId node, std::string_view text) noexcept;

/// The surroundings failed (a peer died, a deadline passed, no memory): the line, then exit code 1 without clean-up.
[[noreturn]] void give_up(NodeId node, std::string_view text) noexcept;

}  // namespace am::core
