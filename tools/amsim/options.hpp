// The command line of amsim.

#pragma once

#include <span>
#include <string>

#include "amsim/simulation.hpp"

namespace amsim {

// Throws UsageError.
Options parse_options(int argc, char** argv, std::span<const Simulation* const> simulations);

std::string help_text(std::span<const Simulation* const> simulations);

}  // namespace amsim
