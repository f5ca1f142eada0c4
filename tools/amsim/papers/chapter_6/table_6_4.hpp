// Table 6.4 as it is printed: latency and occupancy of four programs over 24 message interfaces, in cycles. Nothing is simulated from
// these figures: they are what the simulation is set beside. Which entries are predicted, how far one may be off, whether the models
// stand in the same order, and what each mechanism's share of the gain is.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.4, 6.6.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "amsim/papers/chapter_6/interface_model.hpp"

namespace amsim::chapter_6 {

struct PrintedRow {
  static constexpr unsigned none = 0;        ///< a dash
  using Programs = std::array<unsigned, 4>;  ///< PING, RPC, DIST, BLKW

  std::string_view name;
  Programs latency;
  Programs occupancy{};

  [[nodiscard]] constexpr InterfaceModel model() const noexcept { return model_named(name); }
};

inline constexpr std::size_t basic_models = 12;
inline constexpr std::size_t incremental_models = 6;  ///< of each series
inline constexpr std::array<PrintedRow, basic_models + 2 * incremental_models> table_6_4{{
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

/// Throws std::out_of_range.
[[nodiscard]] inline std::size_t model_index(std::string_view name) {
  const auto row = std::ranges::find(table_6_4, name, &PrintedRow::name);
  if (row == table_6_4.end()) throw std::out_of_range("no message interface is called " + std::string(name));
  return static_cast<std::size_t>(row - table_6_4.begin());
}

/// What an agreement with a printed entry is worth.
enum class Standing : std::uint8_t {
  calibrated,  ///< a number in parameters.hpp was set on it
  in_view,  ///< no number was, but the form of a mechanism that the thesis leaves open was chosen with it in view
  predicted,
};

/// Of latencies. The basic models' were in view; so were their combinations' in DIST, when it was chosen that a semaphore is secured
/// before an address is translated. PING and RPC over combinations are predicted.
[[nodiscard]] inline Standing standing(std::size_t model, std::size_t program) noexcept {
  constexpr std::size_t ping_column = 0, rpc_column = 1, dist_column = 2;
  // parameters.hpp says which number.
  constexpr std::array<std::pair<std::string_view, std::size_t>, 5> calibrated_on{{{"MM", ping_column},
                                                                                   {"MM", dist_column},
                                                                                   {"IMS", ping_column},
                                                                                   {"ERB", ping_column},
                                                                                   {"SWX", rpc_column}}};
  if (std::ranges::find(calibrated_on, std::pair{table_6_4[model].name, program}) != calibrated_on.end())
    return Standing::calibrated;
  return model < basic_models || program == dist_column ? Standing::in_view : Standing::predicted;
}

/// How far a latency may be from the printed one: closer for the M-Machine itself.
[[nodiscard]] constexpr double band(std::size_t model) noexcept { return model == 0 ? 0.05 : 0.20; }
[[nodiscard]] inline bool in_band(std::size_t model, double printed, double here) noexcept {
  return std::abs(here / printed - 1) <= band(model);
}

/// How many are below each, less what half of them all are: equal figures share their ranks.
[[nodiscard]] inline std::vector<double> centred_ranks(std::span<const double> values) {
  std::vector<double> ranks;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [=](double other) { return other < value; });
    const auto above = std::ranges::count_if(values, [=](double other) { return other > value; });
    ranks.push_back(static_cast<double>(below - above) / 2);
  }
  return ranks;
}
/// Spearman's, of two columns. 1 where the order is the same. Throws std::invalid_argument.
[[nodiscard]] inline double rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.empty())
    throw std::invalid_argument("two columns of different lengths, or none");
  const auto product = [](const std::vector<double>& one, const std::vector<double>& other) {
    return std::inner_product(one.begin(), one.end(), other.begin(), 0.0);
  };
  const std::vector<double> ranks_a = centred_ranks(a), ranks_b = centred_ranks(b);
  return product(ranks_a, ranks_b) / std::sqrt(product(ranks_a, ranks_a) * product(ranks_b, ranks_b));
}

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

}  // namespace amsim::chapter_6
