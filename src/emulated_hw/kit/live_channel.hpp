// A channel of the live substrate: a queue of packets in memory that processes share, any of which may end or be stopped at any
// instruction. A packet is a number; what it names does not travel.
//
// Each place says of itself what it holds, and in which lap: lap (32 bits) | full | packet (31 bits). It goes
//   free in lap n  ->  full in lap n  ->  free in lap n + 1
// by compare-and-swap from the very word that was seen, and never holds the same word again (within 2^32 laps). So whoever was
// stopped and acts on what he saw long ago changes nothing.
//
// Invariants. A place's position (lap * places + index) is that of what it holds, or will hold next; all positions are `places`
// successive numbers, and only a pop changes one, the lowest: so the head is the place of the lowest position, whoever pushes while
// they are looked at one after the other. Likewise where a place will be pushed into next (its position, or one lap on when it is
// full) only a push changes: the tail is the place of the lowest of these, whoever pops meanwhile; it is full when all are.
// All zero is an empty channel.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace am::kit {

using Word = std::uint64_t;

class LiveChannel {
 public:
  static constexpr unsigned places = 4;
  static constexpr unsigned packet_bits = 31;

  /// A place as it was seen.
  struct Place {
    unsigned index;
    Word word;
    [[nodiscard]] constexpr bool is_full() const noexcept { return (word >> 32 & 1) != 0; }
    [[nodiscard]] constexpr std::uint32_t packet() const noexcept {
      return static_cast<std::uint32_t>(word >> 33);
    }
    [[nodiscard]] constexpr std::uint32_t lap() const noexcept { return static_cast<std::uint32_t>(word); }
    [[nodiscard]] constexpr Word with(std::uint32_t packet) const noexcept {
      return Word{packet} << 33 | Word{1} << 32 | lap();
    }
    [[nodiscard]] constexpr Word emptied() const noexcept { return static_cast<std::uint32_t>(lap() + 1); }
  };

  /// The place of the first packet, full or not. `see(word)` loads one.
  template <class See>
  [[nodiscard]] Place head(See see) const {
    return lowest(see, [](const Place& place) { return place.lap(); });
  }
  /// The place where the next packet goes; a full one: there is no room.
  template <class See>
  [[nodiscard]] Place tail(See see) const {
    return lowest(see, [](const Place& place) { return place.lap() + (place.is_full() ? 1 : 0); });
  }
  [[nodiscard]] std::atomic<Word>& word(unsigned index) noexcept { return words_[index]; }
  [[nodiscard]] const std::atomic<Word>& word(unsigned index) const noexcept { return words_[index]; }

 private:
  template <class See, class LapOf>
  [[nodiscard]] Place lowest(See see, LapOf lap_of) const {
    Place first{0, see(words_[0])};
    for (unsigned i = 1; i < places; ++i) {
      const Place place{i, see(words_[i])};
      if (static_cast<std::int32_t>(lap_of(place) - lap_of(first)) < 0) first = place;
    }
    return first;
  }

  std::array<std::atomic<Word>, places> words_;
};
static_assert(std::atomic<Word>::is_always_lock_free);

}  // namespace am::kit
