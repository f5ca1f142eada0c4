// The figures of `ambench dispatch` as rows of its report and as charts.

#pragma once

#include <span>
#include <string>

#include "dispatch/arrangement.hpp"
#include "reporting.hpp"

namespace ambench::dispatching {

// Of the limit of a thread that is woken beside a computation, at the scenario's pace: the name that its figures begin with.
std::string beside_limit_of(const Scenario& scenario);

// `series` holds the figures of each arrangement under "NAME/", of the signal's limit "limit/signal_ns", and where a handler
// thread shares a processor those of beside_limit_of, for each scenario that only computes.
void add_rows(Report& report, const Series& series, std::span<const Placed> all);
void add_charts(Report& report, const Series& series);

}  // namespace ambench::dispatching
