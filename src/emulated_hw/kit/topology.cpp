#include "emulated_hw/kit/topology.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace am::kit {

Topology topology_named(std::string_view name, unsigned k, unsigned n) {
  if (n == 0) throw std::invalid_argument("n has to be at least 1");
  if (name == "mesh" || name == "torus")
    return Grid(std::vector<Grid::Dimension>(n, {.extent = k, .wraps = name == "torus"}));
  if (name == "hypercube") return Hypercube(n);
  if (name == "fattree") return FatTree::k_ary(k, n);
  throw std::invalid_argument("topology is mesh, torus, hypercube or fattree, not '" + std::string(name) +
                              "'");
}

}  // namespace am::kit
