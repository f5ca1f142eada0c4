// A packet's way through a router of the live substrate, by whoever comes by. There is no lock, and so nobody who holds one and dies:
// a move is written down, as one word, before it begins, and whoever finds one begun completes it.
//
//   turn:  which move of this router it is (34 bits) | the move, or none
//
//   1  look at the turn (no move), decide on a move, and write it down by compare-and-swap of the turn
//   2  put the packet where it goes: into each output, or count it at the node; tell there
//   3  take it out of its input; tell whoever waits for room there
//   4  write the next turn down, without a move
//
// Anybody may do steps 2 to 4, several at once, and again after any of them has been done. Why each happens once: a place changes
// by compare-and-swap from a word that it never holds again (live_channel.hpp), and that word was seen, and was the one before the
// step by the mark in the move, before the turn was seen to be still the same. So it belongs to this move; had the step been done
// before the compare-and-swap, that fails.
//
// Why a decision holds that was made before it was written down: only moves of this router take out of its inputs and put into its
// outputs, and there was none, by the turn. Meanwhile packets may have come, and places become free: the decision is possible still.
//
// What is told in steps 2 and 3 may be told again, or late: tellings are hints (look here) and never wrong to follow.
#pragma once

#include <array>
#include <cstdint>

#include "emulated_hw/kit/live_channel.hpp"

namespace am::kit {

/// One move, as its router's turn names it.
struct LiveMove {
  /// A channel, and of its lap there only whether it is odd: the next lap's comes to be seen in the same turn, none other.
  struct End {
    unsigned channel = 0;
    unsigned place = 0;
    bool odd = false;

    static constexpr End at(unsigned its_channel, const LiveChannel::Place& seen) noexcept {
      return {its_channel, seen.index, (seen.lap() & 1) != 0};
    }
    [[nodiscard]] constexpr bool is(const LiveChannel::Place& seen) const noexcept {
      return ((seen.lap() & 1) != 0) == odd;
    }
  };

  End from{};
  std::array<End, 2> to{};
  unsigned count = 1;  ///< of `to`
};

/// The word of a turn.
struct Turn {
  Word word = 0;

  [[nodiscard]] constexpr bool has_move() const noexcept { return (word & 1) != 0; }
  [[nodiscard]] constexpr Turn with(const LiveMove& move) const noexcept {
    return {(word & numbers) | 1 | Word{move.count == 2} << 1 | bits(move.from) << 2 |
            bits(move.to[0]) << 11 | bits(move.to[1]) << 20};
  }
  [[nodiscard]] constexpr LiveMove move() const noexcept {
    return {end(2), {end(11), end(20)}, (word & 2) != 0 ? 2u : 1u};
  }
  /// When the move is done.
  [[nodiscard]] constexpr Turn next() const noexcept { return {(word & numbers) + first_number}; }

 private:
  static constexpr unsigned number_at = 30;
  static constexpr Word first_number = Word{1} << number_at;
  static constexpr Word numbers = ~(first_number - 1);
  static constexpr Word bits(const LiveMove::End& end) noexcept {
    return Word{end.channel} | Word{end.place} << 6 | Word{end.odd} << 8;
  }
  [[nodiscard]] constexpr LiveMove::End end(unsigned at) const noexcept {
    const Word bits = word >> at;
    return {static_cast<unsigned>(bits & 63), static_cast<unsigned>(bits >> 6 & 3), (bits >> 8 & 1) != 0};
  }
};

/// Steps 2 to 4 of the move that the turn names. `carrier` gives the router's words, and access to all:
///   see(word), change(word, seen, to)     seq_cst
///   turn(), input(channel)                of this router
///   put(turn, end, from, packet)          step 2 for one output; false when the turn has passed
///   freed(channel)                        told in step 3
template <class Carrier>
void complete(Carrier& carrier, Turn turn) {
  const LiveMove move = turn.move();
  std::atomic<Word>& place = carrier.input(move.from.channel).word(move.from.place);
  const LiveChannel::Place from{move.from.place, carrier.see(place)};
  if (carrier.see(carrier.turn()) != turn.word) return;
  if (from.is_full() && move.from.is(from)) {  // not taken out yet
    for (unsigned i = 0; i < move.count; ++i) {
      if (!carrier.put(turn, move.to[i], move.from.channel, from.packet())) return;
    }
    carrier.change(place, from.word, from.emptied());
  }
  carrier.freed(move.from.channel);
  carrier.change(carrier.turn(), turn.word, turn.next().word);
}

}  // namespace am::kit
