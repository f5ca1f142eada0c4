// The word of a link of several channels, against counts that do not come again.
#include "emulated_hw/kit/live_link.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "support/random.hpp"

namespace live_link_test {

using namespace am::kit;

constexpr unsigned channels = LinkEntry::most_channels;

/// What the word stands for.
struct Link {
  struct Last {
    unsigned input;
    Word number;
    unsigned channel;
  };
  std::array<Word, channels> count{};
  std::array<Word, channels> left{};
  std::optional<Last> last;
};

void expect_same(const LinkEntry& entry, const Link& link) {
  for (unsigned channel = 0; channel < channels; ++channel) {
    ASSERT_EQ(entry.count(channel), link.count[channel] % LinkEntry::counts);
    ASSERT_EQ(entry.is_free(channel, link.left[channel]), link.left[channel] == link.count[channel]);
  }
  ASSERT_EQ(entry.has_input(), link.last.has_value());
  if (!link.last) return;
  ASSERT_EQ(entry.input(), link.last->input);
  ASSERT_EQ(entry.channel(), link.last->channel);
  ASSERT_TRUE(entry.names(link.last->input, link.last->number));
}

// Counts of all channels wrap around, and leave those of others alone.
TEST(LinkEntry, AgainstCountsOfEachChannel) {
  test::Random random(test::seed());
  for (int round = 0; round < 200; ++round) {
    LinkEntry entry;
    Link link;
    std::array<Word, LinkEntry::most_inputs> numbers{};
    for (Word& number : numbers) number = random() >> random.below(64);
    expect_same(entry, link);
    for (unsigned input = 0; input < LinkEntry::most_inputs; ++input) EXPECT_FALSE(entry.names(input, 0));
    for (int step = 0; step < 1'000; ++step) {
      const auto channel = static_cast<unsigned>(random.below(channels));
      if (link.left[channel] != link.count[channel] && random.one_in(2)) {
        ++link.left[channel];  // which the word does not know
      } else if (link.left[channel] == link.count[channel]) {
        const auto input = static_cast<unsigned>(random.below(LinkEntry::most_inputs));
        const Word number = ++numbers[input];
        ASSERT_FALSE(entry.names(input, number)) << "it has not been let in yet";
        entry = entry.with(input, number, channel);
        ++link.count[channel];
        link.last = {input, number, channel};
        for (unsigned other = 0; other < LinkEntry::most_inputs; ++other)
          ASSERT_EQ(entry.names(other, number), other == input);
        ASSERT_FALSE(entry.names(input, number - 1));
        ASSERT_FALSE(entry.names(input, number + 1));
      }
      expect_same(entry, link);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(LinkEntry, NamesAPacketByTheLowest37BitsOfItsNumber) {
  constexpr Word again = Word{1} << 37;
  for (const Word number : {Word{0}, Word{1}, again - 1, again, again + 1, ~Word{0}}) {
    const LinkEntry entry = LinkEntry{}.with(0, number, 3);
    EXPECT_EQ(entry.input(), 0u) << "what does not fit is not written into it";
    EXPECT_EQ(entry.channel(), 3u);
    EXPECT_EQ(entry.count(0), 0u);
    EXPECT_EQ(entry.count(3), 1u);
    EXPECT_TRUE(entry.names(0, number));
    EXPECT_TRUE(entry.names(0, number + again)) << "so many later";
    EXPECT_FALSE(entry.names(0, number + again - 1));
    EXPECT_FALSE(entry.names(0, number ^ again >> 1));
    EXPECT_FALSE(entry.names(1, number));
  }
}

}  // namespace live_link_test
