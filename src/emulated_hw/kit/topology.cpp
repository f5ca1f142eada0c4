#include "emulated_hw/kit/topology.hpp"

#include <stdexcept>
#include <vector>

#include "emulated_hw/kit/names.hpp"

namespace am::kit {

Topology topology_named(std::string_view name, unsigned k, unsigned n) {
  if (n == 0) throw std::invalid_argument("n has to be at least 1");
  if (name == "hypercube") return Hypercube(n);
  if (name == "fattree") return FatTree::k_ary(k, n);
  static_cast<void>(index_of_name("topology", name, topologies));
  return Grid(std::vector<Grid::Dimension>(n, {.extent = k, .wraps = name == "torus"}));
}

}  // namespace am::kit
