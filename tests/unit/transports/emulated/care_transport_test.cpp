// Nodes' ends of the emulated CARE network in one thread: which torus or cube it is, multicasts by lists, unordered messages, what its
// sites count. What holds of every machine: window_transport_test.cpp.
#include "transports/emulated/care_transport.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "transports/emulated/router_counts.hpp"
#include "unit/transports/emulated/ends.hpp"

namespace am::emulated::care_transport_test {

using namespace testing;

std::string shape_text(std::string_view options, NodeId nodes) {
  return text_or_error([&] {
    const care::LiveShape shape = care_shape(options, nodes);
    if (shape.is_cube) return "cube of " + std::to_string(shape.dimensions);
    return std::to_string(shape.extents.rows) + "x" + std::to_string(shape.extents.columns);
  });
}

TEST(CareShape, IsATorusOrACubeOrALineThatSaysWhyNot) {
  EXPECT_EQ(shape_text("", 16), "4x4");
  EXPECT_EQ(shape_text("torus", 6), "2x3");
  EXPECT_EQ(shape_text("torus:6x1", 6), "6x1");
  EXPECT_EQ(shape_text("1x6", 6), "1x6");
  EXPECT_EQ(shape_text("cube", 8), "cube of 3");
  EXPECT_THAT(shape_text("cube", 6),
              HasSubstr("the job has 6 nodes, and CARE is a cube of 1, 2, 4, ... up to "
                        "1024 (run 4 or 8 nodes, or another network (AM_TRANSPORT))"));
  EXPECT_THAT(shape_text("torus:2x2", 6),
              HasSubstr("AM_TRANSPORT=care:torus:2x2 is a grid of 4 nodes, and the job has 6 (say "
                        "care:torus:2x3, or care:torus alone)"));
  EXPECT_THAT(shape_text("0x6", 6), HasSubstr("AM_TRANSPORT=care:0x6 is no grid"));
  EXPECT_THAT(shape_text("", 1025), HasSubstr("the job has 1025 nodes, and CARE has up to 1024"));
  for (const char* const other : {"ring", "cube:2x2", "toru", "torus2x3"})
    EXPECT_THAT(shape_text(other, 4), HasSubstr(std::string("AM_TRANSPORT=care:") + other +
                                                " is neither a torus nor a cube (say care, care:torus, "))
        << other;
}

using CareEnds = Ends<CareTransport>;

// Each list is one message, which the sites split; of a tree each link once. The sender is a target as others are.
TEST_F(CareEnds, MulticastToLists) {
  for (const auto& [to, links] :
       {std::pair{std::vector<NodeId>{0, 1, 2, 3, 4, 5}, "1 sent, 5.00 links each\n"},
        {{4}, "1 sent, 2.00 links each\n"},
        {{2, 5}, "1 sent, 2.00 links each\n"}}) {
    for (const Priority priority : priorities) {
      begin_anew();
      expect_multicast(to, priority);
      EXPECT_THAT(care_counts(memory_, 0), HasSubstr(links));
    }
  }
}

TEST_F(CareEnds, KeepUnorderedOnesApart) {
  const std::size_t ordered = fill(0, 1, Priority::low);
  EXPECT_EQ(send_unordered(0, 1, Priority::low, 256), Status::ok);
  EXPECT_EQ(send_unordered(0, 1, Priority::low, 257), Status::again) << "as an ordered one";
  EXPECT_GT(fill(0, 1, Priority::low, true), 0u);
  EXPECT_FALSE(end(0).has_room_unordered(1, Priority::low, 0));
  EXPECT_TRUE(end(0).has_room_unordered(1, Priority::high, 0));
  EXPECT_GT(take_all(1, Priority::low).size(), ordered + 1);
  EXPECT_EQ(send_unordered(0, 1, Priority::low, 1024), Status::ok);
}

TEST_F(CareEnds, CountsWhatItsSitesDo) {
  ASSERT_EQ(send(0, 4, Priority::low, 1000), Status::ok);
  ASSERT_EQ(send_unordered(0, 4, Priority::high), Status::ok);
  const std::string source = care_counts(memory_, 0);
  EXPECT_THAT(source, ContainsRegex("this node +low +1 +0\n"));
  EXPECT_THAT(source, ContainsRegex("this node +high any +1 +0\n"));
  EXPECT_THAT(source, HasSubstr("splits 0, aborts 0, retransmissions 0, forced stores 0\n"));
  EXPECT_THAT(source, HasSubstr("its CARE site, at row 0, column 0 of 2x3\n"));
  EXPECT_THAT(care_counts(memory_, 1), ContainsRegex("node 0 +ordered 1 +1 +0\n"));
  EXPECT_THAT(care_counts(memory_, 4), ContainsRegex("to this node +2\n"));
  EXPECT_THAT(care_counts(memory_, 4), HasSubstr("2 sent, 2.00 links each\n"));
  EXPECT_EQ(care_counts(host::Memory::create(nodes), 0), "") << "no CARE there";
}

/// More targets than a list takes: it is cut into several.
TEST(CareLists, AreCutWhereTheyAreLong) {
  constexpr NodeId nodes = 32;
  const auto memory = host::Memory::create(nodes);
  CareTransport sender({.self = 0, .memory = memory, .options = "cube"});
  for (std::uint64_t round = 1; round <= 20; ++round) {
    sender.begin_multicast();
    for (NodeId to = 0; to < nodes; ++to) {
      const Transport::Slot slot = sender.claim(to, Priority::high, 0, 0);
      ASSERT_EQ(slot.status, Status::ok);
      sender.commit(slot, impl::Header::make(7, 0, 0, 0));
    }
    sender.end_multicast();
    for (NodeId to = 0; to < nodes; ++to)
      EXPECT_THAT(care_counts(memory, to), ContainsRegex("to this node +" + std::to_string(round) + "\n"));
    EXPECT_THAT(care_counts(memory, 0), HasSubstr(std::to_string(3 * round) + " sent, "));
  }
}

}  // namespace am::emulated::care_transport_test
