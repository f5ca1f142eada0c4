// Traces of the textbook network, and of nobody: what is kept, how a packet is followed, and what happens when there is no more room.
#include "emulated_hw/kit/trace.hpp"

#include "emulated_hw/kit/textbook_network.hpp"
#include "unit/emulated_hw/port_checks.hpp"

namespace am::kit::kit_trace_test {

TEST(Trace, FollowsEveryPacketOfATextbookNetwork) {
  for (const Topology& topology :
       {Topology(Grid{{4}, {4}}), Topology(Grid{{4, true}, {3, true}}), Topology(Grid{{2}, {2}, {2}}),
        Topology(Hypercube(4)), Topology(FatTree::k_ary(3, 2)), Topology(FatTree::k_ary(2, 4))})
    test::expect_all_comes(
        [&] {
          return std::make_unique<TextbookNetwork>(topology, TextbookNetwork::Options{3, 3, 1});
        },
        {.injection_rate = 0.6, .packet_size = 4, .seed = test::seed()}, false);
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
  Trace trace(grid, 1'000);
  TextbookNetwork port(grid, {});
  port.record(&trace);
  TrafficNodes nodes(port, {.injection_rate = 0.5, .packet_size = 2, .seed = 1});
  while (port.now() < 1'000) nodes.cycle();
  test::drain(port, nodes);
  trace.ends(port.now());
  EXPECT_LE(trace.passages().size(), 1'000u);
  EXPECT_LE(trace.messages().size(), 1'000u);
  EXPECT_LT(trace.cycles(), port.now());
  EXPECT_LE(trace.passages().back().begin, trace.cycles());
  EXPECT_NE(trace.what_is_missing().find("the trace is full at cycle "), std::string::npos);
  EXPECT_NE(trace.what_is_missing().find("with 1000 records of a sort: what came later is not in it"),
            std::string::npos);
  test::expect_one_flit_per_cycle(trace);
  EXPECT_EQ(trace.ways().size(), trace.arrivals().size());
}

}  // namespace am::kit::kit_trace_test
