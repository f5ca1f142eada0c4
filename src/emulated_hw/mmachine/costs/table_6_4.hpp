// Table 6.4 as it is printed: latency and occupancy of four programs over 24 message interfaces, in cycles. Nothing is simulated from
// these figures: they are what the simulation is set beside.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.4.
#pragma once

#include <array>
#include <cstddef>
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

}  // namespace am::mmachine::costs
