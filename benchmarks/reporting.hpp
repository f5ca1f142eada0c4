// Reports, figures and charts (tools/results), by their names alone: measures speak of them all the time.

#pragma once

#include "results/report.hpp"
#include "results/statistics.hpp"

namespace ambench {

using namespace results;

}  // namespace ambench
