// One router of the M-Machine by itself: which channel a message takes, and when (thesis, 3.3.3 and 4.4).
#include "emulated_hw/mmachine/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

namespace router_test {

using namespace am::mmachine;
using enum MessageKind;

Header header(NodePlace to, MessageKind kind) {
  const bool p1 = kind == p1_ordered || kind == p1_unordered;
  return {.destination = to,
          .turns = {false, false, p1 ? Priority::p1 : Priority::p0},
          .ordered = kind == p0_ordered || kind == p1_ordered,
          .priority = p1 ? Priority::p1 : Priority::p0};
}

/// The router at [1, 1]; whatever it sends is noted, and room comes back where a test says so.
class Alone final : public RouterPorts {
 public:
  struct Sent {
    unsigned cycle;
    Direction side;
    unsigned channel;
    Flit flit;
  };
  explicit Alone(unsigned channels = 4) : router({1, 1}, channels) {}

  const Flit* injected(Priority priority) override {
    auto& queue = to_inject[index(priority)];
    return queue.empty() ? nullptr : &queue.front();
  }
  void taken(Priority priority) override { to_inject[index(priority)].pop_front(); }
  void send(Direction side, unsigned channel, const Flit& flit) override {
    sent.push_back({cycle, side, channel, flit});
    if (returns[channel]) returning.push_back({side, channel});
  }
  void freed(Direction side, unsigned channel) override { freed_now.push_back({side, channel}); }
  bool accepts(Priority) override { return true; }
  void extracted(Priority priority, const Flit& flit) override {
    extracted_flits[index(priority)].push_back(flit);
  }

  void inject(NodePlace to, MessageKind kind) {
    Message message;
    message.header = header(to, kind);
    for (unsigned at = 0; at < message.flits(); ++at)
      to_inject[index(message.header.priority)].push_back(message.flit(at));
  }
  /// From the neighbour at x down, in these cycles one after the other.
  void comes(unsigned channel, NodePlace to, MessageKind kind) {
    Message message;
    message.header = header(to, kind);
    for (unsigned at = 0; at < message.flits(); ++at) {
      router.receive(Direction::x_down, channel, message.flit(at));
      step();
    }
  }
  void step(unsigned cycles = 1) {
    for (; cycles != 0; --cycles) {
      freed_now.clear();
      router.step(*this);
      ++cycle;
      for (const auto& [side, channel] : std::exchange(returning, {})) router.vacancy(side, channel);
    }
  }
  [[nodiscard]] std::optional<unsigned> channel_of_first_sent() const {
    return sent.empty() ? std::nullopt : std::optional(sent.front().channel);
  }

