// Figures 6-2 to 6-12 of the M-Machine thesis, as charts: what is printed of them in Table 6.4 beside what is simulated.

#pragma once

#include <array>

#include "amsim/papers/chapter_6/benchmark_programs.hpp"
#include "amsim/papers/chapter_6/table_6_4.hpp"
#include "amsim/simulation.hpp"

namespace amsim {

/// By interface and program, in the order of Table 6.4.
using MMachineTable = std::array<std::array<chapter_6::Measured, chapter_6::benchmark_programs.size()>,
                                 chapter_6::table_6_4.size()>;

void add_mmachine_figures(const MMachineTable& table, Report& report);

}  // namespace amsim
