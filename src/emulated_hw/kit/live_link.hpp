// A link of the live substrate that has several channels, each of which holds one packet: whoever lets one in chooses a channel, and
// says so in the same word, by one compare-and-swap. So nobody ever waits for a channel that he has chosen, and that another has taken;
// and a packet is in one of them only, whoever brings it on (live_move.hpp).
//
// The word is an Entry as that of a channel, with a count for each: of these the lowest bits, which tell what is in the channel, and its
// place and lap. It comes again when 2^37 packets of one input have passed, four hours of 10 M/s, if all counts are the same then.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "emulated_hw/kit/live_channel.hpp"

namespace am::kit {

class LinkEntry {
 public:
  static constexpr unsigned most_channels = 4;
  static constexpr unsigned most_inputs = 31;

  LinkEntry() = default;
  explicit constexpr LinkEntry(Word its_word) noexcept : word(its_word) {}
  Word word = 0;

  /// How many have been let into that channel, modulo `counts`.
  static constexpr Word counts = 32;
  static_assert(counts % (2 * LiveChannel::places) == 0);
  [[nodiscard]] constexpr Word count(unsigned channel) const noexcept {
    return word >> count_at(channel) & (counts - 1);
  }
  /// Where the last one is.
  [[nodiscard]] constexpr unsigned channel() const noexcept {
    return static_cast<unsigned>(word >> channel_at) & (most_channels - 1);
  }
  [[nodiscard]] constexpr bool has_input() const noexcept { return (word >> number_bits & 31) != 0; }
  [[nodiscard]] constexpr unsigned input() const noexcept {
    return static_cast<unsigned>(word >> number_bits & 31) - 1;
  }
  [[nodiscard]] constexpr bool names(unsigned its_input, Word number) const noexcept {
    return ((word ^ of(its_input, number)) & ((Word{1} << channel_at) - 1)) == 0;
  }
  /// With one more, in that channel.
  [[nodiscard]] constexpr LinkEntry with(unsigned its_input, Word number,
                                         unsigned its_channel) const noexcept {
    const Word others = word >> channels_end << channels_end & ~((counts - 1) << count_at(its_channel));
    return LinkEntry(others | ((count(its_channel) + 1) & (counts - 1)) << count_at(its_channel) |
                     Word{its_channel} << channel_at | of(its_input, number));
  }
  /// Whether that channel, of which so many have gone on, is empty.
  [[nodiscard]] constexpr bool is_free(unsigned its_channel, Word left) const noexcept {
    return ((count(its_channel) - left) & (counts - 1)) == 0;
  }

 private:
  static constexpr unsigned number_bits = 37;
  static constexpr unsigned channel_at = number_bits + 5;
  static constexpr unsigned channels_end = channel_at + 2;
  static constexpr unsigned count_at(unsigned channel) noexcept { return channels_end + 5 * channel; }
  static_assert(channels_end + 5 * most_channels == 64);
  static constexpr Word of(unsigned its_input, Word number) noexcept {
    return Word{its_input + 1} << number_bits | (number & ((Word{1} << number_bits) - 1));
  }
};

/// Channels that a packet may take, the best first. One word, since it is handed on with each step.
class Choice {
 public:
  constexpr Choice() = default;
  constexpr Choice(std::initializer_list<unsigned> channels) noexcept {
    unsigned at = 0;
    for (const unsigned channel : channels) order_ |= (channel + 1) << 8 * at++;
  }
  /// Calls f(channel) for each, in this order, until it says true. Whether one has.
  template <class F>
  constexpr bool find(F f) const {
    for (std::uint32_t rest = order_; rest != 0; rest >>= 8) {
      if (f((rest & 255) - 1)) return true;
    }
    return false;
  }

 private:
  std::uint32_t order_ = 0;
};

}  // namespace am::kit
