// Who runs where: which node is bound to which core. Pure; what the machine has comes from cores.hpp.
#pragma once

#include <am/types.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "amrun/options.hpp"

namespace amrun {

struct Core {
  std::vector<unsigned long>
      mask;          // processors (hardware threads) of this core that may be used, a bit for each
  std::string name;  // for people: "core 1 (processors 2,3)"
};

// Whether nodes are bound. `processors` is the processor time that the control group allows, in cores.
//
// Automatic binding wants a core for each node and no quota below what is visible: under a quota the cores
// are shared with others, who may well bind themselves to the same first ones.
bool shall_bind(Bind wanted, am::NodeId nodes, std::size_t cores, std::optional<double> processors);

// Neighbours in number are neighbours on the machine: node i gets core i, round and round.
std::size_t core_of(am::NodeId node, std::size_t cores);

}  // namespace amrun
