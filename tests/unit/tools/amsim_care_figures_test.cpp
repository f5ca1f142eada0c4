// What CARE's protocol costs: criteria CA-13, CA-15, CA-16, CA-21, CA-22, CA-22b and C-3 (Byrd, Nakano and Delagi 1987, 1, 3.4, 4.1, Figure 4).
#include "amsim/care/figures.hpp"

#include <gmock/gmock.h>

#include <set>

#include "emulated_hw/care/zero_load_latency.hpp"
#include "support/random.hpp"

namespace amsim_care_figures_test {

using namespace am::care;
using namespace amsim::care;
namespace kit = am::kit;

const kit::Grid grid{{8}, {8}};

/// CA-21 [P]: cut-through takes time proportional to M + N, with no term of M N; store-and-forward M N. CA-22b: so cut-through is faster over more than a link, and as fast over one.
TEST(CareFigures, CutThroughTakesMPlusN) {
  const Options stores{.switching = Switching::stored};
  for (const unsigned links : {1u, 2u, 5u, 12u}) {
    for (const std::uint32_t words : {1u, 10u, 100u}) {
      const Cycle cut = unicast_time(links, words);
      EXPECT_EQ(cut, zero_load_latency(links, words));
      EXPECT_EQ(unicast_time(links + 7, words + 30), cut + 7 + 30) << "slopes of 1 in each, wherever";
      const Cycle stored = unicast_time(links, words, stores);
      EXPECT_EQ(stored, links * zero_load_latency(1, words)) << links << ' ' << words;
      EXPECT_EQ(cut<stored, links> 1);
    }
  }
}

/// CA-22b: a circuit is set up to the target's fifo-buffer and back, a link in each cycle, before the words leave.
TEST(CareFigures, ACircuitIsSetUpThereAndBack) {
  for (const Fidelity fidelity : {Fidelity::words, Fidelity::two_events}) {
    const Options circuits{
        .fidelity = fidelity, .switching = Switching::circuits, .delays_as_printed = false};
    for (const unsigned links : {1u, 2u, 5u, 12u}) {
      for (const std::uint32_t words : {1u, 10u, 100u})
        EXPECT_EQ(unicast_time(links, words, circuits), zero_load_latency(links, words) + 2 * (links + 1));
    }
  }
}

/// CA-22 [D]: no more words than the sum of unicasts; targets on one line: data of the farthest unicast once on each link, and what is left of the
/// list.
TEST(CareFigures, AMulticastTakesFewerLinkWords) {
  test::Random random(test::seed());
  constexpr std::uint32_t words = 16;
  double ratios = 0;
  constexpr int lists = 100;
  for (int i = 0; i < lists; ++i) {
    std::set<NodeNumber> sites;
    while (sites.size() < 8) sites.insert(static_cast<NodeNumber>(random.below(64)));
    std::vector<Target> targets;
    for (const NodeNumber site : sites) targets.push_back({site});
    std::ranges::shuffle(targets, std::mt19937_64(random()));
    const LinkWords carried = link_words(grid, static_cast<NodeNumber>(random.below(64)), targets, words);
    EXPECT_LE(carried.multicast, carried.unicasts);
    ratios += carried.ratio() / lists;
  }
  RecordProperty("ratio", std::to_string(ratios));
  EXPECT_LE(ratios, 0.65);
  for (unsigned farthest = 1; farthest < 8; ++farthest) {
    std::vector<Target> line;
    std::uint64_t entries = 0;
    for (NodeNumber site = 1; site <= farthest; ++site) line.push_back({site}), entries += site;
    EXPECT_EQ(link_words(grid, 0, line, words).multicast, farthest * (words + 1) + entries);
  }
}

/// CA-13 [V], C-3: A has the local net-output of one site, B that of the other. Without timeouts nothing moves any more: the circle is named.
TEST(CareDeadlock, OfFigure4StandsStillWithoutTimeouts) {
  Deadlock both({Timeouts::Kind::off, 1}, 1);
  EXPECT_THAT([&] { both.machine.run_or_throw([&] { return both.machine.is_empty(); }, 500); },
              testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
                  testing::StartsWith("care: nothing has moved for "),
                  testing::HasSubstr("cycles:\na circle: packet 1 -> packet 2 -> packet 1\n"),
                  testing::HasSubstr("packet 1 at site 2 seeks a net-output towards site 2\n"),
                  testing::HasSubstr("packet 2 at site 1 seeks a net-output towards site 1\n"))));
  EXPECT_EQ(both.machine.site(1).outputs[local].packet(), both.a);
  EXPECT_EQ(both.machine.site(2).outputs[local].packet(), both.b);
  EXPECT_EQ(Machine(kit::Grid{{2}}).who_waits(), "nothing is under way\n");
}

/// CA-13, CA-15, CA-16: with them at least one is aborted, retransmitted by the site that aborted, and all are delivered once.
TEST(CareDeadlock, OfFigure4IsResolvedByTimeouts) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Deadlock both({Timeouts::Kind::random, 64}, seed);
    both.machine.run_or_throw([&] { return both.machine.is_empty(); });
    EXPECT_GE(both.machine.counts().aborts, 1u);
    EXPECT_GE(both.machine.counts().retransmissions, 1u);
    for (const NodeNumber site : {1u, 2u}) {
      const auto& delivered = both.machine.delivered(site);
      EXPECT_EQ(delivered.size(), 2u);
      for (const PacketNumber packet : {both.a, both.b})
        EXPECT_EQ(std::ranges::count(delivered, packet, &Operator::Delivery::packet), 1);
    }
  }
}

/// CA-15: the hypothesis that equal timeouts abort and retry in step for ever, and random ones do not, holds for the symmetric case; the limit
/// of timeouts, which is assumed, is swept.
TEST(CareDeadlock, EqualTimeoutsRetryInStepForEver) {
  for (const Cycle limit : {16u, 64u, 256u}) {
    for (const auto kind : {Timeouts::Kind::equal, Timeouts::Kind::pads}) {
      const Recovery equal = recovery({kind, limit}, 1);
      EXPECT_FALSE(equal.both_delivered) << limit;
      EXPECT_GT(equal.aborts, 100u);
    }
    std::uint64_t aborts = 0;
    Cycle cycles = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Recovery random = recovery({Timeouts::Kind::random, limit}, seed);
      EXPECT_TRUE(random.both_delivered) << limit;
      aborts += random.aborts;
      cycles += random.cycles;
    }
    RecordProperty("limit " + std::to_string(limit),
                   std::to_string(aborts) + " aborts, " + std::to_string(cycles) + " cycles of 20");
    EXPECT_LT(aborts, 20u * 20);
  }
}

}  // namespace amsim_care_figures_test
