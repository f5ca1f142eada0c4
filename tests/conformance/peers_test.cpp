// Clause 11 of the contract, and what is no clause of it but an answer to bad input: a peer that leaves or dies, a node
// that does not exist, a payload that no machine holds.
#include <gmock/gmock.h>
#include <am/multicast.hpp>

#include "support/job.hpp"

namespace peers_test {

using namespace test;
using namespace testing;
using Peers = test::OnEveryNetwork;

/// Where a node leaves while others send to it, handlers may run until it has left: there these are made outside of the
/// nodes' bodies, one for each.
struct Seen {
  std::uint64_t lows = 0;
  std::uint64_t bytes = 0;
  bool go = false;
  int fits = -1;
  std::size_t know = 0;  // of all deaths
};
void fits(am::Reply& reply, int messages) { reply.state<Seen>().fits = messages; }
void low(am::Request& request) { ++request.state<Seen>().lows; }
void early(am::Request&) {}
void knows(am::Reply& reply) { ++reply.state<Seen>().know; }
void long_one(am::Request& request, am::Payload payload) {
  ++request.state<Seen>().lows;
  request.state<Seen>().bytes += payload.size();
}
void high(am::Reply& reply) { reply.state<Seen>().go = true; }
void answer_until_it_has_left(am::Request& request) {
  am::Status status = am::Status::ok;
  while (status == am::Status::ok || status == am::Status::again) {
    status = request.node().try_reply_to<high>(request.from());
    request.node().poll_replies();  // by which it learns of it
  }
  request.state<Seen>().fits = status == am::Status::unreachable ? 1 : 0;
}

TEST_P(Peers, UnknownNode) {
  run(2, [](am::Node& node) {
    const std::vector<char> bytes(5000);
    for (const am::NodeId nobody : {am::NodeId{2}, am::NodeId{1000}, ~am::NodeId{0}}) {
      const am::UnorderedTo unordered = am::unordered(nobody);
      const auto throws = [&](auto send) {
        check_throws<am::Error>([&] { static_cast<void>(send()); }, "no node " + std::to_string(nobody));
      };
      throws([&] { return node.request<low>(nobody); });
      throws([&] { return node.request<low>(unordered); });
      throws([&] { return node.reply_to<high>(nobody); });
      throws([&] { return node.reply_to<high>(unordered); });
      throws([&] { return node.request<long_one>(nobody, bytes); });
      throws([&] { return node.prepare<long_one>(nobody, 8); });
      for (const am::Status status :
           {node.try_request<low>(nobody), node.try_request<low>(unordered), node.try_reply_to<high>(nobody),
            node.try_reply_to<high>(unordered), node.try_request<long_one>(nobody, bytes),
            node.try_prepare<long_one>(nobody, 8).status()})
        check_equal(am::to_string(status), am::to_string(am::Status::no_such_node), "a failable send");
    }
    node.barrier();
  });
}

TEST_P(Peers, PayloadThatNoMachineHolds) {
  run<Seen>(2, [](am::Node& node, const Seen& seen) {
    const char byte = 0;
    const am::Payload huge(&byte, std::size_t{1} << 62);  // never read
    const am::NodeId other = 1 - node.id();
    check(node.request<long_one>(other, huge) == am::Status::too_big, "request");
    check(node.try_request<long_one>(other, huge) == am::Status::too_big, "try_request");
    check(node.try_request<long_one>(node.id(), huge) == am::Status::too_big, "to itself");
    am::Draft draft = node.prepare<long_one>(other, huge.size());
    check(draft.status() == am::Status::too_big && draft.commit() == am::Status::too_big, "in place");
    check_ok(node.request<low>(other), "the link is unharmed");
    node.wait_until([&] { return seen.lows == 1; });
    node.barrier();
  });
}

TEST_P(Peers, AHandlerThatAnswersANodeThatLeftIsTold) {
  std::array<Seen, 2> all;
  run(2, [&](am::Node& node) {
    Seen& seen = all[node.id()];
    node.attach(seen);
    node.barrier();
    if (node.id() == 0) return check_ok(node.request<answer_until_it_has_left>(1));  // leaves
    node.wait_until([&] { return seen.fits != -1; });
    check(seen.fits == 1, "unreachable");
  });
}

TEST_P(Peers, ANodeThatLeftIsUnreachable) {
  std::array<Seen, 3> all;
  run(3, [&](am::Node& node) {
    Seen& seen = all[node.id()];
    node.attach(seen);
    node.barrier();
    if (node.id() == 2) return;  // leaves
    am::Status status = am::Status::ok;
    while (status == am::Status::ok) {  // until the news is here; a waiting send learns of it while it waits
      status = node.request<low>(2);
      node.poll();
    }
    check(status == am::Status::unreachable, "a node that left is unreachable");
    const std::vector<char> bytes(100'000);
    const auto is_unreachable = [](auto attempt, std::string_view what) {
      am::Status got = attempt();  // not `again`, unless the network refuses everything now and then
      for (int i = 0; i < 100 && got == am::Status::again; ++i) got = attempt();
      check(got == am::Status::unreachable, what);
    };
    is_unreachable([&] { return node.try_request<low>(2); }, "try_request");
    is_unreachable([&] { return node.reply_to<high>(2); }, "reply_to");
    is_unreachable([&] { return node.request<long_one>(2, bytes); }, "a long one");
    is_unreachable([&] { return node.try_request<long_one>(2, bytes); }, "a long failable one");
    is_unreachable([&] { return node.prepare<long_one>(2, 8).status(); }, "prepare");
    is_unreachable([&] { return node.multicast<low>(am::Group{2}); }, "multicast to it alone");
    const am::NodeId other = 1 - node.id();
    check_ok(node.request<low>(other), "the other one is reachable");
    node.wait_until([&] { return seen.lows == 1; });
    check_ok(node.reply_to<high>(other));
    node.wait_until([&] { return seen.go; });
  });
}

// What a node has been told `ok` for arrives although it leaves right afterwards: short ones, ordered and not, and the copy of a
// long one that the network has not taken yet.
TEST_P(Peers, WhatALeavingNodeSentArrives) {
  run<Seen>(2, [](am::Node& node, Seen& seen) {
    constexpr std::size_t size = 3'000'000;
    if (node.id() == 0) {
      for (int i = 0; i < 50; ++i) {
        check_ok(node.request<low>(1));
        check_ok(node.request<low>(am::unordered(1)));
      }
      const std::vector<char> bytes(size);
      return check_ok(
          test::send_when_there_is_room(node, [&] { return node.try_request<long_one>(1, bytes); }));
    }
    node.wait_until([&] { return seen.lows == 101; });
    check_equal(seen.bytes, size, "bytes of the long one");
  });
}

// Two nodes that leave owing each other long messages: neither takes them any more, and neither waits for ever.
TEST_P(Peers, TwoThatLeaveDoNotWaitForEachOther) {
  run<Seen>(2, [](am::Node& node, Seen&) {
    bool accepted = false;
    for (int i = 0; i < 20; ++i) {  // a network with faults refuses the first ones
      for (const am::NodeId to : {1 - node.id(), node.id()})
        accepted |= node.try_request<long_one>(to, std::vector<char>(4'000'000)) == am::Status::ok;
    }
    check(accepted, "a long failable one");
    // The object that handlers would use ends here, before the node does: no handler may run any more.
  });
}

TEST_P(Peers, MembersPassOnWhatTheyHoldBeforeTheyLeave) {
  std::array<Seen, 4> all;
  run(4, [&](am::Node& node) {
    Seen& seen = all[node.id()];
    node.attach(seen);
    if (node.id() == 0) check_ok(node.multicast<low>(am::Group{1, 2, 3}));
    if (node.id() == 3) node.wait_until([&] { return seen.lows == 1; });
    // Nodes 1 and 2 leave without a look at their messages, as soon as node 0 has sent: the barrier's word goes beside
    // the messages, so they may not have polled.
    node.barrier();
  });
}

// The same where the ring to the next member is full, and more than a poll takes lies between two multicasts.
TEST_P(Peers, MembersPassOnWhatLiesBehindMuchElse) {
  run<Seen>(3, [](am::Node& node, Seen& seen) {
    node.enable_event(am::Event::low_message, false);
    if (node.id() == 1) {
      const std::uint64_t fit = test::fill([&](std::uint64_t) { return node.try_request<low>(2); });
      check_ok(node.reply_to<fits>(0, static_cast<int>(fit)), "on the network that is not full");
    }
    node.barrier();
    if (node.id() == 0) {
      node.wait_until([&] { return seen.fits >= 0; });
      const std::array<char, 1> byte{};
      check_ok(node.multicast<long_one>(am::Group{1, 2}, byte));
      constexpr int fit_everywhere = 34;  // node 1 may be reached by another network than node 2
      for (int i = 0; i < std::min(seen.fits / 2, fit_everywhere); ++i)
        check_ok(node.request<low>(1), "what lies between");
      check_ok(node.multicast<long_one>(am::Group{1, 2}, byte));
    }
    node.barrier();
    if (node.id() != 2) return;  // leaves
    node.enable_event(am::Event::low_message, true);
    node.wait_until([&] { return seen.bytes == 2; });
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Peers, test::cells_of<Peers>(), test::name_of);

TEST(Death, SurvivorsAreToldAndGoOn) {
  const auto body = [](am::Node& node, const Seen& seen) {
    am::NodeId dead = am::NodeId{99};
    node.on_peer_death([&](am::Node&, am::NodeId who) { dead = who; });
    if (node.id() == 3) node.enable_low_events(false);  // else it might take all of the long message in time
    node.barrier();
    if (node.id() == 2) {
      static_cast<void>(
          node.try_request<long_one>(3, std::vector<char>(4'000'000)));  // dies in the middle of it
      std::raise(SIGKILL);
    }
    node.wait_until([&] { return dead == 2; });
    node.enable_low_events(true);
    check(node.request<low>(2) == am::Status::unreachable, "a dead node is unreachable");
    check(node.reply_to<high>(2) == am::Status::unreachable, "at either priority");
    // The survivors talk as before.
    for (const am::NodeId to : {am::NodeId{0}, am::NodeId{1}, am::NodeId{3}}) check_ok(node.request<low>(to));
    node.wait_until([&] { return seen.lows == 3; });
  };
  test::run_with_killed(4, 2, test::with_state<Seen>(body));
}

// Members die, in the row, in the column and in the corner of each other one's way: whoever lives gets all that is sent from then on.
TEST(Death, OfMembersCutsNobodyOff) {
  static constexpr std::array<am::NodeId, 3> killed = {1, 3, 8};
  static constexpr std::array<am::NodeId, 6> living = {0, 2, 4, 5, 6, 7};
  const auto body = [](am::Node& node, const Seen& seen) {
    std::size_t dead = 0;
    node.on_peer_death([&](am::Node&, am::NodeId) { ++dead; });
    const am::Group all = am::Group::all(node);
    // Before, so that some die in the middle of it: of that nothing is known afterwards but that it ends.
    for (int i = 0; i < 20; ++i) check_ok(node.multicast<early>(all));
    if (std::ranges::find(killed, node.id()) != killed.end()) std::raise(SIGKILL);
    node.wait_until([&] { return dead == killed.size(); });
    // Who does not know yet would still pass on to the dead.
    for (const am::NodeId to : living) check_ok(node.reply_to<knows>(to));
    node.wait_until([&] { return seen.know == living.size(); });
    for (int i = 0; i < 10; ++i) {
      check_ok(node.multicast<low>(all));
      check_ok(node.multicast<long_one>(all, std::vector<char>(3'000)), "a long one");
    }
    for (const am::NodeId gone : killed)
      check(node.multicast<low>(am::Group{gone}) == am::Status::unreachable, "to a dead one alone");
    node.wait_until([&] { return seen.lows == living.size() * 20; });
    check_equal(seen.bytes, living.size() * 10 * 3'000, "bytes of the long ones");
  };
  using Networks = std::vector<std::string>;
  for (const std::string& transport :
       test::sanitized ? Networks{"tcp", "t1:3x3"} : Networks{"shm", "tcp", "t1:3x3", "t1:1x9", "mmachine"}) {
    SCOPED_TRACE(transport);
    const test::Environment network("AM_TRANSPORT", transport);
    test::run_with_killed(9, killed, test::with_state<Seen>(body));
  }
}

TEST(Death, EndsAWaitThatNeedsTheNode) {
  const auto body = [](am::Node& node, const Seen& seen) {
    node.on_peer_death([](am::Node&, am::NodeId) {});
    node.barrier();
    check(!node.is_gone(2) && !node.is_gone(99), "nobody is gone");
    if (node.id() == 2) {
      static_cast<void>(node.request<low>(0));
      static_cast<void>(node.request<low>(1));
      std::raise(SIGKILL);
    }
    node.wait_until([&] { return seen.lows == 1; }, 2);  // its last message counts
    check_throws<am::Error>([&] { node.wait_until([] { return false; }, 2); }, "node 2");
    check(node.is_gone(2), "it is gone");
    check_throws<am::Error>([&] { node.wait_until([] { return false; }, std::nullopt); }, "node 2");
    // What another node brings comes all the same.
    const am::NodeId other = 1 - node.id();
    static_cast<void>(node.reply_to<high>(other));
    node.wait_until([&] { return seen.go; }, other);
    node.wait_until([&] { return seen.go; }, std::nullopt);  // holds already
  };
  test::run_with_killed(3, 2, test::with_state<Seen>(body));
}

TEST(Death, IsToldWhileAPostWaitsForIt) {
  test::run_with_killed(2, 1, [](am::Node& node) {
    bool dead = false;
    node.on_peer_death([&](am::Node&, am::NodeId) { dead = true; });
    node.barrier();
    if (node.id() == 1) std::raise(SIGKILL);
    bool posted = false;
    node.post([&](am::Node& here) {
      here.wait_until([&] { return dead; });
      posted = true;
    });
    node.wait_until([&] { return posted; });
  });
}

/// What node 0 of a job says, which is ended by that.
template <class F>
std::string last_words_of_node_0(F job) {
  test::seed();
  testing::internal::CaptureStderr();
  EXPECT_EQ(test::error_of<std::exception>(job), "node 0: exit code 1");
  return testing::internal::GetCapturedStderr();
}

TEST(Death, WithoutASurvivorTheJobEndsWithAMessageThatNamesTheNode) {
  const auto body = [](am::Node& node) {
    node.barrier();
    if (node.id() == 1) std::raise(SIGKILL);
    node.wait_until([] { return false; });
  };
  EXPECT_THAT(last_words_of_node_0([&] { test::run_with_killed(2, 1, body); }),
              AllOf(HasSubstr("am: node 0: node 1 (pid "), HasSubstr("ending with it")));
}

TEST(Death, AWaitThatTakesTooLongIsReportedAndEnds) {
  const test::Environment timeout("AM_TIMEOUT", "300ms");
  const test::Environment report("AM_REPORT_AFTER", "50ms");
  const auto wait = [](am::Node& node) { node.wait_until([] { return false; }); };
  EXPECT_THAT(last_words_of_node_0([&] { test::Processes(1, wait).wait(); }),
              AllOf(HasSubstr("has waited"), HasSubstr("gave up after"), HasSubstr("wait_until")));
}

}  // namespace peers_test
