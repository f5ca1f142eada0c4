// Nodes' ends of the emulated M-Machine's network in one thread: which grid it is, what a packet is cut into, unordered messages, what is
// sent back and sent again, the GTLB's misses, what its routers count. What holds of every machine: window_transport_test.cpp.
#include "transports/emulated/mmachine_transport.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "support/random.hpp"
#include "transports/emulated/router_counts.hpp"
#include "unit/transports/emulated/ends.hpp"

namespace am::emulated::mmachine_transport_test {

using namespace testing;

std::string extents_text(std::string_view options, NodeId nodes) {
  return text_or_error([&] {
    const Extents extents = mmachine_extents(options, nodes);
    return std::to_string(extents.rows) + "x" + std::to_string(extents.columns);
  });
}

/// What is as with a T1: t1_transport_test.cpp.
TEST(MMachineExtents, AreTheSquarestOrWhatWasAskedForOrALineThatSaysWhy) {
  EXPECT_EQ(extents_text("", 1024), "32x32");
  EXPECT_EQ(extents_text("12x1", 12), "12x1");
  EXPECT_THAT(extents_text("big", 12),
              HasSubstr("AM_TRANSPORT=mmachine:big is no grid (say rows x columns, "));
  EXPECT_THAT(
      extents_text("", 37),
      HasSubstr(
          "the grid 1x37 of the job's nodes has too long a side: an M-Machine has up to 32x32 (run another"));
  EXPECT_THAT(extents_text("2x33", 66),
              HasSubstr("the grid 2x33 of the job's nodes has too long a side: an M-Machine has up"));
  EXPECT_THAT(extents_text("2x33", 66), HasSubstr("(say mmachine:6x11, or mmachine alone)"));
  EXPECT_THAT(extents_text("", 1025), HasSubstr("the job has 1025 nodes, and an M-Machine has up to 1024"));
}

TEST(MMachineMessages, AreAsManyAsAPacketNeeds) {
  EXPECT_EQ(mmachine_words(0, false, 0), 0u);
  EXPECT_EQ(mmachine_words(6, false, 0), 6u);
  EXPECT_EQ(mmachine_words(1, true, 9), 1u + 1 + 2);
}

using MMachineEnds = Ends<MMachineTransport>;
constexpr Priority low = Priority::low;

TEST_F(MMachineEnds, GiveUnorderedOnesPastADeferredOrderedOneAndTheOtherWayRound) {
  for (const Priority priority : priorities) {
    ASSERT_EQ(send(0, 1, priority), Status::ok);
    const std::uint64_t ordered = sent_;
    ASSERT_EQ(send_unordered(0, 1, priority), Status::ok);
    ASSERT_EQ(send_unordered(0, 1, priority), Status::ok);
    MMachineTransport& to = end(1);
    to.progress();
    std::vector<std::uint64_t> given;
    for (Transport::View view = to.receive(priority); view; view = to.receive(priority)) {
      if (view.packet->words[0] == ordered) {
        to.defer(view);
        continue;
      }
      EXPECT_TRUE(to.waits(priority, view.packet)) << "the ordered one";
      given.push_back(view.packet->words[0]);
      to.release(view);
    }
    EXPECT_THAT(given, testing::ElementsAre(ordered + 1, ordered + 2));
    EXPECT_TRUE(to.waits(priority, nullptr));
    EXPECT_EQ(take(1, priority, 0), ordered);
    EXPECT_FALSE(to.waits(priority, nullptr));
  }
}

// So its last message is the last (3.3.3 promises nothing of others).
TEST_F(MMachineEnds, SendInOrderWhatTakesSeveralMessages) {
  constexpr std::size_t in_one = 8 * (mmachine::most_body - 2);  // beside a word, and the length
  EXPECT_EQ(end(0).claim_unordered(1, low, 1, in_one).lane, static_cast<std::uint32_t>(Lane::low_unordered));
  EXPECT_EQ(end(0).claim_unordered(1, low, 1, in_one + 1).lane, static_cast<std::uint32_t>(Lane::low));
  EXPECT_EQ(end(0).claim_unordered(1, Priority::high, 1, 1024).lane, static_cast<std::uint32_t>(Lane::high));
  for (std::size_t bytes = 1; bytes <= 1024; bytes += 7) {
    ASSERT_EQ(send_unordered(0, 5, low, bytes), Status::ok);
    ASSERT_EQ(take(5, low, 0), sent_) << bytes;
  }
}

// Which lane a packet takes depends on its words, too, of which has_room_unordered() is told nothing: what it says holds for any.
TEST_F(MMachineEnds, HaveRoomForUnorderedOnesOnlyWhereAnyWouldFindIt) {
  constexpr std::size_t bytes = 8 * (mmachine::most_body - impl::max_words);  // beside many words in order
  while (end(0).claim_unordered(1, low, 1, bytes).status == Status::ok)
    ASSERT_EQ(send_unordered(0, 1, low, bytes), Status::ok);
  EXPECT_EQ(end(0).claim_unordered(1, low, impl::max_words, bytes).status, Status::ok);
  EXPECT_FALSE(end(0).has_room_unordered(1, low, bytes));
  fill(0, 2, low);
  EXPECT_EQ(end(0).claim_unordered(2, low, impl::max_words, bytes).status, Status::again);
  EXPECT_FALSE(end(0).has_room_unordered(2, low, bytes));
  EXPECT_TRUE(end(0).has_room_unordered(3, low, bytes));
}

// 3.3.2: a node that has no room sends back what comes; it is sent again, until it has been taken, once each and in order.
TEST_F(MMachineEnds, SendAgainWhatWasSentBack) {
  std::vector<std::vector<std::uint64_t>> sent(nodes);
  std::size_t all = 0;
  for (NodeId from = 1; from < nodes; ++from) {
    while (send(from, 0, low) == Status::ok) sent[from].push_back(sent_);
    all += sent[from].size();
  }
  ASSERT_GT(all, receive_buffers + 100);
  MMachineTransport& to = end(0);
  to.progress();
  EXPECT_FALSE(to.drained() && end(5).drained()) << "what was sent back is not gone";
  EXPECT_EQ(send(5, 4, low), Status::ok) << "no link waits for another";
  EXPECT_EQ(take(4, low, 5), sent_);
  std::vector<std::vector<std::uint64_t>> came(nodes);
  std::size_t count = 0;
  for (int round = 0; count != all; ++round) {
    ASSERT_LT(round, 100'000);
    for (NodeId from = 1; from < nodes; ++from) end(from).progress();
    to.progress();
    for (int i = 0; i < 3; ++i) {
      const Transport::View view = to.receive(low);
      if (!view) break;
      came[view.source].push_back(view.packet->words[0]);
      to.release(view);
      ++count;
    }
  }
  EXPECT_EQ(came, sent);
  EXPECT_FALSE(to.receive(low));
  for (NodeId from = 1; from < nodes; ++from) {
    end(from).progress();
    EXPECT_TRUE(end(from).drained()) << from;
  }
  EXPECT_THAT(mmachine_counts(memory_, 5), ContainsRegex("sent back to this node +[1-9][0-9]*, GTLB"));
  EXPECT_THAT(mmachine_counts(memory_, 0), ContainsRegex("sent back to this node +0, GTLB"));
}

// No link waits for another (transport.hpp): what a node defers may wait for what has still to come from somebody else.
TEST_F(MMachineEnds, NeedNoBuffersForWhatTheyDefer) {
  const auto fill_all = [this] {
    return fill(1, 0, low) + fill(2, 0, low) + fill(3, 0, low) + fill(4, 0, low);
  };
  const std::size_t all = fill_all();
  ASSERT_GT(all, receive_buffers + 50);
  ASSERT_EQ(send(5, 0, low), Status::ok);
  const std::uint64_t last = sent_;
  bool came = false;
  for (int round = 0; round < 10'000 && !came; ++round) {
    for (NodeId from = 1; from < nodes; ++from) end(from).progress();
    end(0).progress();
    for (Transport::View view = end(0).receive(low); view; view = end(0).receive(low)) {
      came = came || view.packet->words[0] == last;
      view.source == 5 ? end(0).release(view) : end(0).defer(view);
    }
  }
  EXPECT_TRUE(came);
  std::size_t rest = 0;
  for (int round = 0; round < 10'000; ++round) {
    for (NodeId from = 1; from < nodes; ++from) end(from).progress();
    rest += take_all(0, low).size();
  }
  EXPECT_EQ(rest, all);
  fill_all();
  EXPECT_EQ(take_all(0, low).size(), receive_buffers) << "each buffer was freed once";
}

TEST_F(MMachineEnds, ForgetWhatWasSentBackByWhoIsClosed) {
  for (NodeId from = 1; from < nodes; ++from) fill(from, 0, low);
  for (const bool before : {true, false}) {  // whether it has taken note of what came back
    MMachineTransport& own = end(before ? 5 : 4);
    if (before) own.progress();
    EXPECT_FALSE(own.drained());
    own.close(0);
    own.progress();
    EXPECT_TRUE(own.drained());
    EXPECT_TRUE(own.arm(both)) << "nothing is to be sent again";
    own.disarm();
  }
  const std::string counts = mmachine_counts(memory_, 4);
  EXPECT_THAT(counts, ContainsRegex("sent back to this node +[1-9][0-9]*, GTLB"));
  for (int round = 0; round < 1000; ++round) end(4).progress();
  EXPECT_EQ(mmachine_counts(memory_, 4), counts) << "nor is it";
}

// A wake-up that is lost would hang the test. Senders sleep until they are told of room, for what was refused and what was sent back.
TEST_F(MMachineEnds, WakeWhoseMessagesWereSentBack) {
  constexpr int each = 3'000;
  test::Random random(test::seed());
  std::vector<std::jthread> senders;
  for (NodeId from = 1; from < nodes; ++from) {
    senders.emplace_back([this, from, dice = test::Random(random())]() mutable {
      MMachineTransport& own = end(from);
      for (int sent = 0; sent < each || !own.drained();) {
        own.progress();
        Transport::Slot slot{};
        slot.status = Status::again;
        if (sent < each) slot = dice.one_in(4) ? own.claim_unordered(0, low, 1, 0) : own.claim(0, low, 1, 0);
        if (slot.status == Status::ok) {
          slot.packet->words[0] = from;
          commit(from, slot, 0);
          ++sent;
        } else {
          sleep_unless(from, [&] { return own.drained(); });
        }
      }
    });
  }
  std::vector<int> came(nodes);
  for (int left = each * static_cast<int>(nodes - 1); left != 0;) {
    end(0).progress();
    for (std::uint64_t some = random.below(40); some-- != 0;) {
      const Transport::View view = end(0).receive(low);
      if (!view) break;
      EXPECT_EQ(view.packet->words[0], view.source);
      ++came[view.source];
      --left;
      end(0).release(view);
    }
    if (random.one_in(8)) std::this_thread::yield();
  }
  senders.clear();
  for (NodeId from = 1; from < nodes; ++from) EXPECT_EQ(came[from], each) << from;
}

// 2 x 3 nodes: a rectangle of 2 x 2 and one of 2 x 1. A node of its own is on one of them.
TEST_F(MMachineEnds, CountTheMissesOfTheirGtlb) {
  for (int i = 0; i < 3; ++i) {
    for (NodeId to = 1; to < nodes; ++to) {
      ASSERT_EQ(send(0, to, low), Status::ok);
      ASSERT_EQ(take(to, low, 0), sent_);
    }
  }
  EXPECT_THAT(mmachine_counts(memory_, 0), HasSubstr("GTLB misses 2\n"));
  EXPECT_THAT(mmachine_counts(memory_, 1), HasSubstr("GTLB misses 0\n"));
}

// Nodes 0 to 5 are 2 x 3, along x first. A message of one word is four flits; one of 1 KiB more 13 messages of 10 words and 3, and the last
// one, of none: 1 + 1 + 128 words.
TEST_F(MMachineEnds, CountWhatPassesTheirRouters) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(send(0, 4, low), Status::ok);  // by 1
    ASSERT_NE(take(4, low, 0), 0u);
    ASSERT_EQ(send_unordered(0, 4, low), Status::ok);
    ASSERT_NE(take(4, low, 0), 0u);
  }
  ASSERT_EQ(send(4, 1, Priority::high, 1024), Status::ok);
  ASSERT_NE(take(1, Priority::high, 4), 0u);
  const std::string middle = mmachine_counts(memory_, 1);
  EXPECT_THAT(middle, HasSubstr("its M-Machine router, at row 0, column 1 of 2x3\n"));
  EXPECT_THAT(middle, ContainsRegex("node 0 +0 +12 +0\n")) << "ordered";
  EXPECT_THAT(middle, ContainsRegex("node 0 +2 +12 +0\n")) << "unordered";
  EXPECT_THAT(middle, ContainsRegex("node 4 +1 +169 +0\n"));
  EXPECT_THAT(middle, ContainsRegex("to this node +169\n"));
  EXPECT_THAT(middle, ContainsRegex("in the whole network +193 sent, 1.12 links each\n"));
  EXPECT_EQ(mmachine_counts(host::Memory::create(nodes), 0), "") << "no M-Machine there";
  EXPECT_EQ(t1_counts(memory_, 0), "") << "and no T1";
}

}  // namespace am::emulated::mmachine_transport_test
