// Clause 11 of the contract, and what is no clause of it but an answer to bad input: a peer that leaves or dies, a node
// that does not exist, a payload that no machine holds.
#include <am/multicast.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "support/job.hpp"

namespace peers_test {

using test::check;
using test::check_equal;
using test::check_throws;
using Peers = test::OnEverySubstrate;

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

TEST_P(Peers, UnknownNode) {
  run(2, [](am::Node& node) {
    Seen seen;
    node.attach(seen);
    for (const am::NodeId nobody : {am::NodeId{2}, am::NodeId{1000}, ~am::NodeId{0}}) {
      check_throws<am::Error>([&] { static_cast<void>(node.request<low>(nobody)); },
                              "no node " + std::to_string(nobody));
      check_throws<am::Error>([&] { static_cast<void>(node.reply_to<high>(nobody)); }, "no node");
      check_throws<am::Error>(
          [&] { static_cast<void>(node.request<long_one>(nobody, std::vector<char>(5000))); }, "no node");
      check(node.try_request<low>(nobody) == am::Status::no_such_node, "try_request");
      check(node.try_request<long_one>(nobody, std::vector<char>(5000)) == am::Status::no_such_node,
            "a long one");
      check(node.try_reply_to<high>(nobody) == am::Status::no_such_node, "try_reply_to");
    }
    node.barrier();
  });
}

TEST_P(Peers, PayloadThatNoMachineHolds) {
  run(2, [](am::Node& node) {
    Seen seen;
    node.attach(seen);
    const char byte = 0;
    const am::Payload huge(&byte, std::size_t{1} << 62);  // never read
    check(node.request<long_one>(1 - node.id(), huge) == am::Status::too_big, "request");
    check(node.try_request<long_one>(1 - node.id(), huge) == am::Status::too_big, "try_request");
    check(node.try_request<long_one>(node.id(), huge) == am::Status::too_big, "to itself");
    check(node.request<low>(1 - node.id()) == am::Status::ok, "the link is unharmed");
    node.wait_until([&] { return seen.lows == 1; });
    node.barrier();
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
    // Not `again`, unless the network refuses everything now and then.
    const auto answer = [](auto&& attempt) {
      am::Status got = attempt();
      for (int i = 0; i < 100 && got == am::Status::again; ++i) got = attempt();
      return got;
    };
    check(answer([&] { return node.try_request<low>(2); }) == am::Status::unreachable, "try_request");
    check(node.reply_to<high>(2) == am::Status::unreachable, "reply_to");
    check(node.request<long_one>(2, std::vector<char>(100'000)) == am::Status::unreachable, "a long one");
    check(answer([&] { return node.try_request<long_one>(2, std::vector<char>(100'000)); }) ==
              am::Status::unreachable,
          "a long failable one");
    check(node.prepare<long_one>(2, 8).status() == am::Status::unreachable, "prepare");
    check(node.multicast<low>(am::Group{2}) == am::Status::unreachable, "multicast to it alone");
    const am::NodeId other = 1 - node.id();
    check(node.request<low>(other) == am::Status::ok, "the other one is reachable");
    node.wait_until([&] { return seen.lows == 1; });
    check(node.reply_to<high>(other) == am::Status::ok, "reply_to");
    node.wait_until([&] { return seen.go; });
  });
}

// What a node has been told `ok` for arrives although it leaves right afterwards: short ones, a long one, and a copy of a
// long one that the network has not taken yet.
TEST_P(Peers, WhatALeavingNodeSentArrives) {
  run(2, [](am::Node& node) {
    Seen seen;
    node.attach(seen);
    constexpr std::size_t size = 3'000'000;
    if (node.id() == 0) {
      for (int i = 0; i < 50; ++i) check(node.request<low>(1) == am::Status::ok, "request");
      am::Status status = am::Status::again;
      while (status == am::Status::again) status = node.try_request<long_one>(1, std::vector<char>(size));
      check(status == am::Status::ok, "a long failable one");
      return;
    }
    node.wait_until([&] { return seen.lows == 51; });
    check_equal(seen.bytes, size, "bytes of the long one");
  });
}

// Two nodes that leave owing each other long messages: neither takes them any more, and neither waits for ever.
TEST_P(Peers, TwoThatLeaveDoNotWaitForEachOther) {
  run(2, [](am::Node& node) {
    Seen seen;
    node.attach(seen);
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
    if (node.id() == 0) check(node.multicast<low>(am::Group{1, 2, 3}) == am::Status::ok, "multicast");
    if (node.id() == 3) node.wait_until([&] { return seen.lows == 1; });
    // Nodes 1 and 2 leave without a look at their messages, as soon as node 0 has sent: the barrier's word goes beside
    // the messages, so they may not have polled.
    node.barrier();
  });
}

// The same where the ring to the next member is full, and more than a poll takes lies between two multicasts.
TEST_P(Peers, MembersPassOnWhatLiesBehindMuchElse) {
  run(3, [](am::Node& node) {
    Seen seen;
    node.attach(seen);
    node.enable_event(am::Event::low_message, false);
    int fit = 0;
    for (int refused = 0; node.id() == 1 && refused < 100;) {
      const bool ok = node.try_request<low>(2) == am::Status::ok;
      refused = ok ? 0 : refused + 1;
      fit += ok ? 1 : 0;
    }
    if (node.id() == 1)
      check(node.reply_to<fits>(0, fit) == am::Status::ok, "on the network that is not full");
    node.barrier();
    if (node.id() == 0) {
      node.wait_until([&] { return seen.fits >= 0; });
      const std::array<char, 1> byte{};
      check(node.multicast<long_one>(am::Group{1, 2}, byte) == am::Status::ok, "the first");
      constexpr int fit_everywhere = 34;  // node 1 may be reached by another network than node 2
      for (int i = 0; i < std::min(seen.fits / 2, fit_everywhere); ++i)
        check(node.request<low>(1) == am::Status::ok, "what lies between");
      check(node.multicast<long_one>(am::Group{1, 2}, byte) == am::Status::ok, "the second");
    }
    node.barrier();
    if (node.id() != 2) return;  // leaves
    node.enable_event(am::Event::low_message, true);
    node.wait_until([&] { return seen.bytes == 2; });
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Peers, test::cells_of<Peers>(), test::name_of);

// -- death -----------------------------------------------------------------------------------------------------------------

TEST(Death, SurvivorsAreToldAndGoOn) {
  test::seed();
  const test::Environment timeout("AM_TIMEOUT", "120s");
  test::Processes job(4, [](am::Node& node) {
    Seen seen;
    node.attach(seen);
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
    for (const am::NodeId to : {am::NodeId{0}, am::NodeId{1}, am::NodeId{3}})
      check(node.request<low>(to) == am::Status::ok, "request");
    node.wait_until([&] { return seen.lows == 3; });
  });
  job.expect_signal(2, SIGKILL);
  job.wait();
}

// Members die, in the row, in the column and in the corner of each other one's way: whoever lives gets all that is sent from then on.
void killed_members(const char* transport) {
  SCOPED_TRACE(transport);
  test::seed();
  const test::Environment timeout("AM_TIMEOUT", "120s");
  const test::Environment network("AM_TRANSPORT", transport);
  constexpr am::NodeId nodes = 9;
  constexpr std::array<am::NodeId, 3> killed = {1, 3, 8};
  constexpr std::array<am::NodeId, 6> living = {0, 2, 4, 5, 6, 7};
  test::Processes job(nodes, [&](am::Node& node) {
    Seen seen;
    node.attach(seen);
    std::size_t dead = 0;
    node.on_peer_death([&](am::Node&, am::NodeId) { ++dead; });
    const am::Group all = am::Group::all(node);
    // Before, so that some die in the middle of it: of that nothing is known afterwards but that it ends.
    for (int i = 0; i < 20; ++i) check(node.multicast<early>(all) == am::Status::ok, "before");
    if (std::ranges::find(killed, node.id()) != killed.end()) std::raise(SIGKILL);
    node.wait_until([&] { return dead == killed.size(); });
    // Who does not know yet would still pass on to the dead.
    for (const am::NodeId to : living) check(node.reply_to<knows>(to) == am::Status::ok, "to the living");
    node.wait_until([&] { return seen.know == living.size(); });
    for (int i = 0; i < 10; ++i) {
      check(node.multicast<low>(all) == am::Status::ok, "a short one");
      check(node.multicast<long_one>(all, std::vector<char>(3'000)) == am::Status::ok, "a long one");
    }
    for (const am::NodeId gone : killed)
      check(node.multicast<low>(am::Group{gone}) == am::Status::unreachable, "to a dead one alone");
    node.wait_until([&] { return seen.lows == living.size() * 20; });
    check_equal(seen.bytes, living.size() * 10 * 3'000, "bytes of the long ones");
  });
  for (const am::NodeId node : killed) job.expect_signal(node, SIGKILL);
  job.wait();
}

TEST(Death, OfMembersCutsNobodyOff) {
  for (const char* const transport : {"shm", "tcp", "t1:3x3", "t1:1x9", "mmachine"})
    killed_members(transport);
}

TEST(Death, EndsAWaitThatNeedsTheNode) {
  test::seed();
  const test::Environment timeout("AM_TIMEOUT", "120s");
  test::Processes job(3, [](am::Node& node) {
    Seen seen;
    node.attach(seen);
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
  });
  job.expect_signal(2, SIGKILL);
  job.wait();
}

TEST(Death, IsToldWhileAPostWaitsForIt) {
  test::seed();
  const test::Environment timeout("AM_TIMEOUT", "120s");
  test::Processes job(2, [](am::Node& node) {
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
  job.expect_signal(1, SIGKILL);
  job.wait();
}

TEST(Death, WithoutASurvivorTheJobEndsWithAMessageThatNamesTheNode) {
  test::seed();
  testing::internal::CaptureStderr();
  std::string failure;
  try {
    test::Processes job(2, [](am::Node& node) {
      node.barrier();
      if (node.id() == 1) std::raise(SIGKILL);
      node.wait_until([] { return false; });
    });
    job.expect_signal(1, SIGKILL);
    job.wait();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(failure, "node 0: exit code 1");
  EXPECT_NE(said.find("am: node 0: node 1 (pid "), std::string::npos) << said;
  EXPECT_NE(said.find("ending with it"), std::string::npos) << said;
}

TEST(Death, AWaitThatTakesTooLongIsReportedAndEnds) {
  test::seed();
  testing::internal::CaptureStderr();
  const test::Environment timeout("AM_TIMEOUT", "300ms");
  const test::Environment report("AM_REPORT_AFTER", "50ms");
  std::string failure;
  try {
    test::Processes(1, [](am::Node& node) { node.wait_until([] { return false; }); }).wait();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(failure, "node 0: exit code 1");
  EXPECT_NE(said.find("has waited"), std::string::npos) << said;
  EXPECT_NE(said.find("gave up after"), std::string::npos) << said;
  EXPECT_NE(said.find("wait_until"), std::string::npos) << said;
}

}  // namespace peers_test
