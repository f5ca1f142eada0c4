// The figures of `ambench dispatch` as rows of its report and as charts.

#pragma once

#include <span>

#include "dispatch/arrangement.hpp"
#include "report.hpp"

namespace ambench::dispatching {

// `series` holds the figures of each arrangement under "NAME/", and of the signal's limit "limit/signal_ns".
void add_rows(Report& report, const Series& series, std::span<const Placed> all);
void add_charts(Report& report, const Series& series);

}  // namespace ambench::dispatching
