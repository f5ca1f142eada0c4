// Two nodes' ends of the shared-memory network in one thread: what a node that is armed sleeps on, and what it does not.
// Claim, commit and receive are tested by the ring's own test and by the whole conformance suite.
#include "transports/shm/shm_transport.hpp"

#include <numeric>
#include <thread>

#include "host/heavy_fence.hpp"
#include "support/job.hpp"

namespace am::shm::shm_transport_test {

using namespace test;

constexpr Transport::Wanted both{.high = true, .low = true};
constexpr Transport::Wanted high_only{.high = true, .low = false};
constexpr Transport::Wanted nothing{.high = false, .low = false};
constexpr std::uint64_t for_ever = UINT64_MAX / 2;  // one who sleeps on this hangs the test
constexpr std::uint64_t nap_ns = 20'000'000;

/// A node that sleeps as the engine does (Engine::sleep).
class Sleeper {
 public:
  Sleeper(ShmTransport& network, const host::Memory& memory, NodeId node)
      : network_(network), bell_(memory.board(), node) {}
  void park(std::uint64_t until, Transport::Wanted wanted) {
    bell_.set(host::Alarm::sleeper);
    if (network_.arm(wanted)) bell_.sleep(until);
    bell_.clear();
    network_.disarm();
  }
  /// Whether it sleeps until the time it was given.
  bool sleeps(Transport::Wanted wanted) {
    const std::uint64_t until = host::monotonic_ns() + nap_ns;
    park(until, wanted);
    return host::monotonic_ns() >= until;
  }

 private:
  ShmTransport& network_;
  host::Bell bell_;
};

class Park : public ::testing::Test {
 protected:
  static Status send(ShmTransport& from, NodeId to, Priority priority) {
    const Transport::Slot slot = from.claim(to, priority, 0, 0);
    if (slot.status == Status::ok) from.commit(slot, impl::Header::make(0, 0, 0, 0));
    return slot.status;
  }
  static void take_all(ShmTransport& at) {
    at.progress();
    while (const Transport::View view = at.receive(Priority::low)) at.release(view);
  }
  static void fill(ShmTransport& from, NodeId to, Priority priority) {
    while (send(from, to, priority) == Status::ok) {
    }
  }

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(12);
  ShmTransport a_{memory_, 0};
  ShmTransport b_{memory_, 1};
  Sleeper sleeper_a_{a_, *memory_, 0};
  Sleeper sleeper_b_{b_, *memory_, 1};
};

TEST_F(Park, SleepsOnAPacketThatIsNotWanted) {
  ASSERT_EQ(send(a_, 1, Priority::low), Status::ok);
  sleeper_b_.park(for_ever, high_only);  // the doorbell is news, once
  EXPECT_TRUE(sleeper_b_.sleeps(high_only));
  EXPECT_TRUE(sleeper_b_.sleeps(nothing));
  sleeper_b_.park(for_ever, both);
  ASSERT_EQ(send(a_, 1, Priority::high), Status::ok);
  sleeper_b_.park(for_ever, high_only);
}

TEST_F(Park, SleepsOnAPacketThatWasDeferredButNotOnTheNextOne) {
  ASSERT_EQ(send(a_, 1, Priority::low), Status::ok);
  b_.progress();
  const Transport::View view = b_.receive(Priority::low);
  ASSERT_TRUE(view);
  b_.defer(view);
  EXPECT_TRUE(sleeper_b_.sleeps(both));
  b_.progress();
  ASSERT_TRUE(b_.receive(Priority::low)) << "it is still there";
  ASSERT_EQ(send(a_, 1, Priority::low), Status::ok);  // behind it, and so out of reach
  b_.release(b_.receive(Priority::low));
  sleeper_b_.park(for_ever, both);  // the second one, which nobody has deferred
}

/// What could not be done with it may be possible now: every round is to try it again.
TEST_F(Park, ADeferredPacketComesInEveryRoundHoweverLong) {
  ASSERT_EQ(send(a_, 1, Priority::low), Status::ok);
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 3; ++i) b_.look_after_quiet_rings();
    b_.progress();
    const Transport::View view = b_.receive(Priority::low);
    ASSERT_TRUE(view) << "in round " << round;
    b_.defer(view);
    EXPECT_FALSE(b_.receive(Priority::low)) << "not twice in one";
  }
}

TEST_F(Park, WakesForTheCreditOfEveryRingThatRefused) {
  ShmTransport c(memory_, 2);
  fill(a_, 1, Priority::low);
  fill(a_, 2, Priority::low);
  ASSERT_TRUE(sleeper_a_.sleeps(both)) << "both are full";
  for (ShmTransport* const receiver : {&b_, &c}) {
    EXPECT_EQ(send(a_, 1, Priority::low), Status::again);
    EXPECT_EQ(send(a_, 2, Priority::low), Status::again);
    take_all(*receiver);
    sleeper_a_.park(for_ever, both);
    fill(a_, receiver == &b_ ? 1 : 2, Priority::low);
  }
}

