// --trace: a run of a simulated machine, in a file that shows it.

#pragma once

#include <string>

#include "emulated_hw/kit/trace.hpp"
#include "results/report.hpp"

namespace amsim {

// Before anything is measured. Throws UsageError where the name does not say what the file is to be, or it cannot be written.
void be_able_to_trace(const std::string& file);

// What its name says: a page, JSON for programs that show traces, or a still picture. What is missing in it the report says, too.
// Throws std::runtime_error.
void write_trace(const std::string& file, const am::kit::Trace& trace, results::Report& report);

}  // namespace amsim