  struct Room {
    Direction side;
    unsigned channel;
  };
  Router router;
  unsigned cycle = 0;
  std::array<std::deque<Flit>, 2> to_inject;
  std::array<std::vector<Flit>, 2> extracted_flits;
  std::vector<Sent> sent;
  std::vector<Room> returning;
  std::vector<Room> freed_now;
  std::array<bool, 4> returns{true, true, true, true};
};

constexpr NodePlace far_right = {5, 1};

TEST(Router, EachKindTakesItsOwnChannelWhereNothingElseIs) {
  for (const MessageKind kind : {p0_ordered, p1_ordered, p0_unordered, p1_unordered}) {
    Alone alone;
    alone.inject(far_right, kind);
    alone.step(10);
    ASSERT_EQ(alone.sent.size(), 3u);
    for (const auto& sent : alone.sent) {
      EXPECT_EQ(sent.side, Direction::x_up);
      EXPECT_EQ(sent.channel, own_channel(kind));
    }
    EXPECT_EQ(Header::of(alone.sent[0].flit.word.bits).destination, far_right);
    EXPECT_TRUE(alone.sent[2].flit.tail);
    EXPECT_TRUE(alone.router.is_idle());
  }
}
TEST(Router, OfThePrototypesTwoChannelsUnorderedOnesTakeThatOfTheirPriority) {
  for (const MessageKind kind : {p0_ordered, p1_ordered, p0_unordered, p1_unordered}) {
    Alone alone(2);
    alone.inject(far_right, kind);
    alone.step(10);
    const bool p1 = kind == p1_ordered || kind == p1_unordered;
    EXPECT_EQ(alone.channel_of_first_sent(), p1 ? 1u : 0u);
  }
}

TEST(Router, WhatGoesStraightOnLeavesInTheCycleAfterItCame) {
  Alone alone;
  alone.router.receive(Direction::x_down, 0, Message{.header = header(far_right, p0_ordered)}.flit(0));
  alone.step();  // the cycle behind that in which it came over the link
  ASSERT_EQ(alone.sent.size(), 1u);
  ASSERT_EQ(alone.freed_now.size(), 1u) << "its FVC goes at once";
  EXPECT_EQ(alone.freed_now[0].side, Direction::x_down);
}

/// A message from the left, to a place above or below: a cycle for each buffer.
TEST(Router, WhatTurnsPassesATurnBuffer) {
  for (const bool down : {false, true}) {
    Alone alone;
    Message message;
    message.header = header({1, static_cast<std::uint8_t>(down ? 0 : 3)}, p0_unordered);
    message.header.turns.y_down = down;
    alone.router.receive(Direction::x_down, 2, message.flit(0));
    alone.step();
    EXPECT_TRUE(alone.sent.empty());
    alone.step();
    ASSERT_EQ(alone.sent.size(), 1u);
    EXPECT_EQ(alone.sent[0].side, down ? Direction::y_down : Direction::y_up);
  }
}

/// What the inject module computes (4.4.1).
TEST(Router, TurnsAreComputedWhereAMessageIsInjected) {
  for (unsigned x = 0; x < 3; ++x) {
    for (unsigned y = 0; y < 3; ++y) {
      for (const MessageKind kind : {p0_ordered, p1_unordered}) {
        Alone alone;
        const NodePlace to{static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
        alone.inject(to, kind);
        alone.to_inject[0].empty() ? alone.to_inject[1][1].word.bits = 1 << 22
                                   : alone.to_inject[0][1].word.bits = 1 << 22;  // only headers have turns
        alone.step(10);
        const unsigned priority = kind == p1_unordered ? 1 : 0;
        std::vector<Flit> out = alone.extracted_flits[priority];
        for (const auto& sent : alone.sent) out.push_back(sent.flit);
        ASSERT_EQ(out.size(), 3u);
        const Turns turns = Header::of(out[0].word.bits).turns;
        EXPECT_EQ(turns, (Turns{x < 1, y < 1, static_cast<Priority>(priority)}));
        EXPECT_TRUE(out[0].is_whole());
        EXPECT_EQ(out[1].word.bits, 1u << 22);
      }
    }
  }
}

TEST(Router, ABufferIsGivenToTheNextMessageWhenItHasBecomeEmpty) {
  Alone alone;
  alone.returns[0] = false;
  alone.inject(far_right, p0_ordered);
  alone.inject(far_right, p0_ordered);
  alone.step(20);
  EXPECT_EQ(alone.sent.size(), 3u) << "the first has gone, and lies in the next router";
  for (int flit = 0; flit < 2; ++flit) alone.router.vacancy(Direction::x_up, 0);
  alone.step(20);
  EXPECT_EQ(alone.sent.size(), 3u) << "but for one flit";
  alone.router.vacancy(Direction::x_up, 0);
  alone.step(20);
  EXPECT_EQ(alone.sent.size(), 6u);
}

/// The pathological case of 3.3.3: all other channels are held by what does not move, and ordered messages of the same priority come one
/// after the other. The unordered one goes after 16 of them.
TEST(Router, AnUnorderedReplyEscapesAfterSixteenLosses) {
  Alone alone;
  alone.returns = {false, true, false, false};
  alone.comes(0, far_right, p0_ordered);
  alone.comes(2, far_right, p0_unordered);
  alone.comes(3, far_right, p0_unordered);
  alone.step(10);
  ASSERT_EQ(alone.sent.size(), 9u) << "they hold channels 0, 2 and 3";
  alone.sent.clear();

  // Two sources of ordered ones, so that there is always one that asks when the channel becomes free.
  alone.inject(far_right, p1_unordered);
  alone.step(8);
  ASSERT_FALSE(alone.sent.empty()) << "nobody else asks: it takes channel 1";
  alone.sent.clear();
  unsigned at = 3, freed = 3, ordered = 0;
  const Message message{.header = header(far_right, p1_ordered)};
  for (int cycle = 0; cycle < 400; ++cycle) {
    if (cycle == 6) alone.inject(far_right, p1_unordered);
    while (alone.to_inject[1].size() < 6) alone.inject(far_right, p1_ordered);
    if (at == message.flits() && freed == message.flits()) at = freed = 0;
    if (at != message.flits()) alone.router.receive(Direction::x_down, 1, message.flit(at++));
    alone.sent.clear();
    alone.step();
    for (const auto& room : alone.freed_now) freed += room.side == Direction::x_down && room.channel == 1;
    for (const auto& sent : alone.sent) {
      if (sent.flit.word.bits == 0) continue;  // no header
      if (!Header::of(sent.flit.word.bits).ordered) {
        EXPECT_GE(ordered, 16u);
        EXPECT_LE(ordered, 16u + 8u) << "and those that were before it in its queue";
        return;
      }
      ++ordered;
    }
  }
  FAIL() << "the unordered one never went";
}

TEST(Router, OneVacancyOfADirectionGoesBackInACycle) {
  Alone alone;
  // Three messages that leave this half on three paths at once.
  const std::array<Header, 3> headers = {header({5, 1}, p0_ordered), header({1, 5}, p0_unordered),
                                         header({1, 0}, p1_unordered)};
  for (unsigned i = 0; i < 3; ++i) {
    Message message;
    message.header = headers[i];
    message.header.turns.y_down = i == 2;
    alone.router.receive(Direction::x_down, i == 0 ? 0 : i + 1, message.flit(0));
  }
  std::vector<unsigned> channels;
  for (int cycle = 0; cycle < 3; ++cycle) {
    alone.step();
    ASSERT_EQ(alone.freed_now.size(), 1u);
    EXPECT_EQ(alone.freed_now[0].side, Direction::x_down);
    channels.push_back(alone.freed_now[0].channel);
  }
  std::ranges::sort(channels);
  EXPECT_EQ(channels, (std::vector<unsigned>{0, 2, 3}));
}

}  // namespace router_test
