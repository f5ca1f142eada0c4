// Traffic on the CM-5's data networks: criteria C-1, C-2, C-5.
#include "emulated_hw/cm5/tree_port.hpp"

#include "emulated_hw/kit/load_point.hpp"
#include "unit/emulated_hw/port_checks.hpp"

namespace am::cm5::tree_port_test {

test::MakePort port_of(unsigned levels) {
  return [levels] { return std::make_unique<TreePort>(levels); };
}

TEST(Cm5TreePort, TakesTheSumOfThePartsWithoutLoad) {
  test::expect_sum_of_parts(port_of(2), {1, 5});
  TreePort port(5);
  EXPECT_EQ(port.zero_load_latency(8, 5), 9u * 8 + 48);
  EXPECT_EQ(test::latency(port, 0, 1023, 5), 120u);
}

/// Messages overtake each other.
TEST(Cm5TreePort, BringsAllHoweverMuchThereIs) {
  using enum kit::Traffic::Pattern;
  test::LinkTimes times(most_words);
  times.of_node = flits(most_words, 1);
  times.between = times.of_node + 2;  // a flit for the second level, on all four links
  times.engines = Tree::links;
  for (const auto pattern : {uniform, transpose, hotspot, bitcomp, randperm}) {
    const unsigned channel = pattern == transpose ? 1 : 0;
    test::expect_all_comes(port_of(2), {pattern, 1, most_words, channel, test::seed()}, false, times);
  }
}

TEST(Cm5TreePort, DoesTheSameInAnyOrder) {
  test::expect_same_in_any_order(port_of(2), {.injection_rate = 0.5, .packet_size = 3}, 100);
}

/// A node takes 20 bytes in 1.175 us from each of its links, whatever comes.
TEST(Cm5TreePort, CountsInDataWords) {
  const kit::LoadPoint full =
      kit::run({.network = port_of(1),
                .traffic = {.pattern = kit::Traffic::Pattern::bitcomp, .injection_rate = 1, .packet_size = 5},
                .periods = {.sample_period = 2000, .warmup_periods = 1, .max_samples = 4}});
  EXPECT_FALSE(full.saturated);
  EXPECT_NEAR(full.accepted, 1, 0.04);
  EXPECT_NEAR(full.busiest_link(), 44.0 / 40, 0.05) << "both links of a node, with frames";
  EXPECT_THROW(TreePort(0), std::invalid_argument);
  EXPECT_THROW(TreePort(6), std::invalid_argument);
}

}  // namespace am::cm5::tree_port_test
