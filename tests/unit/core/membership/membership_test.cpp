// Who is in the job, as one node learns it from the board: no node runs here. Deaths otherwise: conformance/peers_test.cpp.
#include "core/membership/membership.hpp"

#include <gtest/gtest.h>

#include "core/membership/standing.hpp"
#include "host/bell.hpp"

namespace am::core::membership_test {

using host::Standing;

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

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(4);
  const host::Board& board_ = memory_->board();
};

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

/// amrun has the first word about its children, who are not looked at; of others it may know more for a while.
TEST_F(MembershipTest, UnderAmrunADeathIsFoundAtTheSecondLook) {
  board_.card(3).child_of_launcher = 1;
  const Job job{.id = 0, .size = 4, .memory = memory_, .found = "test", .processes = true, .leave = {}};
  Settings settings;
  settings.memory_fd = memory_->fd();
  Onlooker onlooker(memory_);
  Membership membership(job, settings, onlooker);
  using Gone = std::vector<std::pair<NodeId, bool>>;  // who, and whether by death
  Gone gone;
  const auto look = [&] {
    membership.look(true, [&](NodeId peer, bool died) { gone.emplace_back(peer, died); });
  };
  look();
  EXPECT_TRUE(gone.empty()) << "a suspicion";
  while (gone.empty()) look();  // a quarter of a second later
  EXPECT_EQ(gone, (Gone{{1, true}})) << "node 2 holds its own life lock";
}

}  // namespace am::core::membership_test
