// Nodes that end in unusual ways, and living ones that look dead: nothing is delivered twice, nobody waits for ever.
// This program is also the program of its jobs: amrun starts it with --node and the name of what a node shall do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <am/am.hpp>
#include <am/draft.hpp>
#include <am/multicast.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "process/command.hpp"

namespace process_test {
namespace {

// -- what nodes do ------------------------------------------------------------------------------------------------------

struct Seen {
  int multicasts = 0;
  int answers = 0;
  bool finish = false;

  void come(am::Request& request) {
    ++multicasts;
    if (request.node().id() == 1) std::exit(0);
    static_cast<void>(request.reply<&Seen::answer>());
  }
  void answer(am::Reply&) { ++answers; }
  void end(am::Request&) { finish = true; }
  void take(am::Request&, am::Payload) {}
};

void wait_until_it_left(am::Node& node, am::NodeId peer) {
  while (node.try_request<&Seen::end>(peer) != am::Status::unreachable) node.poll();
}

/// Node 1 exits in the handler of a multicast that it has passed on to nodes 2 and 3.
int exit_in_a_handler() {
  am::Node& node = am::start(0, nullptr);
  Seen seen;
  node.attach(seen);
  if (node.id() == 0) {
    static_cast<void>(node.multicast<&Seen::come>(am::Group{1, 2, 3}));
    node.wait_until([&] { return seen.answers == 2; });
    wait_until_it_left(node, 1);
    for (const am::NodeId to : {am::NodeId{2}, am::NodeId{3}})
      static_cast<void>(node.request<&Seen::end>(to));
    return 0;
  }
  node.wait_until([&] { return seen.finish; });
  while (node.poll() != 0) {
  }
  std::printf("%d multicast\n", seen.multicasts);
  return 0;
}

int exit_with_a_draft() {
  am::Node& node = am::start(0, nullptr);
  Seen seen;
  node.attach(seen);
  node.barrier();
  const am::Draft draft = node.prepare<&Seen::take>(1 - node.id(), 8);
  std::exit(draft ? 0 : 3);
}

/// Node 1 leaves while the others do not stop sending to it.
int leave_under_fire() {
  am::Node& node = am::start(0, nullptr);
  Seen seen;
  node.attach(seen);
  node.barrier();
  if (node.id() != 1) wait_until_it_left(node, 1);
  return 0;
}

/// Node 1 closes all that it does not know, as daemons do, and so loses the lock that says that it lives.
int close_descriptors() {
  am::Node& node = am::start(0, nullptr);
  Seen seen;
  node.attach(seen);
  node.barrier();
  if (node.id() == 1) {
    for (int fd = 3; fd < 64; ++fd) close(fd);
  }
  bool long_enough = false;  // for several looks at the locks
  constexpr am::Count looks_ns = 1'500'000'000;
  node.on_timelet(node.count() + looks_ns, [&](am::LowEvent&) { long_enough = true; });
  node.wait_until([&] { return long_enough; });
  static_cast<void>(node.request<&Seen::end>(1 - node.id()));
  node.wait_until([&] { return seen.finish; });
  node.barrier();
  return 0;
}

// -- tests --------------------------------------------------------------------------------------------------------------

Outcome run_job(int nodes, const std::string& role, const std::vector<std::string>& environment = {}) {
  return run({amrun, "-n", std::to_string(nodes), this_program(), "--node", role}, {environment, {}});
}

TEST(Leaving, InAHandlerOfAMulticastPassesItOnOnce) {
  const Outcome outcome = run_job(4, "exit_in_a_handler");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "1 multicast\n1 multicast\n");
}

TEST(Leaving, WithADraftWaitsForNothing) {
  const Outcome outcome = run_job(2, "exit_with_a_draft", {"AM_TIMEOUT=20s"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(Leaving, EndsThoughOthersDoNotStopSending) {
  for (const char* faults :
       {"AM_FAULTS=", "AM_FAULTS=seed=3,delay=1", "AM_FAULTS=seed=4,refuse=0.3,delay=0.5"}) {
    const Outcome outcome = run_job(4, "leave_under_fire", {faults});
    EXPECT_EQ(outcome.exit_code, 0) << faults;
    EXPECT_EQ(outcome.err, "") << faults;
  }
}

TEST(Leaving, IsNotWhatClosingDescriptorsMeans) {
  const Outcome outcome = run_job(2, "close_descriptors");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace process_test

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--node") {
    const std::map<std::string_view, int (*)()> roles{{"exit_in_a_handler", process_test::exit_in_a_handler},
                                                      {"exit_with_a_draft", process_test::exit_with_a_draft},
                                                      {"leave_under_fire", process_test::leave_under_fire},
                                                      {"close_descriptors", process_test::close_descriptors}};
    return roles.at(argv[2])();
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
