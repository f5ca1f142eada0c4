// A channel of the live substrate: a queue of packets in memory that processes share, any of which may end or be stopped at any
// instruction. A packet is a number; what it names does not travel.
//
//   entries   how many packets have been let in, and which was the last: an Entry
//   left      how many have gone on: the number of the first that has not
//   places    packet n lies at n % places, with its lap (n / places + 1), once it has been brought there
//
// Each word changes by compare-and-swap from the very word that was seen, and holds no word twice while anybody who has seen it may
// still act on it: so whoever was stopped, and acts on what he saw long ago, changes nothing. (An Entry's number comes again after
// 2^38 packets of one input, seven hours of 10 M/s, a lap after 2^32.) Who lets packets in, and when: live_move.hpp.
//
// All zero is an empty channel.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace am::kit {

using Word = std::uint64_t;

/// Loads a word, for whoever is not to be stopped there.
struct Look {
  [[nodiscard]] Word operator()(const std::atomic<Word>& word) const noexcept {
    return word.load(std::memory_order_seq_cst);
  }
};

/// What has come to an end, a channel or a node, one after the other: how many (20 bits), and which was the last: its input in the
/// router before (6 bits, 0: none), and its number there (38 bits).
struct Entry {
  Word word = 0;

  static constexpr unsigned most_inputs = 63;

  [[nodiscard]] constexpr Word count() const noexcept { return word >> count_at; }
  /// How many have come beyond n, of which it is fewer than 2^19.
  [[nodiscard]] constexpr std::int64_t beyond(Word n) const noexcept {
    return static_cast<std::int64_t>((count() - n) << count_at) >> count_at;
  }
  [[nodiscard]] constexpr Word number() const noexcept { return word & ((Word{1} << number_bits) - 1); }
  [[nodiscard]] constexpr bool has_input() const noexcept { return (word >> number_bits & 63) != 0; }
  [[nodiscard]] constexpr unsigned input() const noexcept {
    return static_cast<unsigned>(word >> number_bits & 63) - 1;
  }
  [[nodiscard]] constexpr bool names(unsigned its_input, Word number) const noexcept {
    return (word ^ of(its_input, number)) << count_bits == 0;
  }
  /// With one more.
  [[nodiscard]] constexpr Entry with(unsigned its_input, Word number) const noexcept {
    return {(count() + 1) << count_at | of(its_input, number)};
  }

 private:
  static constexpr unsigned count_bits = 20;
  static constexpr unsigned number_bits = 38;
  static constexpr unsigned count_at = 64 - count_bits;
  static constexpr Word of(unsigned its_input, Word number) noexcept {
    return Word{its_input + 1} << number_bits | (number & ((Word{1} << number_bits) - 1));
  }
};

/// A counter for reports. Several threads may add at once, and no count is lost; it orders nothing.
template <class T>
class Tally {
 public:
  operator T() const noexcept { return value_.load(std::memory_order_relaxed); }  // NOLINT: it is one
  Tally& operator=(T value) noexcept {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  void add(T n) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }

 private:
  std::atomic<T> value_;
};

/// On a line of its own: who is on other ways does not touch it.
struct alignas(64) LiveChannel {
  static constexpr unsigned places = 4;

  /// The first packet that has not gone on, as it was seen; or that there is none.
  struct First {
    Word number = 0;
    std::uint32_t packet = 0;
    bool is_there = false;
  };
  /// `see(word)` loads one.
  template <class See>
  [[nodiscard]] First first(See see) const {
    return at(see(left), see);
  }
  template <class See>
  [[nodiscard]] First at(Word number, See see) const {
    const Word word = see(place[number % places]);
    return {number, packet_of(word), lap_of(word) == lap_of_number(number)};
  }
  [[nodiscard]] std::atomic<Word>& place_of(Word number) noexcept { return place[number % places]; }
  /// Whether one more may come behind this entry, where there may be so many.
  template <class See>
  [[nodiscard]] bool has_room(Entry last, See see, unsigned most = places) const {
    return last.beyond(see(left)) < std::int64_t{most};
  }

  /// The same behind the last one.
  [[nodiscard]] bool has_room(unsigned most) const noexcept {
    return has_room(Entry{Look()(entries)}, Look(), most);
  }
  /// By the only one who lets packets in here, so that its entries are its own: false, and nothing has happened, where there is no room.
  bool put(std::uint32_t packet, unsigned most) noexcept {
    const Entry last{entries.load(std::memory_order_relaxed)};
    if (!has_room(last, Look(), most)) return false;
    entries.store(last.with(0, 0).word, std::memory_order_relaxed);
    fill(place[last.count() % places], packet);
    return true;
  }
  /// A place that is its own, with one more lap.
  static void fill(std::atomic<Word>& place, std::uint32_t packet) noexcept {
    const std::uint32_t lap = lap_of(place.load(std::memory_order_relaxed)) + 1;
    place.exchange(filled(packet, lap), std::memory_order_seq_cst);
  }

  static constexpr std::uint32_t packet_of(Word place) noexcept {
    return static_cast<std::uint32_t>(place >> 32);
  }
  static constexpr std::uint32_t lap_of(Word place) noexcept { return static_cast<std::uint32_t>(place); }
  static constexpr std::uint32_t lap_of_number(Word number) noexcept {
    return static_cast<std::uint32_t>(number / places + 1);
  }
  static constexpr Word filled(std::uint32_t packet, std::uint32_t lap) noexcept {
    return Word{packet} << 32 | lap;
  }

  std::atomic<Word> entries;
  std::atomic<Word> left;
  std::array<std::atomic<Word>, places> place;
  Tally<std::uint64_t> flits;    ///< that have come
  Tally<std::uint64_t> refused;  ///< looks at its first packet that found no room behind it
};
static_assert(std::atomic<Word>::is_always_lock_free);

}  // namespace am::kit
