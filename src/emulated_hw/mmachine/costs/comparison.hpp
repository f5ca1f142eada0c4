// Table 6.4 set beside the simulation: which entries are predicted, how far one may be off, whether the models stand in the same
// order, and what each mechanism's share of the gain is.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.4, 6.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "emulated_hw/mmachine/costs/benchmark_programs.hpp"
#include "emulated_hw/mmachine/costs/table_6_4.hpp"

namespace am::mmachine::costs {

/// What an agreement with a printed entry is worth.
enum class Standing : std::uint8_t {
  calibrated,  ///< a number in parameters.hpp was set on it
  in_view,  ///< no number was, but the form of a mechanism that the thesis leaves open was chosen with it in view
  predicted,
};

/// Of latencies. The basic models' were in view; so were their combinations' in DIST, when it was chosen that a semaphore is secured
/// before an address is translated. PING and RPC over combinations are predicted.
[[nodiscard]] Standing standing(std::size_t model, std::size_t program) noexcept;

/// How far a latency may be from the printed one: closer for the M-Machine itself.
[[nodiscard]] constexpr double band(std::size_t model) noexcept { return model == 0 ? 0.05 : 0.20; }
[[nodiscard]] bool in_band(std::size_t model, double printed, double here) noexcept;

/// Spearman's, of two columns; equal figures share their ranks. 1 where the order is the same.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

/// Of what the M-Machine gains over a buffered, interrupt-driven interface of one series, in PING (6.6); of 1.
struct GainShares {
  double dispatch = 0;
  double mapping_and_atomicity = 0;
  double translation = 0;
};
[[nodiscard]] constexpr GainShares gain_shares(double interrupt, double thread_slot, double only_translation,
                                               double mm) noexcept {
  const double gain = interrupt - mm;
  return {.dispatch = (interrupt - thread_slot) / gain,
          .mapping_and_atomicity = (thread_slot - only_translation) / gain,
          .translation = (only_translation - mm) / gain};
}

/// Where a model stands in interface_models and in the table. Throws std::out_of_range.
[[nodiscard]] std::size_t model_index(std::string_view name);

}  // namespace am::mmachine::costs
