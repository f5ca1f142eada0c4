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

/// Messages overtake each other; each goes by as many links as lie between its nodes.
TEST(Cm5TreePort, BringsAllHoweverMuchThereIs) {
  using enum kit::Traffic::Pattern;
  for (const auto pattern : {uniform, transpose, hotspot, bitcomp, randperm}) {
    const kit::Traffic traffic{pattern, 1, most_words, pattern == transpose ? 1u : 0u, test::seed()};
    const TreePort port(2);
    kit::Trace trace(port.topology());
    const auto network = port_of(2)();
    network->record(&trace);
    kit::TrafficNodes nodes(*network, traffic);
    for (Cycle i = 0; i < 1000; ++i) nodes.cycle();
    test::drain(*network, nodes);
    trace.ends(network->now());
    test::expect_consistent(trace, Tree::links);
    EXPECT_GT(trace.messages().size(), 100u);
    std::uint64_t busy = 0;
    for (const auto& [link, flits] : network->links()) busy += flits;
    std::uint64_t shown = 0;
    for (const auto& [link, flits] : test::flits_by_link(trace)) shown += flits;
    EXPECT_NEAR(static_cast<double>(busy), static_cast<double>(shown) / word_flits, 200)
        << "rounded down by link";
    for (const auto& [end, passages] : trace.ways()) {
      const auto& message = trace.messages()[end.message];
      EXPECT_EQ(passages.size(), 2 + distance(trace.topology(), message.from, message.to));
    }
  }
}

TEST(Cm5TreePort, DoesTheSameInAnyOrder) {
  test::expect_same_in_any_order(port_of(2), {.injection_rate = 0.5, .packet_size = 3}, 30);
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
