// Who a T1's multicast reaches on its grid, and who passes it on (T1 report, 3.9, Figure 9): rows and columns at once, patches in two
// phases; and of any group on any grid each member once, with nobody who is no member on the way.
#include "transports/emulated/patches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/t1/router.hpp"
#include "support/random.hpp"
#include "transports/transport.hpp"

namespace am::emulated {
namespace patches_test {

using testing::Each;

using List = std::vector<NodeId>;

kit::Grid grid_of(unsigned rows, unsigned columns) { return t1::grid_of({.rows = rows, .columns = columns}); }

std::vector<std::uint32_t> shares(const kit::Grid& grid, NodeId from, const List& members) {
  std::vector<std::uint32_t> by(members.size(), Transport::nobody);
  share_out(grid, from, members, by);
  return by;
}
/// The members as they are reached: '*', left: '-', or passed on to by the member whose place it is.
std::string text(const kit::Grid& grid, NodeId from, const List& members) {
  std::string text;
  const auto by = shares(grid, from, members);
  for (std::size_t i = 0; i < by.size(); ++i)
    text += by[i] == i ? '*' : by[i] == Transport::nobody ? '-' : static_cast<char>('a' + by[i]);
  return text;
}
List everybody(const kit::Grid& grid) {
  List all;
  for (NodeId node = 0; node < grid.nodes(); ++node) all.push_back(node);
  return all;
}

TEST(Patches, RowsAndColumnsAreReachedAtOnce) {
  const kit::Grid grid = grid_of(4, 8);
  EXPECT_EQ(text(grid, 11, {8, 9, 10, 11, 12, 13, 14, 15}), "********") << "its ring, both ways, and itself";
  EXPECT_EQ(text(grid, 11, {8, 9, 10, 12, 13, 14, 15}), "*******");
  EXPECT_EQ(text(grid, 11, {3, 19, 27}), "***") << "its column";
  EXPECT_EQ(text(grid, 11, {12, 13}), "**");
  EXPECT_EQ(text(grid, 8, {9, 15}), "**") << "around the edge";
}

TEST(Patches, NobodyIsReachedPastWhoIsNoMember) {
  const kit::Grid grid = grid_of(4, 8);
  EXPECT_EQ(text(grid, 8, {9, 11}), "*-");
  EXPECT_EQ(text(grid, 8, {10}), "-");
  EXPECT_EQ(text(grid, 3, {11, 27}), "*-")
      << "not by its member in the column, who is reached along the same";
  EXPECT_EQ(text(grid, 3, {12}), "-") << "in another row and column";
}

// Figure 9: along the row, then along the columns; also of a region that is no rectangle.
TEST(Patches, AreReachedInTwoPhases) {
  const kit::Grid grid = grid_of(4, 8);
  EXPECT_EQ(text(grid, 9, {9, 10, 11, 17, 18, 19, 25, 26, 27}), "****bc*bc");
  EXPECT_EQ(text(grid, 8, {9, 10, 11, 17, 18, 19, 25, 26, 27}), "***abcabc") << "from beside it";
  EXPECT_EQ(text(grid, 9, {10, 11, 17, 18, 26}), "***aa");
  EXPECT_EQ(text(grid, 9, {17, 18, 19, 25}), "*aa*") << "by the column, where the row is not of it";
}

TEST(Patches, WhoPassesOnHasTheSmallerNumber) {
  const kit::Grid grid = grid_of(4, 8);
  EXPECT_EQ(text(grid, 18, {9, 10, 11, 17, 18, 19, 25, 26, 27}), "-*b***d*f") << "nobody passes it on to 9";
}

/// Sends a multicast as core does, and counts who gets it. A list is the share of who is not on it, and else one part of it is.
struct Game {
  const kit::Grid& grid;
  const List& members;
  std::map<NodeId, int> got{};

  void reach(NodeId from, const List& share) {
    const auto by = shares(grid, from, share);
    List rest;
    for (std::size_t i = 0; i < by.size(); ++i) {
      if (by[i] == Transport::nobody) rest.push_back(share[i]);
      if (by[i] != i) continue;
      expect_way_of_members(from, share[i]);
      ++got[share[i]];
      List part;
      for (std::size_t k = 0; k < by.size(); ++k) {
        if (by[k] == i && k != i) part.push_back(share[k]);
      }
      ASSERT_TRUE(part.empty() || part.front() > share[i]);
      pass_on(share[i], part);
    }
    by_tree(rest);
  }
  void pass_on(NodeId node, const List& share) {
    if (!share.empty()) reach(node, share);
  }
  void by_tree(const List& rest) {
    const auto half = static_cast<std::ptrdiff_t>((rest.size() + 1) / 2);
    for (const List& part :
         {List(rest.begin(), rest.begin() + half), List(rest.begin() + half, rest.end())}) {
      if (part.empty()) continue;
      ++got[part.front()];
      pass_on(part.front(), {part.begin() + 1, part.end()});
    }
  }
  void expect_way_of_members(NodeId from, NodeId to) const {
    const unsigned port = kit::dimension_order(grid, from, to).port;
    for (NodeId node = from; node != to;) {
      ASSERT_EQ(kit::dimension_order(grid, node, to).port, port) << "a straight way";
      node = grid.neighbour(node, port);
      ASSERT_TRUE(std::binary_search(members.begin(), members.end(), node)) << node << " is no member";
    }
  }
};

TEST(Patches, BringItToEachMemberOfAnyGroupOnce) {
  test::Random random(test::seed());
  for (int round = 0; round < 3'000; ++round) {
    const kit::Grid grid =
        grid_of(1 + static_cast<unsigned>(random.below(6)), 1 + static_cast<unsigned>(random.below(9)));
    const auto one_in = 1 + random.below(4);
    List members;
    for (NodeId node = 0; node < grid.nodes(); ++node) {
      if (random.one_in(one_in)) members.push_back(node);
    }
    const auto from = static_cast<NodeId>(random.below(grid.nodes()));
    Game game{grid, members};
    const auto by = shares(grid, from, members);
    if (std::find(by.begin(), by.end(), Transport::nobody) == by.end()) {
      game.reach(from, members);
    } else {
      ++game.got[members.front()];
      game.pass_on(members.front(), {members.begin() + 1, members.end()});
    }
    ASSERT_EQ(game.got.size(), members.size());
    for (const auto& [node, times] : game.got) ASSERT_EQ(times, 1) << node;
    if (HasFatalFailure()) return;
  }
}

TEST(Patches, CoverTheWholeMachineFromItsCorner) {
  for (const auto& [rows, columns] : {std::pair{2u, 2u}, {4u, 4u}, {1u, 7u}, {7u, 1u}, {32u, 32u}}) {
    const kit::Grid grid = grid_of(rows, columns);
    EXPECT_THAT(shares(grid, 0, everybody(grid)), Each(testing::Ne(Transport::nobody)))
        << rows << "x" << columns;
  }
}

}  // namespace patches_test
}  // namespace am::emulated
