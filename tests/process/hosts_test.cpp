// Jobs of several hosts, pretended in one process (support/hosts.hpp): barriers, departures, deaths and reports across hosts.
// The contract itself is tested on two hosts by the conformance suite.
#include "support/hosts.hpp"

#include <gmock/gmock.h>
#include <am/global.hpp>

#include <latch>

#include "core/membership/standing.hpp"
#include "support/job.hpp"

namespace hosts_test {

using am::Node;
using am::NodeId;
using namespace test;
using testing::HasSubstr;

am::core::Settings settings_for(am::Dispatch dispatch, am::core::PeerDeath death = am::core::PeerDeath::end) {
  am::core::Settings settings = am::core::read_settings(environ);
  settings.dispatch = dispatch;
  settings.peer_death = death;
  settings.timeout_ns = 120'000'000'000;
  return settings;
}

am::core::Settings survivors() { return settings_for(am::Dispatch::poll, am::core::PeerDeath::survive); }

class Hosts : public testing::TestWithParam<am::Dispatch> {};

struct Counted {
  std::uint64_t messages = 0;
  std::vector<NodeId> dead;
};
void count(am::Request& request) { ++request.state<Counted>().messages; }

/// Each node counts what comes.
template <class F>
void run_counting(PretendedHosts& hosts, const am::core::Settings& settings, F body) {
  hosts.run(settings, with_state<Counted>(body));
}

/// When it returns, the barrier has let all through.
void meet(Node& node, Counted& counted, std::latch& together) {
  node.on_peer_death([&](Node&, NodeId dead) { counted.dead.push_back(dead); });
  node.barrier();
  together.arrive_and_wait();
}

TEST_P(Hosts, EachPeerIsReachedByWhatLeadsThere) {
  PretendedHosts hosts(4, 2);
  run_counting(hosts, settings_for(GetParam()), [&](Node& node, Counted& counted) {
    am::core::Engine& engine = node.engine();
    check_equal(describe(engine.networks()), "shared memory to 2 nodes, post to 2 nodes", "the networks");
    for (NodeId peer = 0; peer < node.size(); ++peer) {
      check(node.request<count>(peer) == am::Status::ok, "request");
      const bool here = hosts.host_of(peer) == hosts.host_of(node.id());
      check_equal(goes_by(am::MemoryReach::Way::mapped, engine.network().memory_reach(peer)), here,
                  "loads and stores reach a neighbour only");
    }
    node.wait_until([&] { return counted.messages == 4; });
    node.barrier();
    for (NodeId peer = 0; peer < node.size(); ++peer) {
      check_equal(engine.onlooker().queues().connected(node.id(), peer),
                  hosts.host_of(peer) == hosts.host_of(node.id()), "rings to neighbours only");
    }
    node.barrier();
  });
}

// Also those who sleep in it, and those who leave as soon as it lets them through: they are no fault of the others.
TEST_P(Hosts, BarriersLetNobodyThroughEarlyAndLoseNobodyWhoLeaves) {
  test::Random random(test::seed());
  const std::uint64_t jobs = test::sanitized ? 5 : 25;
  for (std::uint64_t job = 0; job < jobs; ++job) {
    const auto nodes = static_cast<NodeId>(1 + random.below(7));
    const auto count_of_hosts = static_cast<std::uint32_t>(1 + random.below(nodes));
    PretendedHosts hosts(nodes, count_of_hosts);
    std::atomic<std::uint64_t> arrived{0};
    constexpr std::uint64_t barriers = 30;
    hosts.run(settings_for(GetParam()), [&](Node& node) {
      test::Random own(test::mix(test::seed(), node.id()));
      for (std::uint64_t i = 1; i <= barriers; ++i) {
        if (own.one_in(20)) std::this_thread::sleep_for(std::chrono::microseconds(own.below(2000)));
        arrived.fetch_add(1);
        node.barrier();
        check(arrived.load() >= i * nodes, "all have arrived");
      }
    });
    ASSERT_EQ(arrived, barriers * nodes);
  }
}

/// A node that died is a thread that does nothing any more, until the others have ended.
class Deaths : public testing::TestWithParam<NodeId> {};

// Node 3 speaks for its host, node 0 hears for the other; 5 is neither.
TEST_P(Deaths, AreHeardOfOnEveryHost) {
  const NodeId victim = GetParam();
  PretendedHosts hosts(6, 2);
  std::latch together(6);
  std::latch ended(5);
  run_counting(hosts, survivors(), [&](Node& node, Counted& counted) {
    meet(node, counted, together);
    if (node.id() == victim) return ended.wait();
    if (node.id() == (victim + 1) % node.size())
      am::core::mark_dead(hosts.board(hosts.host_of(victim)), victim, SIGKILL);  // as its launcher does
    node.wait_until([&] { return !counted.dead.empty(); });
    check_equal(counted.dead.front(), victim, "who died");
    check(node.request<count>(victim) == am::Status::unreachable, "a send to the dead");
    check_throws<am::Error>([&] { node.barrier(); }, "node " + std::to_string(victim) + " (pid ");
    for (NodeId peer = 0; peer < node.size(); ++peer) {
      if (peer != victim) check(node.request<count>(peer) == am::Status::ok, "the others go on");
    }
    node.wait_until([&] { return counted.messages == 5; });
    check_equal(counted.dead.size(), 1u, "deaths");
    ended.arrive_and_wait();
  });
}

TEST_P(Deaths, AreToldByTheNetworkToo) {
  const NodeId victim = GetParam();
  PretendedHosts hosts(6, 2);
  std::latch together(6);
  std::latch ended(6);
  const std::uint32_t its_host = hosts.host_of(victim);
  run_counting(hosts, survivors(), [&](Node& node, Counted& counted) {
    meet(node, counted, together);
    if (node.id() == (victim + 3) % node.size()) hosts.post().cut(victim);
    if (hosts.host_of(node.id()) != its_host) {
      node.wait_until([&] { return !counted.dead.empty(); });
      check_equal(counted.dead.front(), victim, "who is lost");
      check(node.request<count>(victim) == am::Status::unreachable, "a send to the lost");
    }
    ended.arrive_and_wait();
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Deaths, testing::Values(0, 3, 5));

TEST(HostsDeathTest, ADeathOnAnotherHostEndsTheJobUnlessItSurvives) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        PretendedHosts hosts(4, 2);
        hosts.run(settings_for(am::Dispatch::poll), [&](Node& node) {
          if (node.id() != 0) node.on_peer_death([](Node&, NodeId) {});
          node.barrier();
          if (node.id() == 3) {
            am::core::mark_dead(hosts.board(1), 3, am::host::unknown_end);
            pause();
          }
          node.wait_until([] { return false; });
        });
      },
      testing::ExitedWithCode(1),
      "am: node 0: node 3 \\(pid [0-9]+, host .*\\) ended without leaving the job, or is out of reach; "
      "ending with it");
}

