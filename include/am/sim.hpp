// Simulated networks, for a program of its own: am/sim/network.hpp, packet by packet, and am/sim/load.hpp, under a load. The library is
// am_machines, and the package's component `machines` (am::machines); none of it needs a node, or a job. `amsim` is a tool made of the same.
//
//   const am::sim::Shape shape{.network = "torus", .k = 8, .n = 2};
//   const am::sim::Figures figures = am::sim::run(shape, {.pattern = "tornado", .injection_rate = 0.2, .packet_size = 4});
//   figures.packet_latency;  // mean, in cycles
#pragma once

#include <am/sim/load.hpp>
#include <am/sim/network.hpp>
