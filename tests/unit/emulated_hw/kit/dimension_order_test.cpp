// Ways through grids: they end, are as short as can be, and use channels in no circle.
#include "emulated_hw/kit/dimension_order.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "channels.hpp"
#include "emulated_hw/kit/hypercube.hpp"

namespace am::kit {
namespace dimension_order_test {

using test_channels::Channel;
using test_channels::has_circle;
using test_channels::Waits;

struct Case {
  const char* name;
  Grid grid;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class DimensionOrder : public testing::TestWithParam<Case> {
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

TEST_P(DimensionOrder, EveryWayIsAShortestOne) {
  for (NodeNumber from = 0; from < grid_.nodes(); ++from) {
    for (NodeNumber to = 0; to < grid_.nodes(); ++to) {
      NodeNumber here = from;
      for (unsigned left = distance(grid_, from, to); left != 0; --left) {
        const Hop hop = dimension_order(grid_, here, to);
        ASSERT_NE(hop.port, 0u);
        here = grid_.neighbour(here, hop.port);
        ASSERT_NE(here, Grid::nowhere);
        ASSERT_EQ(distance(grid_, here, to), left - 1);
      }
      EXPECT_EQ(here, to);
      EXPECT_EQ(dimension_order(grid_, here, to).port, 0u);
    }
  }
}

/// Each packet that has a channel and waits for the next one is an edge; a circle of them would be a deadlock.
TEST_P(DimensionOrder, NoChannelsWaitForEachOtherInACircle) {
  Waits waits_for;
  for (NodeNumber from = 0; from < grid_.nodes(); ++from) {
    for (NodeNumber to = 0; to < grid_.nodes(); ++to) {
      std::vector<Channel> before;
      for (NodeNumber here = from; here != to;) {
        const Hop hop = dimension_order(grid_, here, to);
        std::vector<Channel> channels;
        for (unsigned one = 0; one < vc_classes(grid_); ++one) {
          if ((hop.classes >> one & 1) != 0) channels.emplace_back(here, hop.port, one);
        }
        ASSERT_FALSE(channels.empty());
        for (const Channel& channel : before) waits_for[channel].insert(channels.begin(), channels.end());
        before = channels;
        here = grid_.neighbour(here, hop.port);
      }
    }
  }
  EXPECT_FALSE(has_circle(waits_for));
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

const Case cases[] = {
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
INSTANTIATE_TEST_SUITE_P(, DimensionOrder, testing::ValuesIn(cases),
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

TEST(Grid, RefusesWhatItCannotBe) {
  EXPECT_THROW((Grid{{0}}), std::invalid_argument);
  EXPECT_THROW((Grid{{1 << 9}, {1 << 8}}), std::invalid_argument);
  EXPECT_THROW((Grid{{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}}), std::invalid_argument);
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

/// Thirteen dimensions of an nCUBE/2, and what else has a port.
TEST(Hypercube, HasOnePortForEachDimension) {
  const Hypercube cube(13);
  EXPECT_EQ(cube.nodes(), 8192u);
  EXPECT_EQ(cube.ports(), 14u);
  EXPECT_EQ(cube.neighbour(0b101, Hypercube::across(1)), 0b111u);
  EXPECT_EQ(e_cube(0b0110, 0b1010).port, Hypercube::across(2)) << "the lowest that differs";
}

TEST(Hypercube, RefusesWhatItCannotBe) {
  EXPECT_NO_THROW(Hypercube(16));
  EXPECT_THROW(Hypercube(17), std::invalid_argument);
}

}  // namespace dimension_order_test
}  // namespace am::kit
