// Nodes' ends of the emulated T1 network in one thread: which grid it is, what a packet is cut into, order, bounds, and what a node
// that is armed sleeps on. All else is the conformance suite's.
#include "transports/emulated/t1_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <am/error.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/bell.hpp"
#include "host/clock.hpp"
#include "support/random.hpp"
#include "transports/emulated/router_counts.hpp"

namespace am::emulated {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

std::string shape_text(std::string_view options, NodeId nodes) {
  try {
    const t1::Shape shape = shape_of(options, nodes);
    return std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(T1Shape, IsTheSquarestWhereNoneIsGiven) {
  EXPECT_EQ(shape_text("", 1), "1x1");
  EXPECT_EQ(shape_text("", 2), "1x2");
  EXPECT_EQ(shape_text("", 12), "3x4");
  EXPECT_EQ(shape_text("", 13), "1x13");
  EXPECT_EQ(shape_text("", 16), "4x4");
  EXPECT_EQ(shape_text("", 1024), "32x32");
}

TEST(T1Shape, IsWhatWasAskedForOrALineThatSaysWhy) {
  EXPECT_EQ(shape_text("4x3", 12), "4x3");
  EXPECT_EQ(shape_text("12x1", 12), "12x1");
  EXPECT_THAT(shape_text("4x4", 12),
              HasSubstr("AM_TRANSPORT=t1:4x4 is a grid of 16 nodes, and the job has 12"));
  EXPECT_THAT(shape_text("4x4", 12), HasSubstr("say t1:3x4, or t1 alone"));
  for (const char* const bad :
       {"4", "x", "4x", "x4", "0x4", "4x0", "-4x3", "4x3x1", "4 x3", "4X3", "99999999999x1", "4x3,"})
    EXPECT_THAT(shape_text(bad, 12), HasSubstr("AM_TRANSPORT=t1:" + std::string(bad) + " is no grid")) << bad;
  EXPECT_THAT(shape_text("4294967295x4294967295", 12), HasSubstr("is a grid of 18446744065119617025 nodes"));
  EXPECT_THAT(shape_text("", 1025), HasSubstr("the job has 1025 nodes, and a CNS-1 has up to 1024"));
}

TEST(T1Messages, AreAsManyAsAPacketNeeds) {
  EXPECT_EQ(words_of(0, false, 0), 0u);
  EXPECT_EQ(words_of(6, false, 0), 12u) << "of 32 bits";
  EXPECT_EQ(words_of(1, true, 5), 2u + 1 + 2);
  EXPECT_EQ(words_per_message, 37u);
  EXPECT_EQ(most_messages, 8u) << "12 + 1 + 256 words";
}

constexpr Transport::Wanted both{.high = true, .low = true};
constexpr Transport::Wanted high_only{.high = true, .low = false};

class T1Ends : public testing::Test {
 protected:
  static constexpr NodeId nodes = 6;

  explicit T1Ends(std::string_view grid = "2x3") : grid_(grid) {}
  Site site(NodeId self, bool armed_often = false) {
    return {.self = self, .memory = memory_, .options = grid_, .armed_often = armed_often};
  }
  T1Transport& end(NodeId node) { return *ends_.at(node); }
  Status send(NodeId from, NodeId to, Priority priority, std::size_t payload_bytes = 0) {
    const Transport::Slot slot = end(from).claim(to, priority, 1, payload_bytes);
    if (slot.status != Status::ok) return slot.status;
    slot.packet->words[0] = ++sent_;
    commit(from, slot, payload_bytes);
    return Status::ok;
  }
  void commit(NodeId from, const Transport::Slot& slot, std::size_t payload_bytes) {
    if (payload_bytes != 0) {
      slot.packet->payload_bytes = static_cast<std::uint32_t>(payload_bytes);
      for (std::size_t i = 0; i < payload_bytes; ++i)
        slot.payload[i] = static_cast<std::byte>(slot.packet->words[0] + i);
    }
    end(from).commit(slot, impl::Header::make(7, 1, 0, payload_bytes != 0 ? impl::flag::payload : 0));
  }
  /// The number of the next one, which is released; 0: none has come.
  std::uint64_t take(NodeId at, Priority priority, NodeId from) {
    end(at).progress();
    const Transport::View view = end(at).receive(priority);
    if (!view) return 0;
    EXPECT_EQ(view.source, from);
    EXPECT_EQ(view.head.handler(), 7);
    const std::uint64_t number = view.packet->words[0];
    if (view.head.has(impl::flag::payload)) {
      const auto payload = end(at).payload_of(view);
      EXPECT_TRUE(payload.has_value());
      for (std::size_t i = 0; payload && i < payload->size(); ++i) {
        EXPECT_EQ(payload->data()[i], static_cast<std::byte>(number + i));
        if (HasFailure()) break;
      }
    }
    end(at).release(view);
    return number;
  }

  const std::string_view grid_;
  std::shared_ptr<host::Memory> memory_ = host::Memory::create(nodes);
  std::vector<std::unique_ptr<T1Transport>> ends_ = [this] {
    std::vector<std::unique_ptr<T1Transport>> ends;
    for (NodeId node = 0; node < nodes; ++node) ends.push_back(std::make_unique<T1Transport>(site(node)));
    return ends;
  }();
  std::uint64_t sent_ = 0;
};

TEST_F(T1Ends, CarryPayloadsOfEverySizeInOrder) {
  for (const Priority priority : {Priority::low, Priority::high}) {
    for (std::size_t bytes = 0; bytes <= impl::packet_payload_bytes; bytes += bytes < 300 ? 1 : 31) {
      ASSERT_EQ(send(0, 5, priority, bytes), Status::ok) << bytes;
      ASSERT_EQ(take(5, priority, 0), sent_) << bytes;
    }
  }
}

TEST_F(T1Ends, TakeNoMoreThanAWindowHoldsAndGoOnWhenSomethingWasReleased) {
  for (NodeId from = 0; from < nodes; ++from) {
    for (const Priority priority : {Priority::low, Priority::high}) {
      std::vector<std::uint64_t> numbers;
      while (send(from, 3, priority) == Status::ok) numbers.push_back(sent_);
      EXPECT_GE(numbers.size(), high_lines - 2);
      EXPECT_EQ(send(from, 4, priority), Status::ok) << "no link waits for another";
      EXPECT_EQ(take(4, priority, from), sent_);
      EXPECT_FALSE(end(from).has_room(3, priority, 0));
      for (const std::uint64_t number : numbers) ASSERT_EQ(take(3, priority, from), number);
      EXPECT_EQ(take(3, priority, from), 0u);
      EXPECT_TRUE(end(from).has_room(3, priority, 0));
      EXPECT_TRUE(end(from).drained());
    }
  }
}

class T1Ring : public T1Ends {
 protected:
  T1Ring() : T1Ends("1x6") {}
};

// Two multicasts go around it, one each way (T1 report, 3.9): five links in all, where messages to each would take nine.
TEST_F(T1Ring, IsCoveredByTwoMulticasts) {
  for (const Priority priority : {Priority::low, Priority::high}) {
    end(0).begin_multicast();
    for (NodeId to = 0; to < nodes; ++to) {
      const Transport::Slot slot = end(0).claim(to, priority, 1, 0);
      ASSERT_EQ(slot.status, Status::ok);
      slot.packet->words[0] = 7;
      commit(0, slot, 0);
      EXPECT_EQ(take(to, priority, 0), 0u) << "not before the end";
    }
    end(0).end_multicast();
    for (NodeId to = 0; to < nodes; ++to) EXPECT_EQ(take(to, priority, 0), 7u);
    for (NodeId to = 0; to < nodes; ++to) EXPECT_EQ(take(to, priority, 0), 0u);
  }
  EXPECT_THAT(router_counts(memory_, 0), ContainsRegex("in the whole network +6 sent, 1.67 links each\n"))
      << "at each priority one to itself, over no link, and two over two and three";
}

// More than a node's channel into the network holds, committed one after the other.
TEST_F(T1Ends, SendAllThatWasClaimedBefore) {
  std::vector<Transport::Slot> slots;
  for (NodeId to = 0; to < nodes; ++to) {
    slots.push_back(end(2).claim(to, Priority::low, 1, 1000));
    ASSERT_EQ(slots.back().status, Status::ok);
    slots.back().packet->words[0] = 100 + to;
  }
  for (const Transport::Slot& slot : slots) commit(2, slot, 1000);
  for (NodeId to = 0; to < nodes; ++to) EXPECT_EQ(take(to, Priority::low, 2), 100u + to);
}

TEST_F(T1Ends, KeepDeferredOnesForTheNextRoundAndGoOnWithOthers) {
  ASSERT_EQ(send(0, 1, Priority::low), Status::ok);
  ASSERT_EQ(send(0, 1, Priority::low), Status::ok);
  ASSERT_EQ(send(4, 1, Priority::low), Status::ok);
  T1Transport& to = end(1);
  to.progress();
  std::vector<NodeId> sources;
  for (int i = 0; i < 2; ++i) {
    const Transport::View view = to.receive(Priority::low);
    ASSERT_TRUE(view);
    EXPECT_TRUE(to.waits(Priority::low, view.packet));
    sources.push_back(view.source);
    to.defer(view);
  }
  EXPECT_THAT(sources, testing::UnorderedElementsAre(0u, 4u));
  EXPECT_FALSE(to.receive(Priority::low));
  EXPECT_TRUE(to.waits(Priority::low, nullptr));
  EXPECT_FALSE(to.waits(Priority::high, nullptr));
  for (int i = 0; i < 3; ++i) {
    to.progress();
    const Transport::View view = to.receive(Priority::low);
    ASSERT_TRUE(view);
    to.release(view);
  }
  EXPECT_FALSE(to.waits(Priority::low, nullptr));
}

// A high handler's progress may begin another round while a low one's packet is lent.
TEST_F(T1Ends, KnowTheLenderWhateverRoundItIs) {
  ASSERT_EQ(send(0, 1, Priority::low), Status::ok);
  ASSERT_EQ(take(1, Priority::low, 0), sent_);
  ASSERT_EQ(send(4, 1, Priority::low), Status::ok);
  T1Transport& to = end(1);
  to.progress();
  const Transport::View view = to.receive(Priority::low);
  ASSERT_TRUE(view);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(to.waits(Priority::low, view.packet));
    to.progress();
  }
  to.defer(view);
  to.progress();
  EXPECT_TRUE(to.waits(Priority::low, nullptr));
  EXPECT_EQ(take(1, Priority::low, 4), sent_);
}

TEST_F(T1Ends, FindSendersAgainThatWereQuietForLong) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(send(0, 1, Priority::low), Status::ok);
    ASSERT_EQ(take(1, Priority::low, 0), sent_);
    for (int i = 0; i < 64 * 70; ++i) end(1).progress();
  }
}

