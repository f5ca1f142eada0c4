// CARE's network under the traffic of all networks: criteria CA-23, C-1, C-2, C-4 and C-5 (Byrd, Nakano and Delagi 1987, 1).
#include "emulated_hw/care/care_port.hpp"

#include "emulated_hw/kit/load_point.hpp"
#include "unit/emulated_hw/port_checks.hpp"

namespace am::care::care_port_test {

test::MakePort port_of(const kit::Topology& topology, const Options& options = {}) {
  return [=] { return std::make_unique<CarePort>(topology, options, Preferences::one_only); };
}

TEST(CarePort, TakesTheSumOfThePartsWithoutLoad) {
  test::expect_sum_of_parts(port_of(kit::Grid{{4, true}, {3}}), {1, 2, 9});
  test::expect_sum_of_parts(port_of(kit::Hypercube(3)), {1, 9});
}

/// On one way to each node, which no packet leaves: a net-input seeks for as long as it takes.
TEST(CarePort, BringsAllInOrderOnOneWay) {
  constexpr unsigned flits = 4;
  const test::LinkTimes with_terminators(flits + 1);
  for (const auto pattern :
       {kit::Traffic::Pattern::uniform, kit::Traffic::Pattern::transpose, kit::Traffic::Pattern::hotspot})
    test::expect_all_comes(port_of(kit::Grid{{4}, {4}}, {.seek_threshold = 1'000'000}),
                           {pattern, 1, flits, 0, test::seed()}, true, with_terminators);
}

TEST(CarePort, DoesTheSameInAnyOrder) {
  test::expect_same_in_any_order(port_of(kit::Grid{{4}, {4}}), {.injection_rate = 0.3, .packet_size = 3}, 20);
}

/// CA-23: adaptivity is reported, with no band: the highest load that does not saturate an 8x8 grid, by strategy and pattern.
TEST(CarePort, ReportsWhereStrategiesSaturate) {
  using Pattern = kit::Traffic::Pattern;
  const auto highest = [](const Preferences::Strategy& strategy, Pattern pattern) {
    kit::Load load{.network = [strategy] {
      return std::make_unique<CarePort>(kit::Grid{{8}, {8}}, Options{}, strategy);
    }};
    load.traffic = {.pattern = pattern, .packet_size = 8, .seed = 1};
    load.periods = {.sample_period = 200, .warmup_periods = 2, .max_samples = 3};
    const auto point = kit::saturation(load, 0.05);
    return point ? point->offered : 0;
  };
  for (const Pattern pattern : {Pattern::uniform, Pattern::transpose, Pattern::hotspot}) {
    const double all = highest(Preferences::closest_first, pattern);
    const double one = highest(Preferences::one_only, pattern);
    const double nearer = highest(Preferences::nearer_only, pattern);
    RecordProperty(std::string(kit::name_of(pattern)), std::to_string(all) + " adaptive, " +
                                                           std::to_string(one) + " static, " +
                                                           std::to_string(nearer) + " nearer ones only");
    EXPECT_GT(all, 0);
    EXPECT_GT(one, 0);
    EXPECT_GT(nearer, 0);
  }
}

}  // namespace am::care::care_port_test
