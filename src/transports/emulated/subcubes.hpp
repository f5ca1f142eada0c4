// Which broadcasts of an nCUBE/2 bring a message to a list of nodes: each goes to all nodes of a subcube, but never to its sender.
//
// Pure functions.
#pragma once

#include <am/types.hpp>
#include <bitset>
#include <cstdint>
#include <optional>

#include "emulated_hw/kit/live_network.hpp"

namespace am::emulated {

using NodeBits = std::bitset<kit::most_live_nodes>;

/// Of the lowest dimensions of a cube; what the others are is said beside.
struct Subcube {
  unsigned dimensions;  ///< to be divided
  NodeId node = 0;      ///< above them: its address,
  NodeId mask = 0;      ///< and the bits of it that do not matter
};

/// Calls f(node, mask) for subcubes of `cube`: the nodes that are `node` but for the bits in `mask`. Each of `to` is in one of them; nobody
/// else is but `from`, which is not in `to`.
template <class F>
void for_each_subcube(const NodeBits& to, std::optional<NodeId> from, const Subcube& cube, F& f) {
  if (to.none()) return;
  if (cube.dimensions == 0) return f(cube.node, cube.mask);
  // Both halves along the highest dimension: what is in both is in subcubes with that bit in their masks.
  const unsigned left = cube.dimensions - 1;
  const NodeId bit = NodeId{1} << left;
  const NodeBits below = ~NodeBits() >> (kit::most_live_nodes - bit);
  const NodeBits low = to & below;
  const NodeBits high = to >> bit & below;
  std::optional<NodeId> in_low, in_high;
  if (from) (*from < bit ? in_low : in_high) = *from & (bit - 1);
  NodeBits both = low & high;
  if (in_low && high[*in_low]) both.set(*in_low);
  if (in_high && low[*in_high]) both.set(*in_high);
  for_each_subcube(both, std::nullopt, {left, cube.node, cube.mask | bit}, f);
  for_each_subcube(low & ~both, in_low, {left, cube.node, cube.mask}, f);
  for_each_subcube(high & ~both, in_high, {left, cube.node | bit, cube.mask}, f);
}

}  // namespace am::emulated
