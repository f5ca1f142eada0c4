// Nodes' ends of the emulated T1 network in one thread: which grid it is, what a packet is cut into, accesses of its own; whom multicasts
// reach (how they go: unit/core/messages/multicast_over_t1_test.cpp). What holds of every machine: window_transport_test.cpp.
#include "transports/emulated/t1_transport.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "emulated_hw/t1/router.hpp"
#include "transports/emulated/patches.hpp"
#include "transports/emulated/router_counts.hpp"
#include "unit/transports/emulated/ends.hpp"

namespace am::emulated::t1_transport_test {

using namespace testing;

std::string shape_text(std::string_view options, NodeId nodes) {
  return text_or_error([&] {
    const t1::Shape shape = shape_of(options, nodes);
    return std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
  });
}

TEST(T1Shape, IsTheSquarestOrWhatWasAskedForOrALineThatSaysWhy) {
  for (const auto& [nodes, shape] :
       {std::pair{1u, "1x1"}, {2u, "1x2"}, {12u, "3x4"}, {13u, "1x13"}, {1024u, "32x32"}})
    EXPECT_EQ(shape_text("", nodes), shape);
  EXPECT_EQ(shape_text("4x3", 12), "4x3");
  EXPECT_EQ(shape_text("12x1", 12), "12x1");
  EXPECT_THAT(
      shape_text("4x4", 12),
      HasSubstr("AM_TRANSPORT=t1:4x4 is a grid of 16 nodes, and the job has 12 (say t1:3x4, or t1 alone"));
  for (const char* const bad :
       {"4", "x", "4x", "x4", "0x4", "4x0", "-4x3", "4x3x1", "4 x3", "4X3", "99999999999x1", "4x3,"})
    EXPECT_THAT(shape_text(bad, 12), HasSubstr("AM_TRANSPORT=t1:" + std::string(bad) + " is no grid")) << bad;
  EXPECT_THAT(shape_text("4294967295x4294967295", 12), HasSubstr("is a grid of 18446744065119617025 nodes"));
  EXPECT_THAT(shape_text("", 1025), HasSubstr("the job has 1025 nodes, and a CNS-1 has up to 1024"));
}

TEST(T1Messages, AreAsManyAsAPacketNeeds) {
  EXPECT_EQ(words_of(0, false, 0), 0u);
  EXPECT_EQ(words_of(6, false, 0), 12u) << "of 32 bits";
  EXPECT_EQ(words_of(1, true, 5), 2u + 1 + 2);
}

using T1Ends = Ends<T1Transport>;

TEST_F(T1Ends, AreNotArmedWhileTheyHaveNotToldOfAnAccess) {
  ASSERT_TRUE(end(0).arm(both));
  end(0).disarm();
  for (const auto access : {MemoryReach::Access::store, MemoryReach::Access::fetch}) {
    ASSERT_EQ(end(0).begin_access(access, 1, 8), Status::ok);
    EXPECT_FALSE(end(0).arm(both));
    EXPECT_EQ(end(0).accesses_done(access, 1), 1u);
    ASSERT_TRUE(end(0).arm(both));
    end(0).disarm();
  }
}

TEST_F(T1Ends, CountTheFlitsOfAccesses) {
  ASSERT_EQ(end(0).begin_access(MemoryReach::Access::store, 1, 1024), Status::ok);
  ASSERT_EQ(end(0).begin_access(MemoryReach::Access::fetch, 1, 1024), Status::ok);
  const std::string there = t1_counts(memory_, 1);
  EXPECT_THAT(there, ContainsRegex("node 0 +low +[01] +96 +0\n")) << "8 of 10, and 8 of 2";
  EXPECT_THAT(there, ContainsRegex("this node +high +1 +80 +0\n")) << "answers";
  EXPECT_THAT(there, ContainsRegex("to this node +80\n"));
  EXPECT_THAT(t1_counts(memory_, 0), ContainsRegex("to this node +80\n"));
}

// -- whom a multicast reaches, and who passes it on (T1 report, 3.9, Figure 9) -------------------------------------------------
// That each member of any group gets it once, and nobody else: unit/core/messages/multicast_over_t1_test.cpp.

using List = std::vector<NodeId>;

std::vector<std::uint32_t> shares(const kit::Grid& grid, NodeId from, const List& members) {
  std::vector<std::uint32_t> by(members.size(), Multicaster::nobody);
  share_out(grid, from, members, by);
  return by;
}
/// The members as they are reached: '*', left: '-', or passed on to by the member whose place it is.
std::string text(const kit::Grid& grid, NodeId from, const List& members) {
  std::string text;
  const auto by = shares(grid, from, members);
  for (std::size_t i = 0; i < by.size(); ++i)
    text += by[i] == i ? '*' : by[i] == Multicaster::nobody ? '-' : static_cast<char>('a' + by[i]);
  return text;
}
/// On 4 x 8 nodes.
struct Row {
  const char* what;
  NodeId from;
  List members;
  const char* reached;
};

TEST(Patches, AreReachedAsFigure9Shows) {
  const List region{9, 10, 11, 17, 18, 19, 25, 26, 27};
  const Row rows[] = {
      {"its ring, both ways, and itself", 11, {8, 9, 10, 11, 12, 13, 14, 15}, "********"},
      {"its ring without it", 11, {8, 9, 10, 12, 13, 14, 15}, "*******"},
      {"its column", 11, {3, 19, 27}, "***"},
      {"around the edge", 8, {9, 15}, "**"},
      {"nobody past who is no member", 8, {9, 11}, "*-"},
      {"nobody past who is no member", 8, {10}, "-"},
      {"not by its member in the column, who is reached along the same", 3, {11, 27}, "*-"},
      {"in another row and column", 3, {12}, "-"},
      {"along the row, then along the columns", 9, region, "****bc*bc"},
      {"from beside it", 8, region, "***abcabc"},
      {"a region that is no rectangle", 9, {10, 11, 17, 18, 26}, "***aa"},
      {"by the column, where the row is not of it", 9, {17, 18, 19, 25}, "*aa*"},
      {"nobody passes it on to 9: who passes on has the smaller number", 18, region, "-*b***d*f"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(text(t1::grid_of({.rows = 4, .columns = 8}), row.from, row.members), row.reached) << row.what;
}

TEST(Patches, CoverTheWholeMachineFromItsCorner) {
  for (const auto& [rows, columns] : {std::pair{2u, 2u}, {4u, 4u}, {1u, 7u}, {7u, 1u}, {32u, 32u}}) {
    const kit::Grid grid = t1::grid_of({.rows = rows, .columns = columns});
    List everybody(grid.nodes());
    std::iota(everybody.begin(), everybody.end(), NodeId{0});
    EXPECT_THAT(shares(grid, 0, everybody), testing::Each(testing::Ne(Multicaster::nobody)))
        << rows << "x" << columns;
  }
}

}  // namespace am::emulated::t1_transport_test
