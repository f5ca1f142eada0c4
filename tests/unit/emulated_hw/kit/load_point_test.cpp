// Points of a network's curve: what is counted of packets and links, and where it is saturated.
#include "emulated_hw/kit/load_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace am::kit::load_point_test {

const Grid mesh_of_64{{8}, {8}};

LoadPoint load_point(const Topology& topology, Traffic traffic, unsigned channels = 4) {
  traffic.seed = test::seed();
  return run(Load{.topology = topology, .options = {.num_vcs = channels}, .traffic = traffic});
}

TEST(Traffic, ComesAsOftenAsItIsAskedFor) {
  for (const double rate : {0.02, 0.2, 0.35}) {
    const LoadPoint point = load_point(mesh_of_64, {.injection_rate = rate, .packet_size = 4});
    EXPECT_FALSE(point.saturated);
    // Six times the deviation of what is drawn at random, of which there are this many.
    const double deviations = 6 / std::sqrt(static_cast<double>(point.figures.packets));
    EXPECT_NEAR(point.accepted, rate, rate * deviations);
    const double one_way =
        63.0 / 6 - 2.625 * 2.625;  // variance of |x - y| of two in a row of 8, 21 / 8 apart on average
    EXPECT_NEAR(point.figures.hops, 1 + 2 * 2.625, std::sqrt(2 * one_way) * deviations);
    EXPECT_EQ(point.figures.under_way, 0u);
    EXPECT_GE(point.figures.packet_latency, point.figures.network_latency);
    EXPECT_LE(point.figures.p50, point.figures.p95);
    EXPECT_LE(point.figures.p95, point.figures.p99);
    EXPECT_LE(point.figures.p99, point.figures.longest);
    // A flit that is accepted has passed a link more than routers.
    double all = 0;
    for (const LinkLoad& link : point.links) all += link.flits_per_cycle;
    EXPECT_NEAR(all, point.accepted * 64 * (1 + point.figures.hops), all * deviations);
    EXPECT_LT(point.busiest_link(), 1);
  }
}

TEST(Traffic, TakesTheSumOfThePartsWhileThereIsLittle) {
  const LoadPoint point = load_point(mesh_of_64, {.injection_rate = 0.002, .packet_size = 4});
  const double hops = point.figures.hops - 1;
  EXPECT_NEAR(point.figures.packet_latency, 2 + 5 * (hops + 1) + 3, 0.5);
}

TEST(Traffic, TellsASaturatedNetwork) {
  const LoadPoint point = load_point(mesh_of_64, {.injection_rate = 0.9, .packet_size = 4}, 1);
  EXPECT_TRUE(point.saturated);
  EXPECT_LT(point.accepted, 0.5);
}

TEST(Traffic, RefusesWhatItCannotBe) {
  CycleNetwork network(Grid{{4}, {3}}, {});
  EXPECT_THROW(TrafficNodes(network, {.pattern = Traffic::Pattern::transpose}), std::invalid_argument);
  EXPECT_THROW(TrafficNodes(network, {.injection_rate = 0}), std::invalid_argument);
  EXPECT_THROW(TrafficNodes(network, {.injection_rate = 1.1}), std::invalid_argument);
  EXPECT_THROW(TrafficNodes(network, {.packet_size = 0}), std::invalid_argument);
}

TEST(Latencies, HaveThePercentilesOfAllOfThem) {
  test::Random random(test::seed());
  Latencies latencies;
  EXPECT_EQ(latencies.percentile(50), 0u);
  EXPECT_EQ(latencies.mean(), 0);
  std::vector<Cycle> all;
  while (all.size() < 1'000) {
    all.push_back(random.below(random.one_in(10) ? 3'000 : 30));
    latencies.add(all.back());
    if (random.one_in(50)) {
      std::ranges::sort(all);
      for (const unsigned percent : {1u, 50u, 95u, 99u, 100u})
        ASSERT_EQ(latencies.percentile(percent), all[(all.size() * percent + 99) / 100 - 1]);
    }
  }
  EXPECT_EQ(latencies.longest(), std::ranges::max(all));
}

using Link = CycleNetwork::Link;
std::vector<std::pair<Link, std::uint64_t>> flits_after(CycleNetwork& network, const Traffic& traffic) {
  TrafficNodes nodes(network, traffic);
  for (int i = 0; i < 10'000; ++i) nodes.cycle();
  nodes.stop();
  for (int i = 0; i < 1'000; ++i) nodes.cycle();
  std::vector<std::pair<Link, std::uint64_t>> flits;
  network.for_each_link([&](Link link, std::uint64_t some) { flits.emplace_back(link, some); });
  return flits;
}

/// Between two nodes: node 0's go over its own link, the one to the other router, and that one's to its node.
TEST(LinkLoads, AreOfEachLinkThatFlitsPass) {
  CycleNetwork network(Grid{{2}, {1}}, {});
  const auto flits =
      flits_after(network, {.pattern = Traffic::Pattern::bitcomp, .injection_rate = 0.3, .seed = 1});
  const std::uint64_t of_0 = flits[0].second, of_1 = flits[1].second;
  const decltype(flits) expected{{{0}, of_0},    {{1}, of_1},
                                 {{0, 0}, of_1}, {{0, Grid::up(0)}, of_0},
                                 {{1, 0}, of_0}, {{1, Grid::down(0)}, of_1}};
  EXPECT_EQ(flits, expected);
  EXPECT_GT(std::min(of_0, of_1), 2'000u);
}

/// To the other side of a ring of four, half of node 0's packets go up, and half of them down.
TEST(LinkLoads, AreEvenWhereACoinDecides) {
  CycleNetwork network(Grid{{4, true}}, {});
  double up = 0, down = 0;
  for (const auto& [link, flits] : flits_after(network, {.pattern = Traffic::Pattern::hotspot,
                                                        .injection_rate = 0.15,
                                                        .seed = test::seed(),
                                                        .hotspots = {2},
                                                        .hotspot_share = 1})) {
    if (link == Link{0, Grid::up(0)}) up = static_cast<double>(flits);
    if (link == Link{0, Grid::down(0)}) down = static_cast<double>(flits);
  }
  EXPECT_NEAR(up, down, 6 * std::sqrt(up + down));
  EXPECT_GT(up + down, 1'000);
}

TEST(Saturation, IsBetweenALoadThatIsTakenAndOneThatIsNot) {
  const double resolution = 0.05;
  Load load{.topology = Grid{{4}, {4}},
            .options = {.num_vcs = 2},
            .traffic = {.packet_size = 4, .seed = 1},
            .periods = {.sample_period = 500, .max_samples = 4}};
  const auto highest = saturation(load, resolution);
  ASSERT_TRUE(highest);
  EXPECT_FALSE(highest->saturated);
  EXPECT_GT(highest->offered, 0.3);
  load.traffic.injection_rate = highest->offered + resolution;
  EXPECT_TRUE(run(load).saturated);
  // All to one of 16 nodes, which takes a flit in a cycle; and a node to itself, with nobody on the way.
  load.traffic.pattern = Traffic::Pattern::hotspot;
  load.traffic.hotspot_share = 1;
  EXPECT_FALSE(saturation(load, 0.4));
  load.topology = Grid{{1}};
  load.options.num_vcs = 4;
  load.traffic.packet_size = 1;
  EXPECT_EQ(saturation(load, 0.4)->offered, 1);
}

}  // namespace am::kit::load_point_test
