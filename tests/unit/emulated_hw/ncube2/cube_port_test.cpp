// Traffic on the nCUBE/2's network: criteria C-1, C-2, NC-6, NC-9, NC-12.
#include "emulated_hw/ncube2/cube_port.hpp"

#include "emulated_hw/kit/load_point.hpp"
#include "unit/emulated_hw/port_checks.hpp"

namespace am::ncube2::cube_port_test {

test::MakePort port_of(unsigned dimensions) {
  return [dimensions] { return std::make_unique<CubePort>(dimensions); };
}

TEST(Ncube2CubePort, TakesTheSumOfThePartsWithoutLoad) {
  test::expect_sum_of_parts(port_of(4), {2, 4, 16});
  CubePort port(most_dimensions);
  EXPECT_EQ(port.zero_load_latency(6, 8), 513u) << "of Figure 3-5 (network_test.cpp)";
  EXPECT_EQ(port.zero_load_latency(0, 2), 77u) << "to itself as over one hop";
  EXPECT_EQ(test::latency(port, 0, 8191, 2), 605u);
}

/// NC-12: nothing is lost, doubled, or overtaken on its way, under more load than there is room for.
TEST(Ncube2CubePort, BringsAllInOrderHoweverMuchThereIs) {
  using enum kit::Traffic::Pattern;
  for (const unsigned flits : {4u, 11u}) {
    test::LinkTimes times(flits);
    times.between = Router::flit_cycles * flits + Router::end_cycles;
    times.of_node = flits + 1;
    times.engines = 5;
    for (const auto pattern : {uniform, transpose, hotspot, bitcomp, bitrev, shuffle, randperm})
      test::expect_all_comes(port_of(4), {pattern, 1, flits, 0, test::seed()}, true, times);
  }
}

TEST(Ncube2CubePort, DoesTheSameInAnyOrder) {
  test::expect_same_in_any_order(port_of(3), {.injection_rate = 0.5, .packet_size = 3}, 100);
}

/// NC-6: where each link has one message after the other, what it carries in 36 cycles is a flit but for the ends of messages.
TEST(Ncube2CubePort, CountsInFlitsOf36Cycles) {
  const kit::LoadPoint full = kit::run(
      {.network = port_of(4),
       .traffic = {.pattern = kit::Traffic::Pattern::bitcomp, .injection_rate = 1, .packet_size = 10},
       .periods = {.sample_period = 200, .warmup_periods = 1, .max_samples = 4}});
  EXPECT_GT(full.accepted, 0.9);
  EXPECT_NEAR(full.busiest_link(), 360.0 / 365, 0.02);
}

}  // namespace am::ncube2::cube_port_test
