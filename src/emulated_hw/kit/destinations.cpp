#include "emulated_hw/kit/destinations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "emulated_hw/kit/names.hpp"

namespace am::kit {

namespace {

using Pattern = Traffic::Pattern;

constexpr std::array<std::string_view, patterns.size()> pattern_names{
    "uniform", "transpose", "neighbor", "hotspot", "bitcomp", "bitrev", "shuffle", "tornado", "randperm"};

/// Rounded down.
NodeNumber square_root(NodeNumber number) noexcept {
  NodeNumber root = 0;
  while ((root + 1) * (root + 1) <= number) ++root;
  return root;
}

NodeNumber drawn_below(NodeNumber count, std::mt19937_64& random) {
  return std::uniform_int_distribution<NodeNumber>(0, count - 1)(random);
}

template <class F>
std::vector<NodeNumber> each_to(NodeNumber nodes, F to) {
  std::vector<NodeNumber> all(nodes);
  for (NodeNumber node = 0; node < nodes; ++node) all[node] = to(node);
  return all;
}

NodeNumber reversed(NodeNumber number, unsigned bits) noexcept {
  NodeNumber other = 0;
  for (unsigned bit = 0; bit < bits; ++bit) other |= (number >> bit & 1) << (bits - 1 - bit);
  return other;
}

/// By a function of a number and of how many bits it has.
template <class F>
std::vector<NodeNumber> by_bits(Pattern pattern, NodeNumber nodes, F f) {
  if (!std::has_single_bit(nodes))
    throw std::invalid_argument(std::string(name_of(pattern)) + " is for a power of 2 of nodes, not for " +
                                std::to_string(nodes));
  const auto bits = static_cast<unsigned>(std::countr_zero(nodes));
  return each_to(nodes, [&](NodeNumber node) { return f(node, bits) & (nodes - 1); });
}

/// The node of a grid that lies steps(extent) further in each dimension.
template <class Steps>
std::vector<NodeNumber> by_grid(const Topology& topology, const char* why_not, Steps steps) {
  const auto* grid = std::get_if<Grid>(&topology);
  if (grid == nullptr) throw std::invalid_argument(why_not);
  return each_to(grid->nodes(), [&](NodeNumber from) {
    NodeNumber to = 0;
    NodeNumber stride = 1;
    for (unsigned d = 0; d < grid->dimensions(); ++d) {
      const std::uint32_t extent = grid->dimension(d).extent;
      to += (grid->at(from, d) + steps(extent)) % extent * stride;
      stride *= extent;
    }
    return to;
  });
}

std::vector<NodeNumber> transposed(NodeNumber nodes) {
  const NodeNumber side = square_root(nodes);
  if (side * side != nodes)
    throw std::invalid_argument("transpose is for a square number of nodes, not for " +
                                std::to_string(nodes));
  return each_to(nodes, [=](NodeNumber node) { return node % side * side + node / side; });
}

std::vector<NodeNumber> permuted(NodeNumber nodes, std::uint64_t seed) {
  std::vector<NodeNumber> all(nodes);
  std::iota(all.begin(), all.end(), NodeNumber{0});
  std::mt19937_64 random(seed);
  for (NodeNumber left = nodes; left > 1; --left) std::swap(all[left - 1], all[drawn_below(left, random)]);
  return all;
}

/// By node, where each sends to one other; else none.
std::vector<NodeNumber> fixed_ones(const Topology& topology, const Traffic& traffic) {
  const NodeNumber nodes = nodes_of(topology);
  switch (traffic.pattern) {
    case Pattern::uniform:
    case Pattern::hotspot:
      return {};
    case Pattern::transpose:
      return transposed(nodes);
    case Pattern::neighbor:
      return by_grid(topology, "neighbor is for meshes and tori: elsewhere nobody is one further",
                     [](std::uint32_t) { return 1u; });
    case Pattern::tornado:
      return by_grid(topology, "tornado is for meshes and tori: elsewhere nobody is half way round",
                     [](std::uint32_t extent) { return (extent + 1) / 2 - 1; });
    case Pattern::bitcomp:
      return by_bits(traffic.pattern, nodes, [](NodeNumber node, unsigned) { return ~node; });
    case Pattern::bitrev:
      return by_bits(traffic.pattern, nodes, reversed);
    case Pattern::shuffle:
      return by_bits(traffic.pattern, nodes, [](NodeNumber node, unsigned bits) {
        return node << 1 | (bits == 0 ? 0 : node >> (bits - 1));
      });
    case Pattern::randperm:
      return permuted(nodes, traffic.perm_seed);
  }
  return {};
}

}  // namespace

std::string_view name_of(Pattern pattern) noexcept {
  return pattern_names[static_cast<std::size_t>(pattern)];
}

Pattern pattern_named(std::string_view name) {
  return static_cast<Pattern>(index_of_name("traffic", name, pattern_names));
}

Destinations::Destinations(const Topology& topology, const Traffic& traffic)
    : nodes_(nodes_of(topology)), fixed_(fixed_ones(topology, traffic)), share_(traffic.hotspot_share) {
  if (traffic.pattern != Pattern::hotspot) return;
  hotspots_ = traffic.hotspots;
  if (hotspots_.empty() || std::ranges::max(hotspots_) >= nodes_)
    throw std::invalid_argument("hotspots are one or more of " + std::to_string(nodes_) + " nodes");
  if (!(share_ >= 0 && share_ <= 1)) throw std::invalid_argument("hotspot_share is from 0 to 1");
}

NodeNumber Destinations::next(NodeNumber from, std::mt19937_64& random) const {
  if (!fixed_.empty()) return fixed_[from];
  if (!hotspots_.empty() && std::bernoulli_distribution(share_)(random)) {
    const auto spots = static_cast<NodeNumber>(hotspots_.size());
    return hotspots_[spots == 1 ? 0 : drawn_below(spots, random)];
  }
  return drawn_below(nodes_, random);
}

}  // namespace am::kit
