// Ways through grids, hypercubes and fat trees: they end, are as short as can be, and use channels in no circle.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/kit/fat_tree.hpp"
#include "emulated_hw/kit/hypercube.hpp"
#include "support/check.hpp"
#include "support/random.hpp"
#include "unit/emulated_hw/kit/channels.hpp"

namespace am::kit::ways_test {

using test_channels::Channel;
using test_channels::has_circle;
using test_channels::Waits;

struct GridCase {
  const char* name;
  Grid grid;
};
void PrintTo(const GridCase& one, std::ostream* out) { *out << one.name; }

class DimensionOrder : public testing::TestWithParam<GridCase> {
 protected:
  const Grid& grid_ = GetParam().grid;
};

TEST_P(DimensionOrder, NeighboursAreEachOthers) {
  for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
    EXPECT_EQ(grid_.neighbour(node, 0), Grid::nowhere);
    for (unsigned port = 1; port < grid_.ports(); ++port) {
      const NodeNumber next = grid_.neighbour(node, port);
      if (next == Grid::nowhere) continue;
      ASSERT_LT(next, grid_.nodes());
      EXPECT_NE(next, node);
      EXPECT_EQ(grid_.neighbour(next, Grid::opposite(port)), node);
    }
  }
}

/// The two orders, as packets go by them whose coins fall like this.
using Order = Hop (*)(const Grid&, NodeNumber here, Came, NodeNumber there, bool coin);
const Order orders[] = {[](const Grid& grid, NodeNumber here, Came, NodeNumber to, bool) {
                          return dimension_order(grid, here, to);
                        },
                        [](const Grid& grid, NodeNumber here, Came came, NodeNumber to, bool coin) {
                          return ring_order(grid, here, came, to, [coin] { return coin; });
                        }};
Came behind(const Hop& hop) { return {Grid::opposite(hop.port), hop.classes == 0b10 ? 1u : 0u}; }

TEST_P(DimensionOrder, EveryWayIsAShortestOne) {
  for (const Order order : orders) {
    for (NodeNumber from = 0; from < grid_.nodes(); ++from) {
      for (NodeNumber to = 0; to < grid_.nodes(); ++to) {
        NodeNumber here = from;
        Came came;
        for (unsigned left = distance(grid_, from, to); left != 0; --left) {
          const Hop hop = order(grid_, here, came, to, (from + left) % 3 == 0);
          ASSERT_NE(hop.port, 0u);
          here = grid_.neighbour(here, hop.port);
          came = behind(hop);
          ASSERT_NE(here, Grid::nowhere);
          ASSERT_EQ(distance(grid_, here, to), left - 1);
        }
        EXPECT_EQ(here, to);
        EXPECT_EQ(order(grid_, here, came, to, true).port, 0u);
      }
    }
  }
}

/// Each packet that has a channel and waits for the next one is an edge; a circle of them would be a deadlock.
TEST_P(DimensionOrder, NoChannelsWaitForEachOtherInACircle) {
  for (const Order order : orders) {
    Waits waits_for;
    for (NodeNumber from = 0; from < 2 * grid_.nodes(); ++from) {
      for (NodeNumber to = 0; to < grid_.nodes(); ++to) {
        std::vector<Channel> before;
        Came came;
        for (NodeNumber here = from % grid_.nodes(); here != to;) {
          const Hop hop = order(grid_, here, came, to, from < grid_.nodes());
          std::vector<Channel> channels;
          for (unsigned one = 0; one < vc_classes(grid_); ++one) {
            if ((hop.classes >> one & 1) != 0) channels.emplace_back(here, hop.port, one);
          }
          ASSERT_FALSE(channels.empty());
          for (const Channel& channel : before) waits_for[channel].insert(channels.begin(), channels.end());
          before = channels;
          here = grid_.neighbour(here, hop.port);
          came = behind(hop);
        }
      }
    }
    EXPECT_FALSE(has_circle(waits_for));
  }
}

/// BookSim2's classes: who passes the edge has class 1 all the way, before it and behind it.
TEST(RingOrder, KeepsTheClassOfAPacketAllTheWayRound) {
  const Grid torus{{8, true}, {8, true}};
  const auto classes = [&](NodeNumber from, NodeNumber to) {
    std::vector<unsigned> all;
    Came came;
    while (from != to) {
      const Hop hop = ring_order(torus, from, came, to, [] { return true; });
      all.push_back(hop.classes);
      from = torus.neighbour(from, hop.port);
      came = behind(hop);
    }
    return all;
  };
  EXPECT_EQ(classes(6, 1), (std::vector<unsigned>{2, 2, 2}));
  EXPECT_EQ(classes(1, 6), (std::vector<unsigned>{2, 2, 2}));
  EXPECT_EQ(classes(2, 5), (std::vector<unsigned>{1, 1, 1}));
  EXPECT_EQ(classes(6, 16), (std::vector<unsigned>{2, 2, 1, 1})) << "another ring, another class";
}

/// What the classes are for.
TEST(Channels, WaitInACircleAroundARingWithoutClasses) {
  const Grid ring{{4, true}};
  Waits waits_for;
  for (NodeNumber from = 0; from < ring.nodes(); ++from)
    waits_for[{from, Grid::up(0), 0}] = {{ring.neighbour(from, Grid::up(0)), Grid::up(0), 0}};
  EXPECT_TRUE(has_circle(waits_for));
  waits_for.erase({3, Grid::up(0), 0});
  EXPECT_FALSE(has_circle(waits_for));
}

