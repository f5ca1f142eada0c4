// Fat trees: links, and every way that a packet may take.
#include "emulated_hw/kit/fat_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "channels.hpp"
#include "emulated_hw/kit/arbiter.hpp"
#include "support/random.hpp"

namespace am::kit {
namespace fat_tree_test {

using test_channels::has_circle;
using test_channels::Waits;

using Levels = std::vector<FatTree::Level>;

struct Case {
  const char* name;
  Levels levels;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class FatTrees : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] std::set<RouterNumber> routers_of(NodeNumber node) const {
    std::set<RouterNumber> routers;
    for (unsigned link = 0; link < tree_.links_of_node(); ++link)
      routers.insert(tree_.place_of(node, link).router);
    return routers;
  }
  [[nodiscard]] std::set<RouterNumber> neighbours_of(const std::set<RouterNumber>& routers) const {
    std::set<RouterNumber> next;
    for (const RouterNumber router : routers) {
      for (unsigned port = 0; port < tree_.ports(); ++port) {
        if (tree_.neighbour(router, port) != nowhere) next.insert(tree_.neighbour(router, port));
      }
    }
    return next;
  }
  [[nodiscard]] std::set<RouterNumber> next_on_the_way(const std::set<RouterNumber>& routers,
                                                       NodeNumber to) const {
    std::set<RouterNumber> next;
    for (const RouterNumber router : routers)
      for_each(tree_.ports_to(router, to),
               [&](unsigned port) { next.insert(tree_.neighbour(router, port)); });
    return next;
  }

