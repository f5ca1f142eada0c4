// Two nodes' ends of the shared-memory network in one thread: what a node that is armed sleeps on, and what it does not.
// Claim, commit and receive are tested by the ring's own test and by the whole conformance suite.
#include "transports/shm/shm_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "host/clock.hpp"
#include "host/heavy_fence.hpp"

namespace am::shm {
namespace shm_transport_test {

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
    if (network_.arm(wanted) && !bell_.nudged()) bell_.sleep(until);
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

TEST_F(Park, DoesNotSleepOnAPacketThatIsWanted) {
  for (const Priority priority : {Priority::low, Priority::high}) {
    ASSERT_EQ(send(a_, 1, priority), Status::ok);
    sleeper_b_.park(for_ever, both);
    b_.progress();
    b_.release(b_.receive(priority));
  }
}

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
    receiver->progress();
    while (const Transport::View view = receiver->receive(Priority::low)) receiver->release(view);
    sleeper_a_.park(for_ever, both);
    fill(a_, receiver == &b_ ? 1 : 2, Priority::low);
  }
}

TEST_F(Park, WakesForTheCreditOfTheLastOfManyThatRefused) {
  const NodeId last = memory_->nodes() - 1;
  ShmTransport receiver(memory_, last);
  for (NodeId to = 1; to <= last; ++to) fill(a_, to, Priority::low);
  receiver.progress();
  while (const Transport::View view = receiver.receive(Priority::low)) receiver.release(view);
  sleeper_a_.park(for_ever, both);
  EXPECT_TRUE(sleeper_a_.sleeps(both)) << "the next one waits for nobody";
}

TEST_F(Park, ANudgeIsNews) {
  host::nudge(memory_->board(), 1);
  sleeper_b_.park(for_ever, nothing);
  EXPECT_TRUE(sleeper_b_.sleeps(nothing));
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
      receiver_.progress();
      receiver_.release(receiver_.receive(Priority::low));
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
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<int> lengths(bursts);
  for (int& length : lengths) length = static_cast<int>(random() % longest);
  std::atomic<int> taken{0};
  std::thread sender([&] {
    int sent = 0;
    for (const int length : lengths) {
      for (const int end = sent + length; sent < end;) {
        if (send(a_, receiver, Priority::low) == Status::ok) {
          ++sent;
        } else {
          std::this_thread::yield();
        }
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

TEST(Board, TellsWhetherItsLauncherHasEnded) {
  const std::shared_ptr<host::Memory> memory = host::Memory::create(1);
  EXPECT_FALSE(memory->board().launcher_has_ended()) << "it never had one";
}

}  // namespace shm_transport_test
}  // namespace am::shm