TEST_F(Park, WakesForTheCreditOfTheLastOfManyThatRefused) {
  const NodeId last = memory_->nodes() - 1;
  ShmTransport receiver(memory_, last);
  for (NodeId to = 1; to <= last; ++to) fill(a_, to, Priority::low);
  take_all(receiver);
  sleeper_a_.park(for_ever, both);
  EXPECT_TRUE(sleeper_a_.sleeps(both)) << "the next one waits for nobody";
}

/// A node that computes at times, so that its senders fence, until they have sent much (Inbox): then it has to.
class Trust : public Park {
 protected:
  /// Whether the sender has to look at more than this ring.
  bool sender_is_trusted() {
    return a_.rings().pair(receiver, 0).control[0].watched.load() == impl::watch::on;
  }
  void give(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(send(a_, receiver, Priority::low), Status::ok);
      take_all(receiver_);
    }
  }

  static constexpr NodeId receiver = 2;
  ShmTransport receiver_{memory_, receiver, impl::watch::briefly};
  Sleeper sleeping_receiver_{receiver_, *memory_, receiver};
};

TEST_F(Trust, ComesWithManyPacketsAndEndsWhenTheNodeIsArmed) {
  give(100);
  EXPECT_FALSE(sender_is_trusted());
  if (!host::heavy_fence_works()) GTEST_SKIP() << "no membarrier: nobody is trusted";
  give(300);
  EXPECT_TRUE(sender_is_trusted());
  ASSERT_TRUE(receiver_.arm(both));
  EXPECT_FALSE(sender_is_trusted());
  receiver_.disarm();
  give(100);
  EXPECT_FALSE(sender_is_trusted());
}

TEST_F(Trust, LosesNoWakeUp) {
  constexpr int bursts = 300;
  constexpr int longest = 700;
  test::Random random(test::seed());
  std::vector<int> lengths(bursts);
  for (int& length : lengths) length = static_cast<int>(random.below(longest));
  std::atomic<int> taken{0};
  std::thread sender([&] {
    int sent = 0;
    for (const int length : lengths) {
      for (int i = 0; i < length; ++i, ++sent) {
        while (send(a_, receiver, Priority::low) != Status::ok) std::this_thread::yield();
      }
      while (taken.load() != sent) {
      }
    }
  });
  const int all = std::accumulate(lengths.begin(), lengths.end(), 0);
  while (taken.load() != all) {
    receiver_.progress();
    if (const Transport::View view = receiver_.receive(Priority::low)) {
      receiver_.release(view);
      ++taken;
    } else {
      sleeping_receiver_.park(for_ever, both);  // hangs if the next packet does not wake it
    }
  }
  sender.join();
}

// -- seen from a program -----------------------------------------------------------------------------------------------------

struct Seen {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
void take_low(Request& request, std::uint64_t number) {
  check_equal(number, request.state<Seen>().low++, "the number of a request");
}
void take_low_payload(Request& request, std::uint64_t number, Payload) {
  check_equal(number, request.state<Seen>().low++, "the number of a request with a payload");
}
void take_high(Reply& reply, std::uint64_t number) {
  check_equal(number, reply.state<Seen>().high++, "the number of a reply");
}

// What a peer may leave unread is bounded: 7.1 KiB of rings a direction, 2 MiB of long payloads, and one in pieces per priority.
TEST(SharedMemory, BoundsWhatAPeerDoesNotTake) {
  test::run_alone<Seen>([](Node& node, const Seen& seen) {
    const std::vector<std::byte> bytes(1'000'000);
    std::uint64_t accepted = 0;
    while (node.try_request<take_low>(0, accepted) == Status::ok) ++accepted;
    check_equal(accepted, 68u, "short requests that fit");
    check(node.try_request<take_low_payload>(0, 68u, bytes) == Status::again, "nor does a long one fit");
    node.wait_until([&] { return seen.low == 68; });
    check(node.try_request<take_low_payload>(0, 68u, bytes) == Status::ok, "a long one");
    check(node.try_request<take_low_payload>(0, 69u, bytes) == Status::ok, "two of a megabyte");
    check(node.try_request<take_low_payload>(0, 70u, bytes) == Status::again, "three are more than 2 MiB");
    check(node.try_request<take_low>(0, 70u) == Status::ok, "for a short one there is room");
    node.wait_until([&] { return seen.low == 71; });
    const std::vector<std::byte> more(4'000'000);
    check(node.try_request<take_low_payload>(0, 71u, more) == Status::ok, "one in pieces is kept");
    check(node.try_request<take_low_payload>(0, 72u, more) == Status::again, "a second one is not");
    check(node.try_request<take_low>(0, 72u) == Status::again, "nor does a short one pass it");
    check(node.try_reply_to<take_high>(0, 0u) == Status::ok, "the high network does not mind");
    node.wait_until([&] { return seen.low == 72 && seen.high == 1; });
    check(node.try_request<take_low>(0, 72u) == Status::ok, "the link is free again");
    node.wait_until([&] { return seen.low == 73; });
  });
}

}  // namespace am::shm::shm_transport_test
