#include "emulated_hw/across/machine.hpp"

#include <bit>
#include <stdexcept>

#include "emulated_hw/across/on_machines.hpp"

namespace am::across {

std::unique_ptr<Machine> machine_of(std::string_view name, NodeNumber nodes) {
  const auto dimensions = static_cast<unsigned>(std::countr_zero(nodes));
  if (!std::has_single_bit(nodes) || nodes < 2 || nodes > 1024 || (dimensions % 2 != 0 && nodes != 2))
    throw std::invalid_argument(std::to_string(nodes) +
                                " nodes: machines are compared with 2, 4, 16, 64, 256 or 1024");
  const unsigned rows = 1u << dimensions / 2;
  if (name == "t1") return on_t1(rows, nodes / rows);
  if (name == "mmachine") return on_mmachine(rows, nodes / rows);
  if (name == "ncube2") return on_ncube2(dimensions);
  if (name == "cm5") return on_cm5(nodes);
  throw std::invalid_argument("there is no machine " + std::string(name));
}

}  // namespace am::across
