// Who is in the job, as one node learns it from the board: no node runs here.
#include "core/membership/membership.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/membership/standing.hpp"
#include "host/bell.hpp"

namespace am::core::membership_test {

using host::Standing;
using Gone = std::vector<std::pair<NodeId, bool>>;  // who, and whether by death

class MembershipTest : public testing::Test {
 protected:
  MembershipTest() {
    for (NodeId node = 0; node < 4; ++node) set(node, Standing::joined);
    board_.card(0).survives = 1;
    if (!board_.life(2).take()) ADD_FAILURE() << "a life lock that nobody has";
  }
  ~MembershipTest() override { board_.life(2).give_back(); }

  void set(NodeId node, Standing standing) {
    board_.card(node).standing = static_cast<std::uint32_t>(standing);
  }
  static Gone look(Membership& membership, bool thoroughly = false) {
    Gone gone;
    membership.look(thoroughly, [&](NodeId peer, bool died) { gone.emplace_back(peer, died); });
    return gone;
  }
  [[nodiscard]] Membership of_node_0(bool under_amrun = false) {
    Settings settings;
    if (under_amrun) settings.memory_fd = memory_->fd();
    return Membership(job_, settings, onlooker_);
  }

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(4);
  const host::Board& board_ = memory_->board();
  Onlooker onlooker_{memory_};
  Job job_{.id = 0, .size = 4, .memory = memory_, .found = "test", .processes = true, .leave = {}};
};

TEST_F(MembershipTest, EachOtherIsGoneOnce) {
  Membership membership = of_node_0();
  EXPECT_TRUE(look(membership).empty());
  EXPECT_FALSE(membership.any_gone());
  mark_left(board_, 1);
  EXPECT_FALSE(membership.is_gone(1)) << "it has not looked yet";
  EXPECT_EQ(look(membership), (Gone{{1, false}}));
  EXPECT_TRUE(membership.is_gone(1) && membership.any_gone());
  mark_dead(board_, 3, 9);
  EXPECT_EQ(look(membership), (Gone{{3, true}}));
  EXPECT_TRUE(look(membership).empty());
  mark_left(board_, 0);
  EXPECT_TRUE(look(membership).empty()) << "its own end is no news";
}

TEST_F(MembershipTest, WhoIsMarkedIsToldOfByANudge) {
  host::Bell bell(board_, 2);
  set(3, Standing::absent);
  mark_left(board_, 1);
  EXPECT_TRUE(bell.nudged());
  EXPECT_EQ(board_.card(3).nudges.load(), 0u) << "it sees the board when it joins";
  mark_lost(board_, 1);
  EXPECT_FALSE(bell.nudged()) << "it has said itself that it left";
  EXPECT_EQ(board_.standing(1), Standing::left);
}

/// Without a launcher that knows more, a life lock that is free is a death.
TEST_F(MembershipTest, ALifeLockThatNobodyHoldsIsADeath) {
  Membership membership = of_node_0();
  EXPECT_TRUE(look(membership).empty());
  EXPECT_EQ(look(membership, true), (Gone{{1, true}, {3, true}})) << "node 2 holds its own";
  EXPECT_EQ(board_.standing(1), Standing::dead);
  EXPECT_EQ(board_.standing(2), Standing::joined);
}

/// amrun has the first word about its children, who are not looked at; of others it may know more for a while.
TEST_F(MembershipTest, UnderAmrunADeathIsFoundAtTheSecondLook) {
  board_.card(3).child_of_launcher = 1;
  Membership membership = of_node_0(true);
  EXPECT_TRUE(look(membership, true).empty()) << "a suspicion";
  Gone gone;
  while (gone.empty()) gone = look(membership, true);  // a quarter of a second later
  EXPECT_EQ(gone, (Gone{{1, true}}));
}

TEST_F(MembershipTest, DeathEndsWhoDoesNotSurvive) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Membership membership = of_node_0();
  mark_left(board_, 1);
  board_.card(0).survives = 0;
  EXPECT_EQ(look(membership), (Gone{{1, false}})) << "leaving ends nobody";
  const auto end_when = [&](auto mark) {
    mark();
    look(membership);
  };
  EXPECT_EXIT(end_when([&] { mark_dead(board_, 3, 9); }), testing::ExitedWithCode(1),
              "node 0: node 3 .* was killed by signal 9; ending with it");
  EXPECT_EXIT(end_when([&] { mark_lost(board_, 2); }), testing::ExitedWithCode(1),
              "node 0: node 2 .* lives and is out of reach; ending with it");
}

}  // namespace am::core::membership_test
