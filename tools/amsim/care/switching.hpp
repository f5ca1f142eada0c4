// Messages in CARE's network by each way to switch them: what reference [5] of Byrd, Nakano and Delagi (1987, 1) compares.
#pragma once

#include <cstdint>
#include <optional>

#include "emulated_hw/care/packet.hpp"
#include "emulated_hw/kit/grid.hpp"

namespace amsim::care {

// Any site asks for one at any time; it goes to any of the sites that are so many links away. The same seed draws the same ones, however
// they are switched.
struct Messages {
  unsigned hops = 1;
  std::uint32_t words = 1;
  double load = 0.1;  // of all links, the share that their words, target and terminator take
  std::uint64_t seed = 1;
};

// The mean in cycles, from when it is asked for until it is served. None: the network is saturated, so that more and more messages wait.
//
// Each takes the one way that static routing has, so they wait in no circle. A front that finds a link taken waits for it and holds those
// that it has, up to options.seek_threshold: over that its site stores it. There are no timeouts: messages to one site need none.
// Throws std::invalid_argument if any site of the mesh has no other at that distance.
[[nodiscard]] std::optional<double> latency(const am::kit::Grid& mesh, const Messages& messages,
                                            am::care::Options options);

}  // namespace amsim::care
