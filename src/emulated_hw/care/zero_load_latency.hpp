// What a unicast takes where it meets nobody: the sum of its parts (Byrd, Nakano and Delagi 1987, 1, 4.6).
#pragma once

#include "emulated_hw/care/packet.hpp"

namespace am::care {

/// The parts, in cycles. Printed is one of them: "no additional delay introduced by the router" (4.6).
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

/// From the request until an operator has served the last word, cut through.
[[nodiscard]] constexpr Cycle zero_load_latency(unsigned links, std::uint32_t words,
                                                const Options& options = {}) noexcept {
  const Cycle behind_front = words == 0 ? parts::first_wait : words * parts::word;
  return parts::operator_to_buffer + parts::buffer_to_input + links * parts::link + parts::input_to_buffer +
         parts::buffer_to_operator + behind_front + parts::terminator + options.service;
}

}  // namespace am::care
