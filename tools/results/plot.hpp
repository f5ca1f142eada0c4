// Charts as pictures: SVG, drawn by gnuplot, which is a program of its own and may be absent.

#pragma once

#include <string>

#include "results/chart.hpp"

namespace results {

// Before anything is measured: makes the folder. Throws UsageError where there is no gnuplot, or no such folder can be.
void be_able_to_plot(const std::string& folder);

// Writes FOLDER/NAME.svg, and beside it NAME.gnuplot, from which gnuplot draws it again. Bars are medians, whiskers reach
// from min to max. Nothing for a chart without a name. Throws std::runtime_error.
void plot(const Chart& chart, const std::string& folder);

}  // namespace results
