// From a free place to a node among the others, without networks, events or messages. Who is refused, and why:
// process/places_test.cpp and process/start_errors_test.cpp.
#include "core/node/joining.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/memory.hpp"
#include "support/check.hpp"

namespace am::core::joining_test {

using host::Standing;
using test::error_of;
using testing::HasSubstr;

class JoiningTest : public testing::Test {
 protected:
  static constexpr NodeId nodes = 3;

  JoiningTest() {
    for (NodeId node = 0; node < nodes; ++node)
      jobs_.push_back(
          {.id = node, .size = nodes, .memory = memory_, .found = "test", .processes = false, .leave = {}});
  }
  std::unique_ptr<Joining> place(NodeId node) {
    return std::make_unique<Joining>(jobs_[node], settings_, HandlerTable::of_this_program(), hosts_);
  }
  /// What a node is told that joins and meets the others.
  std::string meeting_of(NodeId node) {
    return error_of([&] {
      const auto joining = place(node);
      joining->fill_in_card(0x1000 * (node + 1));
      joining->meet_others();
    });
  }
  /// As if `node` had joined, too.
  void pretend(NodeId node) {
    place(node)->fill_in_card(0);
    board_.job().joined.fetch_add(1);
  }

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(nodes);
  const host::Board& board_ = memory_->board();
  const Hosts hosts_{board_};
  Settings settings_;
  std::vector<Job> jobs_;
};

TEST_F(JoiningTest, AllMeet) {
  std::vector<std::string> errors(nodes);
  {
    std::vector<std::jthread> threads;
    for (NodeId node = 0; node < nodes; ++node)
      threads.emplace_back([&, node] { errors[node] = meeting_of(node); });
  }
  for (NodeId node = 0; node < nodes; ++node) {
    EXPECT_EQ(errors[node], "no error");
    EXPECT_EQ(board_.standing(node), Standing::joined);
    EXPECT_EQ(board_.card(node).mapped_at, 0x1000 * (node + 1));
    EXPECT_EQ(board_.card(node).waiting_since_ns.load(), 0u) << "nobody waits any more";
    EXPECT_EQ(board_.card(node).nudges.load(), 1u) << "by the last one";
  }
}

TEST_F(JoiningTest, ASignalDoesNotReachAnotherPidNamespace) {
  settings_.dispatch = Dispatch::interrupt;
  pretend(0);
  pretend(1);
  board_.card(1).pid_namespace ^= 1;
  EXPECT_THAT(meeting_of(2), HasSubstr("node 1 is in another PID namespace"));
}

}  // namespace am::core::joining_test
