// A packet's way through a router of the live substrate, by whoever comes by. There is no lock, and so nobody who holds one and dies:
// each step is one compare-and-swap, and whoever finds a packet half on its way brings it on.
//
//   1  enter it at each of its ends (channels, the node's count): the end's Entry names it, as one more
//      into a channel, bring it to the place that this gives it
//   2  take it out of its input: `left` goes to its number + 1
//
// Anybody may do these steps, several at once, and again after any of them has been done. Why each happens once:
//   - who enters a packet has seen the end's entry, and then that the packet was still the first of its input, and that the entry
//     does not name it. An entry that names a packet is replaced only when that packet has left its input (settle). So the packet was
//     not entered when the entry was seen; and if it has been since, the entry has changed, and the compare-and-swap fails.
//   - who brings it to its place has seen the place, and then the entry that gave it: no later packet has been entered, so the place
//     holds this lap, or the one before. When it is the one before, and is still at the swap, nobody has brought it.
//   - `left` goes from its number only once.
//
// A packet with several ends is entered there in order, so the last of them names it only when all have it. At most one is a channel,
// and it comes first: so what has been entered anywhere can be brought on without waiting for room. Of several channels that it may
// take, the entry says which one it has got (live_link.hpp). With several channels one could be entered and another full:
// tests/models/live_ends.pml has the design for these.
//
// What is told in these steps may be told again, or late: tellings are hints (look here) and never wrong to follow.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/live_channel.hpp"

namespace am::kit {

/// Where a packet goes: into a channel, or to a node, where it is counted, or not even that.
struct LiveEnd {
  unsigned output;
  std::atomic<Word>* entries;  ///< of the channel, or the node's count; or none
  LiveChannel* channel;        ///< none: the node
  std::uint32_t packet;        ///< what it is there: itself, or what becomes of it

  static constexpr unsigned most = 2;  ///< of one packet

  // Where the one of that number lies in `channel`.

  [[nodiscard]] std::atomic<Word>& place(Word number) const noexcept { return channel->place_of(number); }
  [[nodiscard]] static std::uint32_t lap(Word number) noexcept { return LiveChannel::lap_of_number(number); }

  // How `entries` is read.

  [[nodiscard]] static bool names(Word last, unsigned input, Word number) noexcept {
    return Entry{last}.names(input, number);
  }
  /// From which the last one came; no input's number: from none.
  [[nodiscard]] static unsigned input(Word last) noexcept { return Entry{last}.input(); }
  /// With one more, which is never 0; 0: there is no room.
  template <class See>
  [[nodiscard]] Word next(Word last, unsigned input, Word number, See see) const {
    if (channel != nullptr && !channel->has_room(Entry{last}, see)) return 0;
    return Entry{last}.with(input, number).word;
  }
  /// Where there has to be room for it.
  [[nodiscard]] Requests outputs() const noexcept { return request(output); }
  /// It has been let in, by this entry: from now on `output` and `channel` say where.
  void let_in(Word /*entry*/) noexcept {}
  /// Its number there, modulo a multiple of the places.
  [[nodiscard]] static Word number(Word entry) noexcept { return Entry{entry}.count() - 1; }
};

/// Those of a packet, in order.
template <class End>
class LiveEnds {
 public:
  explicit LiveEnds(const End& first) noexcept { end_[0] = first; }
  void add(const End& end) noexcept { end_[count_++] = end; }
  [[nodiscard]] const End& first() const noexcept { return end_[0]; }
  [[nodiscard]] End* begin() noexcept { return end_.data(); }
  [[nodiscard]] End* end() noexcept { return end_.data() + count_; }
  [[nodiscard]] const End* begin() const noexcept { return end_.data(); }
  [[nodiscard]] const End* end() const noexcept { return end_.data() + count_; }

 private:
  std::array<End, End::most> end_;
  unsigned count_ = 1;
};

enum class Moved : std::uint8_t {
  yes,
  already,  ///< it was no longer the first of its input
  no_room,  ///< and nothing has happened
};

/// `Carrier` gives the router's words, and access to all:
///   see(word), change(word, seen, to)     seq_cst
///   inputs(), input(number)               the channels into this router
///   first(input)                          the first packet there, as it is seen
///   ends(input, first)                    where it goes: LiveEnds
///   has_come(end, input)                  it is there: told once at least
///   has_moved(ends)                       it is there, and no longer here: told once at most
///   has_left(input, number)               the same: told once at least
template <class Carrier, class End>
class LiveMove {
 public:
  explicit LiveMove(Carrier& carrier) noexcept : carrier_(carrier) {}

  /// Of the first packet of an input, as it was seen. `ends` are told where it has been let in.
  Moved run(unsigned input, const LiveChannel::First& first, LiveEnds<End>& ends) {
    return run(input, first, ends, 0);
  }

 private:
  // An end's last packet may have to be brought on first, and at its last end another one, which has been entered everywhere.
  static constexpr unsigned most_depth = 2;

  Moved run(unsigned input, const LiveChannel::First& first, LiveEnds<End>& ends, unsigned depth) {
    for (End& end : ends) {
      if (end.entries != nullptr) {
        Word entry = 0;
        const Moved entered = enter(input, first, end, entry, depth);
        if (entered != Moved::yes) return entered;
        end.let_in(entry);
        if (end.channel != nullptr) bring(end, entry);
      }
      carrier_.has_come(end, input);
    }
    if (carrier_.change(carrier_.input(input).left, first.number, first.number + 1)) carrier_.has_moved(ends);
    carrier_.has_left(input, first.number);
    return Moved::yes;
  }

  Moved enter(unsigned input, const LiveChannel::First& first, const End& end, Word& entry, unsigned depth) {
    for (;;) {
      entry = carrier_.see(*end.entries);
      if (carrier_.see(carrier_.input(input).left) != first.number) return Moved::already;
      if (end.names(entry, input, first.number)) return Moved::yes;
      const Word next = end.next(entry, input, first.number, see());
      if (next == 0) return Moved::no_room;
      settle(end, entry, input, depth);
      if (carrier_.change(*end.entries, entry, next)) {
        entry = next;
        return Moved::yes;
      }
    }
  }

  /// The packet that this entry names has left its input. (One of `input` has, since another is the first there.)
  void settle(const End& at, Word entry, unsigned input, unsigned depth) {
    const unsigned other = at.input(entry);
    if (other == input || other >= carrier_.inputs()) return;
    if (depth == most_depth) return;  // another has scribbled here
    LiveChannel::First first = carrier_.first(other);
    if (!first.is_there || !at.names(entry, other, first.number)) return;
    LiveEnds<End> ends = carrier_.ends(other, first);
    run(other, first, ends, depth + 1);
  }

  void bring(const End& end, Word entry) {
    const Word number = end.number(entry);
    std::atomic<Word>& place = end.place(number);
    const Word seen = carrier_.see(place);
    if (carrier_.see(*end.entries) != entry) return;
    const std::uint32_t lap = LiveChannel::lap_of(seen);
    if (((lap ^ end.lap(number)) & 1) != 0)
      carrier_.change(place, seen, LiveChannel::filled(end.packet, lap + 1));
  }

  [[nodiscard]] auto see() const {
    return [this](const std::atomic<Word>& word) { return carrier_.see(word); };
  }

  Carrier& carrier_;
};

}  // namespace am::kit