TEST_F(T1Ends, AreNotArmedWhereSomethingIsWantedThatHasCome) {
  T1Transport& to = end(1);
  EXPECT_TRUE(to.arm(both));
  to.disarm();
  ASSERT_EQ(send(0, 1, Priority::low), Status::ok);
  EXPECT_FALSE(to.arm(both));
  EXPECT_TRUE(to.arm(high_only));
  to.disarm();
  to.progress();
  const Transport::View view = to.receive(Priority::low);
  ASSERT_TRUE(view);
  to.defer(view);
  EXPECT_TRUE(to.arm(both)) << "what was deferred rings nobody";
  to.disarm();
  Lookout lookout;
  EXPECT_FALSE(to.describe(lookout, both));
  EXPECT_FALSE(lookout.news());
  ASSERT_EQ(send(4, 1, Priority::high), Status::ok);
  EXPECT_TRUE(lookout.news());
}

TEST_F(T1Ends, AreNotArmedWhereRoomWasMissingThatHasCome) {
  while (send(0, 1, Priority::low) == Status::ok) {
  }
  EXPECT_TRUE(end(0).arm(both));
  end(0).disarm();
  EXPECT_EQ(send(0, 1, Priority::low), Status::again);
  while (take(1, Priority::low, 0) != 0) {
  }
  EXPECT_FALSE(end(0).arm(both));
  EXPECT_EQ(send(0, 1, Priority::low), Status::ok);
}

