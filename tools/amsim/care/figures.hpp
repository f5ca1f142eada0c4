// What CARE's protocol costs: what unicasts, lists and the deadlock of Figure 4 take, by machines that do nothing else (Byrd, Nakano and Delagi
// 1987, 1 and 3.4).
#pragma once

#include <cstdint>
#include <vector>

#include "emulated_hw/care/machine.hpp"

namespace amsim::care {

using am::care::Cycle;
using am::care::Machine;
using am::care::NodeNumber;
using am::care::PacketNumber;
using am::care::Target;
using am::care::Timeouts;

/// The time of a unicast over a line of so many links, measured. By options.switching.
[[nodiscard]] Cycle unicast_time(unsigned links, std::uint32_t words, const am::care::Options& options = {});

/// Words that links carry for a packet to a list of targets, of target entries, data and terminators.
struct LinkWords {
  std::uint64_t multicast = 0;
  std::uint64_t unicasts = 0;  ///< a packet to each of them
  [[nodiscard]] double ratio() const noexcept {
    return static_cast<double>(multicast) / static_cast<double>(unicasts);
  }
};
[[nodiscard]] LinkWords link_words(const am::kit::Topology& topology, NodeNumber from,
                                   const std::vector<Target>& targets, std::uint32_t words,
                                   const am::care::Options& options = {});

/// Two multicasts from the ends of a line of four sites to the two between them: Figure 4. Each gets the nearer one, and waits for the other.
struct Deadlock {
  Deadlock(const Timeouts& timeouts, std::uint64_t seed, std::uint32_t words = 20);
  Machine machine;
  PacketNumber a = 0, b = 0;
};

/// How they get out of it, if they do.
struct Recovery {
  bool both_delivered = false;
  Cycle cycles = 0;  ///< until then, or as long as it has been tried
  std::uint64_t aborts = 0;
};
[[nodiscard]] Recovery recovery(const Timeouts& timeouts, std::uint64_t seed, Cycle most_cycles = 20'000);

}  // namespace amsim::care