TEST_P(Hosts, NodesLeaveOneAfterTheOther) {
  PretendedHosts hosts(6, 3);
  run_counting(hosts, settings_for(GetParam(), am::core::PeerDeath::survive), [](Node& node, Counted&) {
    node.barrier();
    // The last ones first, so that each host has other speakers and hearers.
    for (NodeId leaves = node.size() - 1; leaves > node.id(); --leaves) {
      while (node.request<count>(leaves) != am::Status::unreachable) std::this_thread::yield();
    }
  });
}

/// Whoever leaves waits for nobody who stays, and is no dead one to whom it has spoken, though its network ends with it.
TEST(HostsOverLibfabric, ANodeLeavesWhileTheOthersStay) {
  PretendedHosts hosts(4, 2, PretendedHosts::Within::memory, "ofi:tcp");
  run_counting(hosts, survivors(), [&](Node& node, Counted& counted) {
    bool died = false;
    node.on_peer_death([&](Node&, NodeId) { died = true; });
    for (NodeId to = 0; to < node.size(); ++to) check(node.request<count>(to) == am::Status::ok, "request");
    node.wait_until([&] { return counted.messages == node.size(); });
    node.barrier();
    if (node.id() == node.size() - 1) return;
    node.wait_until([&] { return hosts.gone() != 0; });
    const auto later = std::chrono::steady_clock::now() + std::chrono::seconds(1);  // lifelines are looked at
    while (std::chrono::steady_clock::now() < later) node.poll();
    check(!died, "it has left in order");
    check(node.request<count>(node.size() - 1) == am::Status::unreachable, "and cannot be reached");
  });
}

