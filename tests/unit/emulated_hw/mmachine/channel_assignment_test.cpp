#include "emulated_hw/mmachine/channel_assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace am::mmachine::channel_assignment_test {

using enum MessageKind;
constexpr std::array all_kinds = {p0_ordered, p1_ordered, p0_unordered, p1_unordered};

ChannelRequests requests(std::vector<MessageKind> kinds, std::vector<std::size_t> free, bool escape = false) {
  ChannelRequests made{.escape = escape};
  for (const MessageKind kind : kinds) made.asks[static_cast<std::size_t>(kind)] = true;
  for (const std::size_t channel : free) made.free[channel] = true;
  return made;
}
std::optional<std::size_t> given(MessageKind kind, const ChannelRequests& asked) {
  return assign_channels(asked)[static_cast<std::size_t>(kind)];
}

/// The first table of 3.3.3, row by row: who else may take a channel than those whose own it is.
TEST(ChannelAssignment, OnlyTheseMayTakeAnothersChannel) {
  const std::array<std::vector<MessageKind>, most_channels> alternates = {
      std::vector{p1_unordered, p0_unordered}, std::vector{p1_unordered}, std::vector{p1_unordered},
      std::vector{p0_unordered}};
  for (std::size_t channel = 0; channel < most_channels; ++channel) {
    for (const MessageKind kind : all_kinds) {
      const bool may = own_channel(kind) == channel ||
                       std::ranges::find(alternates[channel], kind) != alternates[channel].end();
      EXPECT_EQ(given(kind, requests({kind}, {channel})).has_value(), may)
          << "kind " << static_cast<int>(kind) << ", channel " << channel;
    }
  }
}

/// The second table: in which order unordered messages look for a channel, and to whom they yield.
TEST(ChannelAssignment, UnorderedOnesOfPriorityOneLookFor3And2And1And0) {
  EXPECT_EQ(given(p1_unordered, requests({p1_unordered}, {0, 1, 2, 3})), 3u);
  EXPECT_EQ(given(p1_unordered, requests({p1_unordered}, {0, 1, 2})), 2u);
  EXPECT_EQ(given(p1_unordered, requests({p1_unordered}, {0, 1})), 1u);
  EXPECT_EQ(given(p1_unordered, requests({p1_unordered}, {0})), 0u);
  EXPECT_EQ(given(p1_unordered, requests({p1_unordered, p0_unordered}, {0, 1, 2})), 1u) << "yields 2";
  EXPECT_EQ(given(p1_unordered, requests({p1_unordered, p1_ordered}, {0, 1})), 0u) << "yields 1";
  EXPECT_EQ(given(p1_unordered, requests({p1_unordered, p0_ordered}, {0})), std::nullopt) << "yields 0";
}
TEST(ChannelAssignment, UnorderedOnesOfPriorityZeroLookFor2And3And0) {
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered}, {0, 1, 2, 3})), 2u);
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered}, {0, 1, 3})), 3u);
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered}, {0, 1})), 0u);
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered}, {1})), std::nullopt) << "kept for priority 1";
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered, p1_unordered}, {3})), std::nullopt) << "yields 3";
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered, p1_ordered}, {3})), 3u) << "to nobody else";
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered, p1_unordered}, {0})), std::nullopt) << "yields 0";
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered, p0_ordered}, {0})), std::nullopt) << "yields 0";
  EXPECT_EQ(given(p0_unordered, requests({p0_unordered, p1_unordered}, {0, 1})), 0u)
      << "the other one took 1";
}

/// Whoever asks for whatever, with whatever free. So no kind is starved: each has a channel that is its own as soon as it is free.
TEST(ChannelAssignment, GivesEachChannelOnceAndOnlyWhereItIsFree) {
  for (unsigned bits = 0; bits < 512; ++bits) {
    ChannelRequests asked{.escape = (bits & 256) != 0};
    for (std::size_t i = 0; i < 4; ++i) {
      asked.asks[i] = (bits >> i & 1) != 0;
      asked.free[i] = (bits >> (4 + i) & 1) != 0;
    }
    const ChannelAssignment assigned = assign_channels(asked);
    std::array<int, most_channels> times{};
    for (const MessageKind kind : all_kinds) {
      const auto channel = assigned[static_cast<std::size_t>(kind)];
      const bool asks = asked.is_asked_by(kind);
      if (channel) {
        EXPECT_TRUE(asks && asked.free[*channel]) << bits;
        ++times[*channel];
      }
      const bool preferred = kind == p1_ordered && asked.escape && asked.is_asked_by(p1_unordered);
      if (asks && asked.free[own_channel(kind)] && !preferred) {
        EXPECT_EQ(channel, own_channel(kind)) << bits;
      }
    }
    EXPECT_TRUE(std::ranges::all_of(times, [](int n) { return n <= 1; })) << bits;
  }
}

/// "all of VC0, VC2, VC3 downstream are occupied by P0 messages that are also indefinitely stuck, and there is an incessant stream of
/// new P1-ordered messages" (3.3.3).
TEST(ChannelAssignment, AnUnorderedOneOfPriorityOneEscapesAfter16Losses) {
  Escape escape;
  int losses = 0;
  for (;; ++losses) {
    ASSERT_LE(losses, 16);
    const ChannelRequests asked = requests({p1_ordered, p1_unordered}, {1}, escape.is_due());
    const ChannelAssignment assigned = assign_channels(asked);
    escape.saw(asked, assigned);
    if (assigned[static_cast<std::size_t>(p1_unordered)]) break;
    EXPECT_EQ(assigned[static_cast<std::size_t>(p1_ordered)], 1u);
  }
  EXPECT_EQ(losses, 16);
  EXPECT_FALSE(escape.is_due()) << "from the beginning again";
}
TEST(ChannelAssignment, OnlySuccessiveLossesCount) {
  Escape escape;
  const auto step = [&](const ChannelRequests& asked) { escape.saw(asked, assign_channels(asked)); };
  for (int i = 0; i < 15; ++i) step(requests({p1_ordered, p1_unordered}, {1}));
  step(requests({p1_ordered, p1_unordered}, {})) /* nobody won */;
  EXPECT_FALSE(escape.is_due());
  step(requests({p1_ordered, p1_unordered}, {1, 3}));  // it has got a channel
  for (int i = 0; i < 15; ++i) step(requests({p1_ordered, p1_unordered}, {1}));
  EXPECT_FALSE(escape.is_due());
  step(requests({p1_ordered, p1_unordered}, {1}));
  EXPECT_TRUE(escape.is_due());
}

}  // namespace am::mmachine::channel_assignment_test
