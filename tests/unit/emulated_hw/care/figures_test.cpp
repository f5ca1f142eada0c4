// What CARE's protocol costs: criteria CA-21, CA-22 and those of the multicast itself (Byrd, Nakano and Delagi 1987, 1).
#include "emulated_hw/care/figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace am::care::figures_test {

const kit::Grid grid{{8}, {8}};

/// CA-21 [P]: cut-through takes time proportional to M + N, with no term of M N; store-and-forward M N. CA-22b [P] is about networks in general;
/// here cut-through is faster over more than a link, and as fast over one.
TEST(CareFigures, CutThroughTakesMPlusN) {
  const Options stores{.stores_and_forwards = true};
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

/// CA-9, 4.6: an entry takes a cycle, and the router adds nothing; but with one word a net-output cannot know whether an entry is its last one
/// before the next has come, so a list on one way takes 1 or 2 cycles more on each link. What the text leaves out costs that.
TEST(CareFigures, AListTakesUpToTwoCyclesMoreOnALink) {
  constexpr unsigned links = 11;
  constexpr std::uint32_t words = 8;
  for (const auto& [targets, more] :
       {std::pair{1u, 0u}, {2u, links}, {3u, 2 * links - 1}, {6u, 2 * links + 2}}) {
    Machine machine(kit::Grid{{links + 1}});
    std::vector<Target> list;
    for (NodeNumber i = 0; i < targets; ++i) list.push_back({links - i});
    machine.send(0, list, std::vector<std::uint32_t>(words));
    machine.run_or_throw([&] { return machine.is_empty(); });
    EXPECT_EQ(machine.delivered(links).at(0).at, zero_load_latency(links, words) + more) << targets;
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

}  // namespace am::care::figures_test
