// `ambench bulk` where the peers' memory is not mapped: puts and gets that travel as messages.

#pragma once

#include "options.hpp"
#include "reporting.hpp"

namespace am {
class Node;
}

namespace ambench {

struct Measure;

Report measure_remote_bulk(const Measure& measure, const Options& options);
void run_remote_bulk(am::Node& node);

}  // namespace ambench
