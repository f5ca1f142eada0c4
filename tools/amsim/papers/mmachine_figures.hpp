// Figures 6-2 to 6-12 of the M-Machine thesis, as charts: what is printed of them in Table 6.4 beside what is simulated.

#pragma once

#include <array>

#include "amsim/simulation.hpp"
#include "emulated_hw/mmachine/costs/benchmark_programs.hpp"
#include "emulated_hw/mmachine/costs/table_6_4.hpp"

namespace amsim {

/// By interface and program, in the order of Table 6.4.
using MMachineTable =
    std::array<std::array<am::mmachine::costs::Measured, am::mmachine::costs::benchmark_programs.size()>,
               am::mmachine::costs::table_6_4.size()>;

void add_mmachine_figures(const MMachineTable& table, Report& report);

}  // namespace amsim