/// It greets others only to tell them, and they may know by then.
TEST(HostsOverLibfabric, ANodeLeavesThatHasSpokenToFew) {
  PretendedHosts hosts(4, 2, PretendedHosts::Within::memory, "ofi:tcp");
  hosts.run(survivors(), [&](Node& node) {
    node.barrier();
    if (node.id() != 0) node.wait_until([&] { return hosts.gone() != 0; });
  });
}

/// Whom a send finds out of reach: the network says so in the middle of it, the program hears of it in a poll.
TEST(HostsOverTcp, ADeathThatASendFindsIsToldOfLater) {
  PretendedHosts hosts(2, 2, PretendedHosts::Within::memory, "tcp");
  std::latch told(1);
  hosts.run(survivors(), [&](Node& node) {
    if (node.id() == 1) return told.wait();
    Counted counted;
    node.on_peer_death([&](Node& here, NodeId dead) {
      counted.dead.push_back(dead);
      check(here.try_request<count>(dead) == am::Status::unreachable, "the link is closed");
    });
    node.engine().board().card(1).address[0] = 0;  // it does not say where it can be reached
    check(node.try_request<count>(1) == am::Status::ok, "the first send");
    check(node.engine().board().standing(1) == am::host::Standing::dead, "the network has found it gone");
    check(node.try_request<count>(1) == am::Status::unreachable, "the next send");
    check(counted.dead.empty(), "no send runs a function of the program");
    node.wait_until([&] { return !counted.dead.empty(); });
    check_equal(counted.dead.size(), 1u, "deaths");
    told.count_down();
  });
}

/// Sends what no node of this library sends.
void send_raw(Node& node, NodeId to, am::Priority priority, am::impl::Header header, std::uint32_t origin) {
  am::Transport& network = node.engine().network();
  am::Transport::Slot slot;
  while ((slot = network.claim(to, priority, 6, 0)).status == am::Status::again) node.poll();
  check(slot.status == am::Status::ok, "claim");
  slot.packet->payload_bytes = 0;
  slot.packet->origin = origin;
  std::fill_n(slot.packet->words, am::impl::max_words, ~std::uint64_t{0});
  network.commit(slot, header);
}

am::impl::HandlerId handler_of_the_program(Node& node, am::Priority priority) {
  const am::core::HandlerTable& table = node.engine().table();
  am::impl::HandlerId id = 0;
  while (table.is_internal(id) || table.rows()[id].priority != priority) ++id;
  return id;
}

class Liars : public testing::TestWithParam<int> {
 protected:
  static void lie(Node& node, NodeId to, int which) {
    using am::impl::Header;
    namespace flag = am::impl::flag;
    switch (which) {
      case 0:
        return send_raw(node, to, am::Priority::low, Header::make(0xfff0, 1, 0, 0), node.id());
      case 1:
        return send_raw(node, to, am::Priority::high, Header::make(0, 6, 0, 1 << 7), node.id());
      case 2:  // a handler that there is not, as if somebody near the receiver had sent it
        return send_raw(node, to, am::Priority::low, Header::make(0xfff0, 1, 0, flag::multicast), to);
      case 3:
        return send_raw(node, to, am::Priority::low, Header::make(0, 1, 0, flag::more), node.id());
      case 4: {  // a handler of the library's own, as if the receiver's neighbour had sent it
        am::core::Engine& engine = node.engine();
        am::impl::HandlerId id = 0;
        while (!engine.table().is_internal(id)) ++id;
        const am::Priority priority = engine.table().rows()[id].priority;
        return send_raw(node, to, priority, Header::make(id, 6, 0, flag::multicast), to - 1);
      }
      case 5: {  // a list of members that does not ascend: who passed it on would be blamed for it
        am::Transport& network = node.engine().network();
        const std::array<std::uint32_t, 3> list = {2, 0, 2};  // behind them stands how many
        const am::Transport::Slot slot = network.claim(to, am::Priority::low, 0, sizeof list);
        check(slot.status == am::Status::ok, "claim");
        std::memcpy(slot.payload, list.data(), sizeof list);
        slot.packet->payload_bytes = sizeof list;
        slot.packet->origin = node.id();
        const am::impl::HandlerId id = handler_of_the_program(node, am::Priority::low);
        return network.commit(slot, Header::make(id, 0, 0, flag::multicast | flag::payload));
      }
      default:
        return send_raw(node, to, am::Priority::low, Header::make(0, 7, 0, flag::payload), node.id());
    }
  }
};

