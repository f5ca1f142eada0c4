// Traces of the textbook network, and of nobody: what is kept, how a packet is followed, and what happens when there is no more room.
#include "emulated_hw/kit/trace.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "emulated_hw/kit/traffic.hpp"
#include "support/random.hpp"
#include "unit/emulated_hw/trace_checks.hpp"

namespace am::kit {
namespace kit_trace_test {

/// Some cycles of it, and until all has come.
void run(CycleNetwork& network, const Traffic& traffic, Trace& trace, Cycle cycles) {
  network.record(&trace);
  TrafficNodes nodes(network, traffic);
  for (Cycle i = 0; i < cycles; ++i) nodes.cycle();
  nodes.stop();
  while (nodes.figures().waiting != 0 || network.flits() != 0) nodes.cycle();
  trace.ends(network.now());
  EXPECT_EQ(nodes.sent(), nodes.come());
}

TEST(Trace, FollowsEveryPacketOfATextbookNetwork) {
  for (const Topology& topology :
       {Topology(Grid{{4}, {4}}), Topology(Grid{{4, true}, {3, true}}), Topology(Grid{{2}, {2}, {2}}),
        Topology(Hypercube(4)), Topology(FatTree::k_ary(3, 2)), Topology(FatTree::k_ary(2, 4))}) {
    CycleNetwork network(topology, {.num_vcs = 3, .vc_buf_size = 3});
    Trace trace(topology);
    run(network, {.injection_rate = 0.6, .packet_size = 4, .seed = test::seed()}, trace, 300);
    test::expect_consistent(trace);
    EXPECT_GT(trace.messages().size(), 100u);
    ASSERT_EQ(trace.messages().size(), trace.arrivals().size());
    for (const Trace::Arrival& arrival : trace.arrivals())
      EXPECT_EQ(arrival.node, trace.messages()[arrival.message].to);
    // Each way is as short as can be, and each link of it has carried all four flits.
    std::uint64_t links = 0;
    for (const Trace::Way& way : trace.ways()) {
      const Trace::Message& message = trace.messages()[way.end.message];
      EXPECT_EQ(way.passages.size(), 2 + distance(topology, message.from, message.to));
      links += way.passages.size();
    }
    std::uint64_t flits = 0;
    for (const auto& [link, some] : test::flits_by_link(trace)) flits += some;
    EXPECT_EQ(flits, 4 * links);
  }
}

TEST(Trace, ChangesNothing) {
  const auto fingerprint = [](bool recorded) {
    const Grid grid{{4}, {4}};
    CycleNetwork network(grid, {});
    Trace trace(grid, recorded ? Trace::usual_most : 0);
    if (recorded) network.record(&trace);
    TrafficNodes nodes(network, {.injection_rate = 0.5, .packet_size = 3, .seed = 1});
    for (int i = 0; i < 500; ++i) nodes.cycle();
    return network.fingerprint();
  };
  EXPECT_EQ(fingerprint(true), fingerprint(false));
}

TEST(Trace, TakesFlitsWithoutAGapAsOnePassage) {
  Trace trace(Grid{{2}});
  const std::uint32_t first = trace.begins(0, 1, 0);
  const std::uint32_t second = trace.begins(0, 1, 0);
  for (const Cycle now : {3u, 4u, 6u}) trace.passes(first, 0, 1, now, 1);
  trace.passes(second, 0, 1, 7, 2);
  trace.passes(first, 0, 1, 9, 1);
  ASSERT_EQ(trace.passages().size(), 4u);
  EXPECT_EQ(trace.passages()[0].flits, 2u);
  EXPECT_EQ(trace.passages()[1].begin, 6u);
  EXPECT_EQ(trace.passages()[2].flits, 2u);
  EXPECT_EQ(trace.passages()[3].message, first);
}

TEST(Trace, TakesCyclesInWhichANodeDoesTheSameAsOne) {
  Trace trace(Grid{{2}});
  for (const Cycle now : {0u, 1u, 2u}) trace.does(1, 0, now, false);
  trace.does(1, 1, 3, false);
  trace.does(1, 1, 4, true);
  trace.does(1, 1, 9, false);
  EXPECT_EQ(trace.activities().size(), 3u) << "the last is not over";
  trace.ends(20);
  ASSERT_EQ(trace.activities().size(), 4u);
  EXPECT_EQ(trace.activities()[0].end, 3u);
  EXPECT_EQ(trace.activities()[2].begin, 4u);
  EXPECT_EQ(trace.activities()[2].end, 5u);
  EXPECT_EQ(trace.activities()[3].end, 10u);
  EXPECT_EQ(trace.cycles(), 20u);
}

TEST(Trace, KeepsNoMoreThanItMayAndSaysSo) {
  const Grid grid{{4}, {4}};
  CycleNetwork network(grid, {});
  Trace trace(grid, 1'000);
  run(network, {.injection_rate = 0.5, .packet_size = 2, .seed = 1}, trace, 1'000);
  EXPECT_LE(trace.passages().size(), 1'000u);
  EXPECT_LE(trace.messages().size(), 1'000u);
  EXPECT_LT(trace.cycles(), network.now());
  EXPECT_LE(trace.passages().back().begin, trace.cycles());
  EXPECT_NE(trace.what_is_missing().find("the trace is full at cycle "), std::string::npos);
  EXPECT_NE(trace.what_is_missing().find("with 1000 records of a sort: what came later is not in it"),
            std::string::npos);
  test::expect_one_flit_per_cycle(trace);
  EXPECT_EQ(trace.ways().size(), trace.arrivals().size());
}

}  // namespace kit_trace_test
}  // namespace am::kit
