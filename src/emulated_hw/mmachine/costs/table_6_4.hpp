// Table 6.4 as it is printed: latency and occupancy of four programs over 24 message interfaces, in cycles. Nothing is simulated from
// these figures: they are what the simulation is set beside. Which entries are predicted, how far one may be off, whether the models
// stand in the same order, and what each mechanism's share of the gain is.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.4, 6.6.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace am::mmachine::costs {

struct PrintedRow {
  static constexpr unsigned none = 0;        ///< a dash
  using Programs = std::array<unsigned, 4>;  ///< PING, RPC, DIST, BLKW

  std::string_view model;
  Programs latency;
  Programs occupancy{};
};

inline constexpr std::array<PrintedRow, 24> table_6_4{{
    {"MM", {38, 44, 185, 2665}, {28, 42, 223, 4691}},
    {"IRS", {35, 38, 209, 2621}, {30, 52, 303, 5069}},
    {"IRB", {43, 53, 167, 3415}, {33, 51, 260, 5684}},
    {"IMS", {117, 68, 492, 7068}, {46, 59, 317, 5790}},
    {"IMB", {103, 99, 595, 9253}, {47, 59, 281, 5882}},
    {"ERS", {39, 47, 198, 3116}, {31, 54, 349, 5716}},
    {"ERB", {55, 62, 203, 6292}, {29, 51, 325, 5612}},
    {"EMS", {87, 77, 225, 6840}, {31, 54, 349, 5818}},
    {"EMB", {109, 90, 231, 10094}, {33, 55, 357, 5819}},
    {"SWX", {79, 85, 535, 3051}, {74, 90, 622, 6875}},
    {"POL", {76, 66, 211, 2684}},    // BLKW: derived there from PING and MM
    {"INT", {292, 189, 333, 2792}},  // likewise
    {"SWX_IMB_EMB_INT", {476, 341, 943, PrintedRow::none}},
    {"SWX_IMB_EMB_POL", {254, 251, 855, PrintedRow::none}},
    {"SWX_IMB_EMB", {219, 198, 939, PrintedRow::none}},
    {"SWX_IMB_EMS", {207, 188, 885, PrintedRow::none}},
    {"SWX_IMS_EMS", {199, 142, 867, PrintedRow::none}},
    {"SWX_IMS", {156, 109, 844, PrintedRow::none}},
    {"SWX_IRB_ERB_INT", {350, 248, 697, PrintedRow::none}},
    {"SWX_IRB_ERB_POL", {142, 139, 560, PrintedRow::none}},
    {"SWX_IRB_ERB", {100, 114, 537, PrintedRow::none}},
    {"SWX_IRB_ERS", {85, 97, 520, PrintedRow::none}},
    {"SWX_IRS_ERS", {82, 82, 555, PrintedRow::none}},
    {"SWX_IRS", {76, 79, 552, PrintedRow::none}},
}};

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
