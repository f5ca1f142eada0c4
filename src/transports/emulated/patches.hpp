// Which nodes one multicast of a T1 reaches, and who of these passes it on to which others (T1 report, 3.9, Figure 9): first along the
// sender's row and column, both ways, then from there along the columns.
//
// Pure functions.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <span>

#include "emulated_hw/kit/grid.hpp"

namespace am::emulated {

/// Multicaster::share_out on this grid. A member is reached when it is the sender itself, or all nodes on the way to it, which is straight
/// and the shortest, are members: a T1's multicast leaves a copy at each.
void share_out(const kit::Grid& grid, NodeId from, std::span<const NodeId> members,
               std::span<std::uint32_t> by) noexcept;

}  // namespace am::emulated