// A wake-up that is lost would hang the test.
TEST_F(T1Ends, WakeWhoSleeps) {
  for (const bool armed_often : {false, true}) {
    ends_.at(1) = nullptr;
    ends_.at(1) = std::make_unique<T1Transport>(site(1, armed_often));
    constexpr int rounds = 300;
    std::atomic<int> taken = 0;
    std::jthread sleeper([&] {
      host::Bell bell(memory_->board(), 1);
      while (taken != rounds) {
        if (const auto before = taken.load(); (end(1).progress(), true)) {
          while (const Transport::View view = end(1).receive(Priority::low)) {
            end(1).release(view);
            ++taken;
          }
          if (taken != before) continue;
        }
        bell.set(host::Alarm::sleeper);
        if (end(1).arm(both)) bell.sleep(host::monotonic_ns() + 60'000'000'000);
        bell.clear();
        end(1).disarm();
      }
    });
    test::Random random(test::seed());
    for (int i = 0; i < rounds; ++i) {
      while (send(0, 1, Priority::low) != Status::ok) std::this_thread::yield();
      if (!random.one_in(4)) {
        while (taken != i + 1) std::this_thread::yield();
      }
    }
    sleeper.join();
    ends_.at(0) = nullptr;  // what it has counted of its window belongs to the receiver that was
    memory_ = host::Memory::create(nodes);
    ends_.clear();
    for (NodeId node = 0; node < nodes; ++node) ends_.push_back(std::make_unique<T1Transport>(site(node)));
  }
}

TEST_F(T1Ends, SendNothingToWhoIsClosed) {
  ASSERT_EQ(send(0, 1, Priority::low), Status::ok);
  end(0).close(1);
  EXPECT_EQ(send(0, 1, Priority::low), Status::unreachable);
  EXPECT_TRUE(end(0).has_room(1, Priority::low, 0));
  EXPECT_EQ(take(1, Priority::low, 0), sent_);
  EXPECT_EQ(send(0, 2, Priority::low), Status::ok);
}

// Handlers in hardware (T1 report, 3.9): no other end takes part. A store of 1 KiB is 8 messages of 32 words, 3 scalars and the header, a
// fetch of it 8 of 5 scalars, and as many answers as long as stores.
TEST_F(T1Ends, CarryAccessesToWhoDoesNothing) {
  using Access = Transport::Access;
  for (std::uint64_t i = 1; i <= 50; ++i) {
    ASSERT_EQ(end(0).begin_access(Access::store, 4, i * 20), Status::ok);
    ASSERT_EQ(end(0).begin_access(Access::fetch, 4, i * 20), Status::ok);
    EXPECT_EQ(end(0).accesses_done(Access::store, 4), i) << "whoever begins one carries it";
    EXPECT_EQ(end(0).accesses_done(Access::fetch, 4), i);
  }
  EXPECT_EQ(end(0).accesses_done(Access::store, 1), 0u);
  EXPECT_EQ(end(4).accesses_done(Access::store, 0), 0u);
  EXPECT_FALSE(end(4).progress()) << "nothing for a processor";
  end(0).close(4);
  EXPECT_EQ(end(0).begin_access(Access::store, 4, 8), Status::unreachable);
  EXPECT_EQ(end(0).begin_access(Access::store, 5, 8), Status::ok);
  EXPECT_EQ(end(0).begin_access(Access::fetch, 3, 8), Status::ok);
}

TEST_F(T1Ends, AreNotArmedWhileTheyHaveNotToldOfAnAccess) {
  ASSERT_TRUE(end(0).arm(both));
  end(0).disarm();
  for (const auto access : {Transport::Access::store, Transport::Access::fetch}) {
    ASSERT_EQ(end(0).begin_access(access, 1, 8), Status::ok);
    EXPECT_FALSE(end(0).arm(both));
    EXPECT_EQ(end(0).accesses_done(access, 1), 1u);
    ASSERT_TRUE(end(0).arm(both));
    end(0).disarm();
  }
}

TEST_F(T1Ends, CountTheFlitsOfAccesses) {
  ASSERT_EQ(end(0).begin_access(Transport::Access::store, 1, 1024), Status::ok);
  ASSERT_EQ(end(0).begin_access(Transport::Access::fetch, 1, 1024), Status::ok);
  const std::string there = router_counts(memory_, 1);
  EXPECT_THAT(there, ContainsRegex("node 0 +low +[01] +96 +0\n")) << "8 of 10, and 8 of 2";
  EXPECT_THAT(there, ContainsRegex("this node +high +1 +80 +0\n")) << "answers";
  EXPECT_THAT(there, ContainsRegex("to this node +80\n"));
  EXPECT_THAT(router_counts(memory_, 0), ContainsRegex("to this node +80\n"));
}

// Nodes 0 to 5 are 2 x 3. A message of one word is one flit of 128 bits, with its header; one of 1 KiB more 7 messages of 10 flits.
TEST_F(T1Ends, CountsWhatPassesItsRouters) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(send(0, 4, Priority::low), Status::ok);  // by 1
    ASSERT_NE(take(4, Priority::low, 0), 0u);
  }
  ASSERT_EQ(send(4, 1, Priority::high, 1024), Status::ok);
  ASSERT_NE(take(1, Priority::high, 4), 0u);
  const std::string middle = router_counts(memory_, 1);
  EXPECT_THAT(middle, HasSubstr("its T1 router, at row 0, column 1 of 2x3\n"));
  EXPECT_THAT(middle, ContainsRegex("node 0 +low +1 +3 +0\n"));
  EXPECT_THAT(middle, ContainsRegex("node 4 +high +0 +70 +0\n"));
  EXPECT_THAT(middle, ContainsRegex("to this node +70\n"));
  EXPECT_THAT(middle, ContainsRegex("in the whole network +73 sent, 1.04 links each\n"));
  EXPECT_THAT(router_counts(memory_, 4), ContainsRegex("node 1 +low +0 +3 +0\n"));
  EXPECT_THAT(router_counts(memory_, 4), ContainsRegex("this node +high +0 +70 +0\n"));
  EXPECT_EQ(router_counts(host::Memory::create(nodes), 0), "") << "no T1 there";
}

}  // namespace
}  // namespace am::emulated
