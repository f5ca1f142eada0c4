#include "amrun/place.hpp"

namespace amrun {

bool shall_bind(Bind wanted, am::NodeId nodes, std::size_t cores, std::optional<double> processors) {
  if (cores == 0 || wanted == Bind::none) return false;
  if (wanted == Bind::core) return true;
  return nodes <= cores && (!processors || *processors >= static_cast<double>(cores));
}

std::size_t core_of(am::NodeId node, std::size_t cores) { return node % cores; }

}  // namespace amrun
