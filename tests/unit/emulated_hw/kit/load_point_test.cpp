// Points of a network's curve: what is counted of packets and links, and where it is saturated.
#include "emulated_hw/kit/load_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
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

}  // namespace am::kit::load_point_test
