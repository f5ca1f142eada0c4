// What hosts tell each other of departures: no node runs here, and words go where the test brings them.
#include "core/membership/relay.hpp"

#include <gtest/gtest.h>

#include "../../transports/fake_transport.hpp"
#include "core/membership/standing.hpp"
#include "host/memory.hpp"
#include "transports/control_lane.hpp"

namespace am::core::relay_test {

using host::Standing;

class Hosts final : public test::FakeTransport, public ControlLane {
 public:
  struct Word {
    NodeId to;
    std::uint32_t word;
    std::uint64_t value;
  };
  std::vector<Word> words;

  [[nodiscard]] ControlLane* control_lane(NodeId) noexcept override { return this; }
  void ask_clock(NodeId) noexcept override {}
  void publish(NodeId to, std::uint32_t word, std::uint64_t value) noexcept override {
    words.push_back({to, word, value});
  }
};

/// Nodes 0 and 1 on host 0; 2, 3 and 4 on host 1.
class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    for (std::uint32_t host = 0; host < 2; ++host) {
      board(host).job().this_host = host;
      host::NodeFacts facts{};
      for (NodeId node = 0; node < 5; ++node) {
        facts.on_host = node < 2 ? 0 : 1;
        mark_joined(board(host), node, facts);
      }
    }
    for (NodeId node = 0; node < 5; ++node)
      relays_.push_back(std::make_unique<Relay>(board(node < 2 ? 0 : 1), node));
  }
  const host::Board& board(std::uint32_t host) { return memories_[host]->board(); }
  /// What a node says now.
  std::vector<Hosts::Word> told_by(NodeId node) {
    Hosts lane;
    relays_[node]->tell(lane);
    return lane.words;
  }
  void deliver(NodeId from, const std::vector<Hosts::Word>& words) {
    for (const Hosts::Word& word : words) relays_[word.to]->heard(from, word.word, word.value);
  }
  std::uint32_t departures(std::uint32_t host) { return board(host).job().departures.load(); }

  std::vector<std::shared_ptr<host::Memory>> memories_ = {host::Memory::create(5), host::Memory::create(5)};
  std::vector<std::unique_ptr<Relay>> relays_;
};

TEST_F(RelayTest, TheFirstOfAHostTellsAllOfTheOtherOnce) {
  board(1).card(3).barriers = 7;
  mark_dead(board(1), 3, 9);
  EXPECT_TRUE(told_by(4).empty()) << "it is not the first";
  const auto words = told_by(2);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].to, 0u);
  EXPECT_EQ(words[1].to, 1u);
  deliver(2, words);
  EXPECT_EQ(board(0).standing(3), Standing::dead);
  EXPECT_EQ(board(0).card(3).wait_status, 9);
  EXPECT_EQ(board(0).card(3).barriers, 7u);
  EXPECT_EQ(departures(0), 1u) << "both heard it";
  EXPECT_TRUE(told_by(2).empty());
}

TEST_F(RelayTest, HowANodeEndedStaysUnknownWhereItIs) {
  mark_dead(board(1), 4, host::unknown_end);
  deliver(2, told_by(2));
  EXPECT_EQ(board(0).card(4).wait_status, host::unknown_end);
}

TEST_F(RelayTest, WhoComesAfterASpeakerSaysItAgain) {
  mark_left(board(1), 4);
  static_cast<void>(told_by(2));  // and lost, with the speaker
  mark_dead(board(1), 2, 0);
  deliver(3, told_by(3));
  EXPECT_EQ(board(0).standing(4), Standing::left);
  EXPECT_EQ(board(0).standing(2), Standing::dead);
}

TEST_F(RelayTest, OneThatLeavesWithTheLastOfTheOtherHostTakesNoNewsWithIt) {
  mark_left(board(0), 1);
  mark_left(board(0), 0);
  const auto words = told_by(0);  // who leaves last
  mark_left(board(1), 2);         // without another look
  for (const Hosts::Word& word : words) {
    if (word.to != 2) relays_[word.to]->heard(0, word.word, word.value);
  }
  EXPECT_EQ(board(1).standing(0), Standing::left);
  EXPECT_EQ(board(1).standing(1), Standing::left);
  EXPECT_TRUE(told_by(3).empty()) << "there is nobody to hear";
}

TEST_F(RelayTest, WhatCannotBeIsNotBelieved) {
  mark_dead(board(1), 3, 9);
  const auto words = told_by(2);
  ASSERT_EQ(words.size(), 2u);
  const std::uint32_t of_3 = words[0].word;
  relays_[4]->heard(0, of_3 - 1, words[0].value);  // of node 2, which is not its neighbour
  relays_[0]->heard(1, of_3, words[0].value);      // from this host, which has no such news
  relays_[0]->heard(99, of_3, words[0].value);
  for (const std::uint32_t word : {0u, ~0u, of_3 + 100, of_3 | 1u << 31, of_3 - 3})
    relays_[0]->heard(2, word, words[0].value);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
    relays_[0]->heard(2, of_3, value);  // absent, joined, and no standing at all
  EXPECT_EQ(departures(0), 0u);
  EXPECT_EQ(departures(1), 1u);
  relays_[0]->lost(2);
  relays_[0]->heard(2, of_3, words[0].value);
  EXPECT_EQ(board(0).standing(3), Standing::joined) << "the dead say nothing";
}

TEST_F(RelayTest, ALostPeerIsDeadUnlessItIsOfThisHost) {
  relays_[0]->lost(4);
  EXPECT_EQ(board(0).standing(4), Standing::dead);
  relays_[0]->lost(1);
  relays_[0]->lost(99);
  EXPECT_EQ(board(0).standing(1), Standing::joined);
  EXPECT_EQ(departures(0), 1u);
}

TEST_F(RelayTest, BarrierWordsAreThoseOfTheHostThatIsDueInTheirRound) {
  Hosts lane;
  relays_[2]->tell_barrier(lane, 0, 0, 41);
  deliver(2, lane.words);
  EXPECT_EQ(relays_[0]->heard_barrier(0), 41u);
  ASSERT_EQ(lane.words.size(), 1u);
  const std::uint32_t word = lane.words[0].word;
  relays_[0]->heard(1, word, 99);  // a neighbour, who has no such news
  relays_[0]->heard(3, word, 99);  // not the first of its host
  relays_[0]->heard(2, word + 1, 99);
  relays_[0]->heard(2, word + 100, 99);
  EXPECT_EQ(relays_[0]->heard_barrier(0), 41u);
  EXPECT_EQ(relays_[0]->heard_barrier(1), 0u);
}

}  // namespace am::core::relay_test
