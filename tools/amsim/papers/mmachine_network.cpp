// What messages take on the M-Machine of src/emulated_hw/mmachine under its clock, where nothing is in their way, beside what W. S. Lee's
// thesis says (its section in brackets). The cycles in the network output unit are calibrated on the 11 of 7.2.2; so the round trip is no
// prediction. The router's stages are the thesis's; that a link takes no cycle of its own is assumed, from the 6 flits of a channel and the 5
// cycles of an FVC (docs/emulation.md).

#include <string>

#include "amsim/mmachine/ping.hpp"
#include "amsim/papers/sections.hpp"

namespace amsim {

namespace {

using namespace mmachine;

double number(Cycle cycles) { return static_cast<double>(cycles); }

void add_neighbour(Report& report) {
  const PingTimes times = ping({.width = 2}, 0, 1);
  Row& row = report.rows.emplace_back("M-Machine: to a neighbour and back");
  row.key("what", "neighbour").references("paper");
  row.beside("send_cycles", "k_o, until SEND issues (7.2.2)", {5, ""}, number(times.sent),
             "taken from there");
  row.beside("latency_cycles", "until MsgHead is there (7.2.2)", {11, ""}, number(times.came - times.sent),
             "calibrated");
  row.beside("dispatch_cycles", "dispatch (3.2)", {3, ""}, number(times.handled - times.came),
             "taken from there");
  row.beside("store_cycles", "a word into its memory (Figure 3-2)", {19, ""}, number(times.handled),
             "follows");
  row.beside("round_trip_cycles", "and an answer back (1.3)", {38, ""}, number(times.answered), "follows");
}

void add_distances(Report& report) {
  const Mesh::Shape all{.width = Mesh::most_extent, .height = Mesh::most_extent};
  const auto links = [&](NodeNumber to) {
    const PingTimes times = ping(all, 0, to);
    return number(times.came - times.sent);
  };
  Row& row = report.rows.emplace_back("M-Machine: latency on 32x32 nodes, from a corner");
  row.key("what", "distance").references("paper");
  row.beside("link_cycles", "a link more, straight on (4.4.1)", {1, ""}, links(2) - links(1),
             "the cycle after it came");
  row.beside("turn_cycles", "one along y instead of x: more", {}, links(32) - links(1),
             "all pass both dimensions (4.1)");
  row.beside("links_31_cycles", "31 links", {}, links(31));
  row.beside("links_62_cycles", "62 links, to the corner across", {}, links(1023));
}

void add(Report& report) {
  add_neighbour(report);
  add_distances(report);
}

}  // namespace

const PaperSection mmachine_network{
    .name = "mmachine",
    .meaning = "the M-Machine's messages where nothing is in their way (Lee 1999, 1.3, 3.2, 4.4, 7.2.2)",
    .add = add,
};

}  // namespace amsim