const GridCase grids[] = {
    {"alone", Grid{{1}}},
    {"row", Grid{{7}}},
    {"ring_of_2", Grid{{2, true}}},
    {"ring_of_7", Grid{{7, true}}},
    {"ring_of_8", Grid{{8, true}}},
    {"mesh", Grid{{4}, {5}}},
    {"torus", Grid{{4, true}, {4, true}}},
    {"odd_torus", Grid{{3, true}, {5, true}}},
    {"cylinder", Grid{{6, true}, {3}}},
    {"cylinder_on_its_side", Grid{{3}, {6, true}}},
    {"cube", Grid{{3}, {3}, {3}}},
    {"hypercube", Grid{{2}, {2}, {2}, {2}, {2}}},
    {"flat", Grid{{1, true}, {6, true}}},
};
INSTANTIATE_TEST_SUITE_P(, DimensionOrder, testing::ValuesIn(grids),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Grid, NumbersItsNodesWithTheFirstDimensionFastest) {
  const Grid grid{{4}, {3, true}};
  EXPECT_EQ(grid.nodes(), 12u);
  EXPECT_EQ(grid.ports(), 5u);
  EXPECT_EQ(grid.at(7, 0), 3u);
  EXPECT_EQ(grid.at(7, 1), 1u);
  EXPECT_EQ(grid.neighbour(7, Grid::up(0)), Grid::nowhere);
  EXPECT_EQ(grid.neighbour(7, Grid::down(0)), 6u);
  EXPECT_EQ(grid.neighbour(11, Grid::up(1)), 3u);
  EXPECT_EQ(grid.neighbour(3, Grid::down(1)), 11u);
}

// -- hypercubes, which are what a grid of 2 x 2 x ... is

/// The same nodes by the same dimensions, where each router has one of two ports. So each way is a shortest one, and no channels wait in
/// a circle.
TEST(Hypercube, GoesTheWaysOfAGridOfTwos) {
  for (const unsigned dimensions : {0u, 1u, 2u, 3u, 6u}) {
    const Hypercube cube(dimensions);
    const Grid grid{std::vector<Grid::Dimension>(dimensions, {.extent = 2})};
    ASSERT_EQ(cube.nodes(), grid.nodes());
    for (NodeNumber from = 0; from < cube.nodes(); ++from) {
      for (NodeNumber to = 0; to < cube.nodes(); ++to) {
        ASSERT_EQ(distance(cube, from, to), distance(grid, from, to));
        const unsigned port = e_cube(from, to).port;
        const unsigned port_of_grid = dimension_order(grid, from, to).port;
        ASSERT_EQ(port == 0, from == to);
        ASSERT_EQ(port_of_grid == 0, from == to);
        if (port == 0) continue;
        const RouterNumber next = cube.neighbour(from, port);
        ASSERT_EQ(next, grid.neighbour(from, port_of_grid));
        ASSERT_EQ(cube.neighbour(next, cube.opposite(from, port)), from);
      }
    }
  }
}

// -- fat trees, and every way that a packet may take

using Levels = std::vector<FatTree::Level>;

struct TreeCase {
  const char* name;
  Levels levels;
};
void PrintTo(const TreeCase& one, std::ostream* out) { *out << one.name; }

class FatTrees : public testing::TestWithParam<TreeCase> {
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

const TreeCase trees[] = {
    {"one_router", {{5, 1}}},
    {"binary", {{2, 1}, {2, 2}, {2, 2}, {2, 2}}},
    {"ternary", {{3, 1}, {3, 3}, {3, 3}}},
    {"thin", {{2, 1}, {2, 1}, {2, 1}, {2, 1}}},
    {"uneven", {{3, 1}, {2, 3}, {4, 2}}},
    {"chain", {{1, 1}, {1, 1}, {1, 1}}},
    {"more_parents_than_children", {{2, 3}, {1, 4}, {3, 5}}},
    {"cm5_of_64", {{4, 2}, {4, 2}, {4, 4}}},  // von Eicken, 1993, Figure 3-9
};
INSTANTIATE_TEST_SUITE_P(, FatTrees, testing::ValuesIn(trees),
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
  const auto why = [](const Levels& levels) {
    return test::error_of<std::invalid_argument>([&] { static_cast<void>(FatTree(levels)); });
  };
  EXPECT_EQ(why({}), "a fat tree has 1 to 16 levels");
  EXPECT_EQ(why(Levels(17, {1, 1})), "a fat tree has 1 to 16 levels");
  EXPECT_EQ(why(Levels(16, {1, 1})), "no error");
  EXPECT_EQ(why({{0, 1}}), "a fat tree has no nodes, or more than 65536");
  EXPECT_EQ(why(Levels(9, {4, 1})), "a fat tree has no nodes, or more than 65536");
  EXPECT_EQ(why({{4, 0}}), "a fat tree has no routers, or more than 65536");
  EXPECT_EQ(why({{4, ~0u}}), "a fat tree has no routers, or more than 65536");
  EXPECT_EQ(why(Levels(16, {1, 31})), "a fat tree has no routers, or more than 65536");
  EXPECT_EQ(why({{4, 1}, {4, ~0u}}), "a router of a fat tree has more than 32 ports");
  EXPECT_EQ(why({{33, 1}}), "a router of a fat tree has more than 32 ports");
  EXPECT_EQ(why({{17, 1}, {17, 16}}), "a router of a fat tree has more than 32 ports");
  EXPECT_EQ(why({{17, 1}, {17, 15}}), "no error");
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

}  // namespace am::kit::ways_test
