// Hypercubes: links, ways, and that they are what a grid of 2 x 2 x ... is.
#include "emulated_hw/kit/hypercube.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "channels.hpp"
#include "emulated_hw/kit/dimension_order.hpp"

namespace am::kit {
namespace hypercube_test {

using test_channels::has_circle;
using test_channels::Waits;

class Hypercubes : public testing::TestWithParam<unsigned> {
 protected:
  const Hypercube cube_{GetParam()};
};

TEST_P(Hypercubes, NeighboursAreEachOthers) {
  for (NodeNumber node = 0; node < cube_.nodes(); ++node) {
    EXPECT_EQ(cube_.place_of(node), (Place{node, 0}));
    EXPECT_EQ(cube_.neighbour(node, 0), nowhere);
    for (unsigned port = 1; port < cube_.ports(); ++port) {
      const RouterNumber next = cube_.neighbour(node, port);
      ASSERT_LT(next, cube_.routers());
      EXPECT_NE(next, node);
      EXPECT_EQ(cube_.neighbour(next, cube_.opposite(node, port)), node);
    }
  }
}

/// The same nodes by the same dimensions, where each router has one of two ports.
TEST_P(Hypercubes, GoTheWaysOfAGridOfTwos) {
  const Grid grid{std::vector<Grid::Dimension>(GetParam(), {.extent = 2})};
  ASSERT_EQ(cube_.nodes(), grid.nodes());
  for (NodeNumber from = 0; from < cube_.nodes(); ++from) {
    for (NodeNumber to = 0; to < cube_.nodes(); ++to) {
      EXPECT_EQ(distance(cube_, from, to), distance(grid, from, to));
      const unsigned port = e_cube(from, to).port;
      const unsigned ports_port = dimension_order(grid, from, to).port;
      ASSERT_EQ(port == 0, from == to);
      if (port != 0) {
        ASSERT_EQ(cube_.neighbour(from, port), grid.neighbour(from, ports_port));
      } else {
        ASSERT_EQ(ports_port, 0u);
      }
    }
  }
}

TEST_P(Hypercubes, EveryWayIsAShortestOneAndNoChannelsWaitInACircle) {
  Waits waits_for;
  for (NodeNumber from = 0; from < cube_.nodes(); ++from) {
    for (NodeNumber to = 0; to < cube_.nodes(); ++to) {
      RouterNumber here = from;
      for (unsigned left = distance(cube_, from, to); left != 0; --left) {
        const unsigned port = e_cube(here, to).port;
        ASSERT_TRUE(port != 0 && port < cube_.ports());
        const RouterNumber next = cube_.neighbour(here, port);
        ASSERT_EQ(distance(cube_, next, to), left - 1);
        if (next != to) waits_for[{here, port, 0}].insert({next, e_cube(next, to).port, 0});
        here = next;
      }
      ASSERT_EQ(here, to);
    }
  }
  EXPECT_FALSE(has_circle(waits_for));
}

INSTANTIATE_TEST_SUITE_P(, Hypercubes, testing::Values(0, 1, 2, 3, 6));

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

}  // namespace hypercube_test
}  // namespace am::kit
