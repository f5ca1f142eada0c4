// What to say where the nodes of a job do not call the same barriers and collectives.
#pragma once

#include <am/error.hpp>
#include <am/types.hpp>

#include "core/together/collectives.hpp"

namespace am::core {

class Operation;

[[nodiscard]] const char* name_of(Round::Kind kind) noexcept;
/// This node is in a round of its own, or has been (`is_over`), and that node in another.
[[nodiscard]] Error mismatch_error(const Operation& operation, const Round& own, NodeId from,
                                   const Round& other, bool is_over = false);

}  // namespace am::core
