// What packets there are in a network under load, and where they go. Names and meanings are those of BookSim2.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "emulated_hw/kit/topology.hpp"

namespace am::kit {

struct Traffic {
  enum class Pattern : std::uint8_t {
    uniform,    ///< to any node, itself too
    transpose,  ///< of a square number of nodes, row by row: to the node on the other side of the diagonal
    neighbor,   ///< of a grid: one further in each dimension, and round the edge
    hotspot,    ///< a share of all to the hot spots, the others uniform
    // Of a power of two of nodes, by the bits of their numbers:
    bitcomp,  ///< each is another one
    bitrev,   ///< in the other order
    shuffle,  ///< each is one place higher, the highest one is the lowest
    tornado,  ///< of a grid: almost half way round in each dimension
    randperm  ///< each node to one other, or to itself, and each is sent to by one: drawn once, by perm_seed
  };
  Pattern pattern = Pattern::uniform;
  double injection_rate = 0.1;    ///< flits per node and flit time (NodePort)
  std::uint32_t packet_size = 1;  ///< flits
  unsigned channel = 0;           ///< of NodePort::channels()
  std::uint64_t seed = 0;
  std::vector<NodeNumber> hotspots{0};  ///< each gets as much of the share as the others
  double hotspot_share = 0.1;
  std::uint64_t perm_seed = 0;
};
inline constexpr std::array patterns{
    Traffic::Pattern::uniform, Traffic::Pattern::transpose, Traffic::Pattern::neighbor,
    Traffic::Pattern::hotspot, Traffic::Pattern::bitcomp,   Traffic::Pattern::bitrev,
    Traffic::Pattern::shuffle, Traffic::Pattern::tornado,   Traffic::Pattern::randperm};
[[nodiscard]] std::string_view name_of(Traffic::Pattern pattern) noexcept;
/// Throws std::invalid_argument, which names them all.
[[nodiscard]] Traffic::Pattern pattern_named(std::string_view name);

class Destinations {
 public:
  /// Throws std::invalid_argument where the network has no such traffic.
  Destinations(const Topology& topology, const Traffic& traffic);

  /// Where the next packet of a node goes.
  [[nodiscard]] NodeNumber next(NodeNumber from, std::mt19937_64& random) const;

 private:
  NodeNumber nodes_;
  std::vector<NodeNumber> fixed_;     // by node, where each sends to one other
  std::vector<NodeNumber> hotspots_;  // if any
  double share_;
};

}  // namespace am::kit
