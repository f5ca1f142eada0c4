#include "emulated_hw/networks.hpp"

#include <algorithm>
#include <stdexcept>

#include "emulated_hw/care/care_port.hpp"
#include "emulated_hw/cm5/tree_port.hpp"
#include "emulated_hw/iwarp/torus_port.hpp"
#include "emulated_hw/kit/names.hpp"
#include "emulated_hw/kit/textbook_network.hpp"
#include "emulated_hw/mmachine/mesh_port.hpp"
#include "emulated_hw/ncube2/cube_port.hpp"
#include "emulated_hw/t1/mesh_port.hpp"

namespace am::networks {

bool has_own_routers(std::string_view machine) noexcept {
  return std::ranges::count(machines, machine, &Own::name) != 0;
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all(machines.size());
  std::ranges::transform(machines, all.begin(), &Own::name);
  all.insert(all.end(), kit::topologies.begin(), kit::topologies.end());
  return all;
}

std::unique_ptr<kit::NodePort> network_of(const Which& which) {
  static_cast<void>(kit::index_of_name("a network", which.machine, names()));
  if (!has_own_routers(which.machine))
    return std::make_unique<kit::TextbookNetwork>(kit::topology_named(which.machine, which.k, which.n),
                                                  which.textbook);
  if (which.machine == "ncube2") return std::make_unique<ncube2::CubePort>(which.n);
  if (which.machine == "cm5") return std::make_unique<cm5::TreePort>(which.n);
  // Not all net-outputs: led away by them, a packet may run in a circle for ever.
  if (which.machine == "care")
    return std::make_unique<care::CarePort>(kit::topology_named("mesh", which.k, which.n), care::Options{},
                                            care::Preferences::nearer_only);
  if (which.machine == "iwarp") return std::make_unique<iwarp::TorusPort>(which.k, which.n);
  if (which.n != 2)
    throw std::invalid_argument(which.machine + " has two dimensions: n=2, not n=" + std::to_string(which.n));
  if (which.machine == "t1")
    return std::make_unique<t1::MeshPort>(t1::Shape{.rows = which.k, .columns = which.k});
  return std::make_unique<mmachine::MeshPort>(mmachine::Mesh::Shape{.width = which.k, .height = which.k});
}

}  // namespace am::networks
