// The iWarp's open pool under the traffic of all networks: criteria C-1, C-2, C-4 and C-5 (Borkar et al. 1990, 6.2).
#include "emulated_hw/iwarp/torus_port.hpp"

#include "emulated_hw/kit/load_point.hpp"
#include "unit/emulated_hw/port_checks.hpp"

namespace am::iwarp::torus_port_test {

constexpr std::size_t channels_in = 8;  // two of the open pool on each of four busses

::test::MakePort port_of(unsigned k, unsigned n) {
  return [=] { return std::make_unique<TorusPort>(k, n); };
}

TEST(IwarpTorusPort, TakesTheSumOfThePartsWithoutLoad) {
  ::test::expect_sum_of_parts(port_of(5, 1), {2, 20});
  ::test::expect_sum_of_parts(port_of(4, 2), {2, 3, 40});
  const TorusPort port(8, 2);
  EXPECT_EQ(port.zero_load_between(0, 4 + 8 * 4, 2) - port.zero_load_between(0, 4, 2), 4u * 4 + 1)
      << "200 ns for each cell, and 50 more at the corner";
}

TEST(IwarpTorusPort, BringsAllHoweverMuchThereIs) {
  constexpr std::uint32_t flits = 5;
  ::test::LinkTimes data(flits - 1);
  data.engines = channels_in;
  for (const auto pattern : kit::patterns)
    ::test::expect_all_comes(port_of(4, 2), {pattern, 1, flits, 0, ::test::seed()}, true, data);
}

TEST(IwarpTorusPort, DoesTheSameInAnyOrder) {
  ::test::expect_same_in_any_order(port_of(4, 2), {.injection_rate = 0.4, .packet_size = 4}, 100);
}

/// One pathway alone has all of a bus (IW-4): neighbours to the right fill theirs, but for asking, signs, ends, and when there is no packet.
TEST(IwarpTorusPort, FillsABus) {
  const kit::LoadPoint full = kit::run(
      {.network = port_of(8, 1),
       .traffic = {.pattern = kit::Traffic::Pattern::neighbor, .injection_rate = 1, .packet_size = 256},
       .periods = {.sample_period = 4000, .warmup_periods = 1, .max_samples = 8}});
  EXPECT_GT(full.accepted, 0.9);
  EXPECT_LE(full.busiest_link(), 1);
}

}  // namespace am::iwarp::torus_port_test
