#include "transports/emulated/patches.hpp"

#include <algorithm>

#include "emulated_hw/kit/dimension_order.hpp"
#include "transports/multicaster.hpp"

namespace am::emulated {

namespace {

constexpr std::uint32_t nobody = Multicaster::nobody;

std::uint32_t place_of(std::span<const NodeId> members, NodeId node) noexcept {
  const auto found = std::lower_bound(members.begin(), members.end(), node);
  return found == members.end() || *found != node ? nobody
                                                  : static_cast<std::uint32_t>(found - members.begin());
}

void reach_along(const kit::Grid& grid, NodeId from, unsigned port, std::span<const NodeId> members,
                 std::span<std::uint32_t> by) noexcept {
  NodeId node = grid.neighbour(from, port);
  for (; node != kit::Grid::nowhere && node != from; node = grid.neighbour(node, port)) {
    const std::uint32_t place = place_of(members, node);
    if (place == nobody || kit::dimension_order(grid, from, node).port != port) return;
    by[place] = place;
  }
}

/// The node in the row of one and the column of the other.
NodeId corner(const kit::Grid& grid, NodeId in_row, NodeId in_column) noexcept {
  return grid.at(in_row, 1) * grid.dimension(0).extent + grid.at(in_column, 0);
}

}  // namespace

void share_out(const kit::Grid& grid, NodeId from, std::span<const NodeId> members,
               std::span<std::uint32_t> by) noexcept {
  if (const std::uint32_t own = place_of(members, from); own != nobody) by[own] = own;
  for (unsigned port = 1; port < grid.ports(); ++port) reach_along(grid, from, port, members, by);
  const auto may_pass_on_to = [&](std::uint32_t place, NodeId node) {
    return place != nobody && by[place] == place && members[place] != from && members[place] < node;
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (by[i] != nobody) continue;
    const std::uint32_t above = place_of(members, corner(grid, from, members[i]));
    const std::uint32_t beside = place_of(members, corner(grid, members[i], from));
    if (may_pass_on_to(above, members[i])) {
      by[i] = above;
    } else if (may_pass_on_to(beside, members[i])) {
      by[i] = beside;
    }
  }
}

}  // namespace am::emulated