TEST_P(Liars, OfOtherHostsCountAsLostAndDoNoHarm) {
  PretendedHosts hosts(4, 2);
  std::latch together(4);
  std::latch noticed(2);
  std::latch lied_on(1);
  std::latch ended(4);
  run_counting(hosts, survivors(), [&](Node& node, Counted& counted) {
    meet(node, counted, together);
    const auto send_off = [&] { node.wait_until([&] { return node.engine().network().drained(); }); };
    if (node.id() == 3) {
      lie(node, 1, GetParam());
      send_off();
      noticed.wait();
      for (int i = 0; i < 10; ++i) static_cast<void>(node.try_request<count>(1));
      send_off();
      lied_on.count_down();
    }
    if (node.id() < 2) {
      node.wait_until([&] { return !counted.dead.empty(); });
      check_equal(counted.dead.front(), 3u, "who is lost");
      noticed.count_down();
      check(node.request<count>(2) == am::Status::ok, "its neighbour is not");
      send_off();
    }
    if (node.id() == 2) node.wait_until([&] { return counted.messages == 2; });
    if (node.id() == 1) {
      lied_on.wait();
      for (int i = 0; i < 100; ++i) node.poll();
      check_equal(counted.messages, 0u, "messages that are believed");
    }
    ended.arrive_and_wait();
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Liars, testing::Range(0, 7));

// Nodes of several hosts leave at once; one node stays, and hears of all of them.
TEST_P(Hosts, TheLastOneHearsOfAllThatLeaveAtOnce) {
  for (int i = 0; i < (test::sanitized ? 5 : 30); ++i) {
    PretendedHosts hosts(5, 3);
    const auto last = static_cast<NodeId>(i % 5);
    hosts.run(settings_for(GetParam(), am::core::PeerDeath::survive), [&](Node& node) {
      node.barrier();
      if (node.id() != last) return;
      for (NodeId peer = 0; peer < node.size(); ++peer) {
        while (peer != last && node.engine().board().standing(peer) != am::host::Standing::left) node.poll();
      }
    });
  }
}

TEST(HostsThatDoNotFit, AreAnErrorAtTheStart) {
  PretendedHosts apart(2, 2);
  am::core::Settings settings = settings_for(am::Dispatch::poll);
  settings.transport = "shm";
  EXPECT_THAT([&] { apart.run(settings, [](Node&) {}); },
              testing::ThrowsMessage<am::Error>(HasSubstr("none of AM_TRANSPORT=shm leads to node ")));
  PretendedHosts interrupted(2, 2);
  EXPECT_THAT([&] { interrupted.run(settings_for(am::Dispatch::interrupt), [](Node&) {}); },
              testing::ThrowsMessage<am::Error>(HasSubstr("does not work where messages interrupt")));
}

TEST(HostsDeathTest, AReportSaysWhatIsSeenFromHere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        PretendedHosts hosts(3, 2);
        am::core::Settings settings = settings_for(am::Dispatch::poll);
        settings.timeout_ns = 4'000'000'000;
        run_counting(hosts, settings, [](Node& node, Counted&) {
          node.enable_low_events(false);
          node.barrier();
          if (node.id() != 0) pause();
          for (int i = 0; i < 5; ++i) check(node.request<count>(2) == am::Status::ok, "request");
          node.wait_until([] { return false; });
        });
      },
      testing::ExitedWithCode(1),
      "node 2 is on host .*: what it does is not seen from here; not yet taken from this node: 5 low, 0 "
      "high");
}

std::string name_of_mode(const testing::TestParamInfo<am::Dispatch>& info) {
  return std::string(am::to_string(info.param));
}
INSTANTIATE_TEST_SUITE_P(In, Hosts, testing::Values(am::Dispatch::poll, am::Dispatch::thread), name_of_mode);

}  // namespace hosts_test
