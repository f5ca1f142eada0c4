// One router of the M-Machine by itself: which channel a message takes, and when (thesis, 3.3.3 and 4.4).
#include "emulated_hw/mmachine/router.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace router_test {

using namespace am::mmachine;
using enum MessageKind;

Message message(NodePlace to, MessageKind kind) {
  return {.header = {.destination = to,
                     .turns = {false, false, priority_of(kind)},
                     .ordered = is_ordered(kind),
                     .priority = priority_of(kind)}};
}

/// The router at [1, 1]; whatever it sends is noted, and room comes back where a test says so.
class Alone {
 public:
  struct Sent {
    Direction side;
    unsigned channel;
    Flit flit;
  };
  explicit Alone(unsigned channels = 4) : router({1, 1}, channels) {}

  const Flit* injected(Priority priority) {
    auto& queue = to_inject[index(priority)];
    return queue.empty() ? nullptr : &queue.front();
  }
  std::uint32_t taken(Priority priority) {
    to_inject[index(priority)].pop_front();
    return 0;
  }
  void send(Direction side, unsigned channel, const Flit& flit) {
    sent.push_back({side, channel, flit});
    if (returns[channel]) returning.push_back({side, channel});
  }
  void freed(Direction side, unsigned channel) { freed_now.push_back({side, channel}); }
  bool accepts(Priority) { return true; }
  void extracted(Priority, const Flit&) {}

  void inject(NodePlace to, MessageKind kind) {
    const Message sending = message(to, kind);
    for (unsigned at = 0; at < sending.flits(); ++at)
      to_inject[index(sending.header.priority)].push_back(sending.flit(at));
  }
  /// From the neighbour at x down, in these cycles one after the other.
  void comes(unsigned channel, NodePlace to, MessageKind kind) {
    const Message coming = message(to, kind);
    for (unsigned at = 0; at < coming.flits(); ++at) {
      router.receive(Direction::x_down, channel, coming.flit(at));
      step();
    }
  }
  void step(unsigned cycles = 1) {
    for (; cycles != 0; --cycles) {
      freed_now.clear();
      router.step(*this);
      for (const auto& [side, channel] : std::exchange(returning, {})) router.vacancy(side, channel);
    }
  }
  struct Room {
    Direction side;
    unsigned channel;
  };
  Router router;
  std::array<std::deque<Flit>, 2> to_inject;
  std::vector<Sent> sent;
  std::vector<Room> returning;
  std::vector<Room> freed_now;
  std::array<bool, 4> returns{true, true, true, true};
};

constexpr NodePlace far_right = {5, 1};

/// Of the prototype's two channels unordered ones take that of their priority.
TEST(Router, EachKindTakesItsOwnChannelWhereNothingElseIs) {
  for (const unsigned channels : {2u, 4u}) {
    for (const MessageKind kind : {p0_ordered, p1_ordered, p0_unordered, p1_unordered}) {
      Alone alone(channels);
      alone.inject(far_right, kind);
      alone.step(10);
      ASSERT_EQ(alone.sent.size(), 3u);
      for (const auto& sent : alone.sent) {
        EXPECT_EQ(sent.side, Direction::x_up);
        EXPECT_EQ(sent.channel, own_channel(kind) % channels);
      }
      EXPECT_EQ(Header::of(alone.sent[0].flit.word.bits).destination, far_right);
      EXPECT_TRUE(alone.sent[2].flit.tail);
      EXPECT_TRUE(alone.router.is_idle());
    }
  }
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
  const Message coming = message(far_right, p1_ordered);
  for (int cycle = 0; cycle < 400; ++cycle) {
    if (cycle == 6) alone.inject(far_right, p1_unordered);
    while (alone.to_inject[1].size() < 6) alone.inject(far_right, p1_ordered);
    if (at == coming.flits() && freed == coming.flits()) at = freed = 0;
    if (at != coming.flits()) alone.router.receive(Direction::x_down, 1, coming.flit(at++));
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

}  // namespace router_test
