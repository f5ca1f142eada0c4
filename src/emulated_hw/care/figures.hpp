// What CARE's protocol costs, as functions of what is run: for tests, tables and charts (Byrd, Nakano and Delagi 1987, 1 and 3.4).
#pragma once

#include <vector>

#include "emulated_hw/care/machine.hpp"

namespace am::care {

/// The parts of a unicast's time where it meets nobody, in cycles. Printed is one of them: "no additional delay introduced by the router" (4.6).
namespace parts {
inline constexpr Cycle operator_to_buffer = 1;
inline constexpr Cycle buffer_to_input = 1;
inline constexpr Cycle link = 1;  ///< from a net-input by a router and a net-output to the next net-input
inline constexpr Cycle input_to_buffer = 1;
inline constexpr Cycle buffer_to_operator = 1;
inline constexpr Cycle word = 1;
inline constexpr Cycle terminator = 1;
/// A terminator follows a front when the way is open (5.5): so long, where there is no word between them.
inline constexpr Cycle first_wait = 1;
}  // namespace parts

/// From the request until an operator has served the last word, without store-and-forward.
[[nodiscard]] constexpr Cycle zero_load_latency(unsigned links, std::uint32_t words,
                                                const Options& options = {}) noexcept {
  const Cycle behind_front = words == 0 ? parts::first_wait : words * parts::word;
  return parts::operator_to_buffer + parts::buffer_to_input + links * parts::link + parts::input_to_buffer +
         parts::buffer_to_operator + behind_front + parts::terminator + options.service;
}

/// The time of a unicast over a line of so many links, measured. With options.stores_and_forwards each site on the way stores it.
[[nodiscard]] Cycle unicast_time(unsigned links, std::uint32_t words, const Options& options = {});

/// Words that links carry for a packet to a list of targets, of target entries, data and terminators.
struct LinkWords {
  std::uint64_t multicast = 0;
  std::uint64_t unicasts = 0;  ///< a packet to each of them
  [[nodiscard]] double ratio() const noexcept {
    return static_cast<double>(multicast) / static_cast<double>(unicasts);
  }
};
[[nodiscard]] LinkWords link_words(const kit::Topology& topology, NodeNumber from,
                                   const std::vector<Target>& targets, std::uint32_t words,
                                   const Options& options = {});

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

}  // namespace am::care