  const Levels& levels_ = GetParam().levels;
  const FatTree tree_{levels_};
};

/// Every port leads to one thing, and every thing has as many links as it should.
TEST_P(FatTrees, LinksAreEachOthers) {
  std::set<std::pair<RouterNumber, unsigned>> places;  // of nodes
  for (NodeNumber node = 0; node < tree_.nodes(); ++node) {
    ASSERT_EQ(tree_.links_of_node(), levels_[0].parents);
    for (unsigned link = 0; link < tree_.links_of_node(); ++link) {
      const Place place = tree_.place_of(node, link);
      ASSERT_LT(place.router, tree_.routers());
      ASSERT_EQ(tree_.level_of(place.router), 0u);
      ASSERT_EQ(tree_.neighbour(place.router, place.port), nowhere);
      ASSERT_TRUE(places.emplace(place.router, place.port).second);
    }
  }
  for (RouterNumber router = 0; router < tree_.routers(); ++router) {
    const unsigned level = tree_.level_of(router);
    const unsigned children = levels_[level].children;
    const unsigned parents = level + 1 < levels_.size() ? levels_[level + 1].parents : 0;
    std::set<RouterNumber> others;
    for (unsigned port = 0; port < tree_.ports() + 1; ++port) {
      const RouterNumber next = tree_.neighbour(router, port);
      if (port >= children + parents || (level == 0 && port < children)) {
        ASSERT_EQ(next, nowhere);
        ASSERT_EQ(places.erase({router, port}), port < children ? 1u : 0u);
        continue;
      }
      ASSERT_LT(next, tree_.routers());
      ASSERT_TRUE(others.insert(next).second) << "one link between two routers";
      EXPECT_EQ(tree_.level_of(next), port < children ? level - 1 : level + 1);
      EXPECT_EQ(tree_.neighbour(next, tree_.opposite(router, port)), router);
      EXPECT_EQ(tree_.opposite(next, tree_.opposite(router, port)), port);
    }
  }
  EXPECT_TRUE(places.empty());
}

/// All ways at once: from any of a node's links and by any parents, for every pair.
TEST_P(FatTrees, EveryWayIsAShortestOne) {
  for (NodeNumber from = 0; from < tree_.nodes(); ++from) {
    for (NodeNumber to = 0; to < tree_.nodes(); ++to) {
      const std::set<RouterNumber> ends = routers_of(to);
      const auto is_there = [&](const std::set<RouterNumber>& routers) {
        return std::ranges::any_of(ends, [&](RouterNumber end) { return routers.contains(end); });
      };
      std::set<RouterNumber> here = routers_of(from), anywhere = here;
      std::size_t widest = here.size();
      for (unsigned hops = 0; hops < distance(tree_, from, to); ++hops) {
        ASSERT_FALSE(is_there(anywhere)) << "by whatever links, there is a shorter way";
        here = next_on_the_way(here, to);
        anywhere = neighbours_of(anywhere);
        widest = std::max(widest, here.size());
      }
      EXPECT_EQ(here, ends) << "of all the ways, some lead to each of its links";
      for (unsigned link = 0; link < tree_.links_of_node(); ++link) {
        const Place place = tree_.place_of(to, link);
        EXPECT_EQ(tree_.ports_to(place.router, to), port_bit(place.port));
      }
      std::size_t common = 1;
      for (unsigned level = 0; level <= tree_.level_above(from, to); ++level)
        common *= levels_[level].parents;
      EXPECT_EQ(widest, common) << "all that have both below";
    }
  }
}

TEST_P(FatTrees, NoChannelsWaitForEachOtherInACircle) {
  Waits waits_for;
  for (NodeNumber to = 0; to < tree_.nodes(); ++to) {
    for (RouterNumber here = 0; here < tree_.routers();
         ++here) {  // wherever packets to it can be, and elsewhere
      for_each(tree_.ports_to(here, to), [&](unsigned port) {
        const RouterNumber next = tree_.neighbour(here, port);
        if (next == nowhere) return;
        for_each(tree_.ports_to(next, to), [&](unsigned then) {
          waits_for[{here, port, 0}].insert({next, then, 0});
        });
      });
    }
  }
  EXPECT_FALSE(has_circle(waits_for));
}

const Case cases[] = {
    {"one_router", {{5, 1}}},
    {"binary", {{2, 1}, {2, 2}, {2, 2}, {2, 2}}},
    {"ternary", {{3, 1}, {3, 3}, {3, 3}}},
    {"thin", {{2, 1}, {2, 1}, {2, 1}, {2, 1}}},
    {"uneven", {{3, 1}, {2, 3}, {4, 2}}},
    {"chain", {{1, 1}, {1, 1}, {1, 1}}},
    {"more_parents_than_children", {{2, 3}, {1, 4}, {3, 5}}},
    {"cm5_of_64", {{4, 2}, {4, 2}, {4, 4}}},  // von Eicken, 1993, Figure 3-9
};
INSTANTIATE_TEST_SUITE_P(, FatTrees, testing::ValuesIn(cases),
                         [](const auto& one) { return std::string(one.param.name); });

/// BookSim2's: n levels of k^(n-1) routers of 2k ports.
TEST(FatTree, OfKAndNIsTheKAryNTree) {
  const FatTree tree = FatTree::k_ary(4, 3);
  EXPECT_EQ(tree.nodes(), 64u);
  EXPECT_EQ(tree.levels(), 3u);
  EXPECT_EQ(tree.routers(), 3 * 16u);
  EXPECT_EQ(tree.ports(), 8u);
  EXPECT_EQ(tree.level_of(15), 0u);
  EXPECT_EQ(tree.level_of(16), 1u);
  EXPECT_EQ(tree.place_of(63), (Place{15, 3}));
  EXPECT_EQ(tree.ports_to(0, 3), port_bit(3));
  EXPECT_EQ(tree.ports_to(0, 4), 0xf0u) << "any parent";
}

TEST(FatTree, RefusesWhatItCannotBe) {
  const auto why = [](const Levels& levels) -> std::string {
    try {
      static_cast<void>(FatTree(levels));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(why({}), "a fat tree has 1 to 16 levels");
  EXPECT_EQ(why(Levels(17, {1, 1})), "a fat tree has 1 to 16 levels");
  EXPECT_EQ(why(Levels(16, {1, 1})), "");
  EXPECT_EQ(why({{0, 1}}), "a fat tree has no nodes, or more than 65536");
  EXPECT_EQ(why(Levels(9, {4, 1})), "a fat tree has no nodes, or more than 65536");
  EXPECT_EQ(why({{4, 0}}), "a fat tree has no routers, or more than 65536");
  EXPECT_EQ(why({{4, ~0u}}), "a fat tree has no routers, or more than 65536");
  EXPECT_EQ(why(Levels(16, {1, 31})), "a fat tree has no routers, or more than 65536");
  EXPECT_EQ(why({{4, 1}, {4, ~0u}}), "a router of a fat tree has more than 32 ports");
  EXPECT_EQ(why({{33, 1}}), "a router of a fat tree has more than 32 ports");
  EXPECT_EQ(why({{17, 1}, {17, 16}}), "a router of a fat tree has more than 32 ports");
  EXPECT_EQ(why({{17, 1}, {17, 15}}), "");
  EXPECT_THROW(static_cast<void>(FatTree::k_ary(1, 3)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(FatTree::k_ary(4, 0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(FatTree::k_ary(4, 17)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(FatTree::k_ary(2, 14)), std::invalid_argument)
      << "14 levels of 8192 routers";
}

TEST(OneOf, IsEachOfThemAsOften) {
  test::Random random(test::seed());
  for (int round = 0; round < 200; ++round) {
    const auto ports = static_cast<Ports>(random() | 1u << random.below(32));
    const auto count = static_cast<unsigned>(std::popcount(ports));
    std::vector<unsigned> in_order;
    for_each(ports, [&](unsigned port) { in_order.push_back(port); });
    for (unsigned i = 0; i < count; ++i) {  // the first and last of the numbers that lead to each
      const auto first = ((std::uint64_t{i} << 32) + count - 1) / count;
      const auto last = (((std::uint64_t{i} + 1) << 32) + count - 1) / count - 1;
      EXPECT_EQ(one_of(ports, static_cast<std::uint32_t>(first)), in_order[i]);
      EXPECT_EQ(one_of(ports, static_cast<std::uint32_t>(last)), in_order[i]);
    }
  }
}

}  // namespace fat_tree_test
}  // namespace am::kit
