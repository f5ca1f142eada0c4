// What is gathered for whom goes when it is due, is tried again when there was no room, and only then is due no more.
#include "core/memory/gathering.hpp"

#include <gtest/gtest.h>

namespace am::core::gathering_test {

constexpr Count longest = Gathering::longest_ns;

struct Sends {
  Gathering& gathering;
  std::vector<NodeId> full = {};  // peers that have no room
  std::vector<NodeId> tried = {};

  Status operator()(NodeId to) {
    tried.push_back(to);
    if (std::ranges::find(full, to) != full.end()) return Status::again;
    gathering.end(to);
    return Status::ok;
  }
};

class GatheringTest : public testing::Test {
 protected:
  std::vector<NodeId> tried_at(Count now, std::vector<NodeId> full = {}) {
    Sends sends{gathering_, std::move(full)};
    gathering_.send_due(now, [&](NodeId to) { return sends(to); });
    std::ranges::sort(sends.tried);
    return sends.tried;
  }
  using Nodes = std::vector<NodeId>;
  Gathering gathering_{std::pmr::get_default_resource()};
};

TEST_F(GatheringTest, SendsWhatIsDueAndNothingBefore) {
  EXPECT_FALSE(gathering_.any());
  EXPECT_EQ(gathering_.next_due(), std::nullopt);
  gathering_.begin(3, 1000);
  gathering_.begin(7, 1500);
  EXPECT_EQ(gathering_.next_due(), 1000 + longest);
  EXPECT_EQ(tried_at(999 + longest), Nodes{});
  EXPECT_EQ(tried_at(1000 + longest), Nodes{3});
  EXPECT_EQ(gathering_.next_due(), 1500 + longest);
  EXPECT_TRUE(gathering_.any());
  EXPECT_EQ(tried_at(5000 + longest), Nodes{7});
  EXPECT_FALSE(gathering_.any());
}

// Else whoever waits for the next time would do so again and again, though only room can help.
TEST_F(GatheringTest, WhatFindsNoRoomIsTriedEachTimeAndIsDueNoMore) {
  gathering_.begin(3, 1000);
  gathering_.begin(7, 1000);
  EXPECT_EQ(tried_at(1000 + longest, {3}), (Nodes{3, 7}));
  EXPECT_TRUE(gathering_.any());
  EXPECT_EQ(gathering_.next_due(), std::nullopt);
  EXPECT_EQ(tried_at(0, {3}), Nodes{3});
  gathering_.begin(9, 2000);
  EXPECT_EQ(gathering_.next_due(), 2000 + longest);
  EXPECT_EQ(tried_at(0), Nodes{3});
  gathering_.begin(3, 3000);  // the next ones for that peer are not late
  EXPECT_EQ(tried_at(2000 + longest), Nodes{9});
  EXPECT_EQ(tried_at(3000 + longest), Nodes{3});
}

TEST_F(GatheringTest, AllGoWhenTheNodePolls) {
  for (NodeId to = 0; to < 5; ++to) gathering_.begin(to, ~Count{0} - longest - 1);
  Sends sends{gathering_, {2}};
  gathering_.send_all([&](NodeId to) { return sends(to); });
  EXPECT_EQ(sends.tried.size(), 5u);
  gathering_.end(2);
  EXPECT_FALSE(gathering_.any());
}

}  // namespace am::core::gathering_test
