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
// and it comes first: so what has been entered anywhere can be brought on without waiting for room.
//
// What is told in these steps may be told again, or late: tellings are hints (look here) and never wrong to follow.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "emulated_hw/kit/live_channel.hpp"

namespace am::kit {

/// Where a packet goes: into a channel, or to a node, where it is counted, or not even that.
struct LiveEnd {
  unsigned output;
  std::atomic<Word>* entries;  ///< of the channel, or the node's count; or none
  LiveChannel* channel;        ///< none: the node
  std::uint32_t packet;        ///< what it is there: itself, or what becomes of it
};

/// Those of a packet, in order.
class LiveEnds {
 public:
  explicit LiveEnds(const LiveEnd& first) noexcept : end_{first} {}
  void add(const LiveEnd& end) noexcept { end_[count_++] = end; }
  [[nodiscard]] const LiveEnd& first() const noexcept { return end_[0]; }
  [[nodiscard]] const LiveEnd* begin() const noexcept { return end_.data(); }
  [[nodiscard]] const LiveEnd* end() const noexcept { return end_.data() + count_; }

 private:
  std::array<LiveEnd, 2> end_;
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
///   ends(input, packet)                   where it goes: LiveEnds
///   has_come(end, input)                  it is there: told once at least
///   has_moved(ends)                       it is there, and no longer here: told once at most
///   has_left(input, number)               the same: told once at least
template <class Carrier>
class LiveMove {
 public:
  explicit LiveMove(Carrier& carrier) noexcept : carrier_(carrier) {}

  /// Of the first packet of an input, as it was seen.
  Moved run(unsigned input, const LiveChannel::First& first, const LiveEnds& ends) {
    return run(input, first, ends, 0);
  }

 private:
  // An end's last packet may have to be brought on first, and at its last end another one, which has been entered everywhere.
  static constexpr unsigned most_depth = 2;

  Moved run(unsigned input, const LiveChannel::First& first, const LiveEnds& ends, unsigned depth) {
    for (const LiveEnd& end : ends) {
      if (end.entries != nullptr) {
        Entry entry;
        const Moved entered = enter(input, first, end, entry, depth);
        if (entered != Moved::yes) return entered;
        if (end.channel != nullptr) bring(*end.channel, entry, end.packet);
      }
      carrier_.has_come(end, input);
    }
    if (carrier_.change(carrier_.input(input).left, first.number, first.number + 1)) carrier_.has_moved(ends);
    carrier_.has_left(input, first.number);
    return Moved::yes;
  }

  Moved enter(unsigned input, const LiveChannel::First& first, const LiveEnd& end, Entry& entry,
              unsigned depth) {
    for (;;) {
      entry = {carrier_.see(*end.entries)};
      if (carrier_.see(carrier_.input(input).left) != first.number) return Moved::already;
      if (entry.names(input, first.number)) return Moved::yes;
      if (end.channel != nullptr && !end.channel->has_room(entry, see())) return Moved::no_room;
      settle(entry, input, depth);
      const Entry next = entry.with(input, first.number);
      if (carrier_.change(*end.entries, entry.word, next.word)) {
        entry = next;
        return Moved::yes;
      }
    }
  }

  /// The packet that this entry names has left its input. (One of `input` has, since another is the first there.)
  void settle(Entry entry, unsigned input, unsigned depth) {
    const unsigned other = entry.input();
    if (other == input || !entry.has_input()) return;
    if (other >= carrier_.inputs() || depth == most_depth) return;  // another has scribbled here
    const LiveChannel::First first = carrier_.input(other).first(see());
    if (first.is_there && entry.names(other, first.number))
      run(other, first, carrier_.ends(other, first.packet), depth + 1);
  }

  void bring(LiveChannel& channel, Entry entry, std::uint32_t packet) {
    const Word number = entry.count() - 1;
    std::atomic<Word>& place = channel.place[number % LiveChannel::places];
    const Word seen = carrier_.see(place);
    if (carrier_.see(channel.entries) != entry.word) return;
    const std::uint32_t lap = LiveChannel::lap_of(seen);
    if (((lap ^ LiveChannel::lap_of_number(number)) & 1) != 0)
      carrier_.change(place, seen, LiveChannel::filled(packet, lap + 1));
  }

  [[nodiscard]] auto see() const {
    return [this](const std::atomic<Word>& word) { return carrier_.see(word); };
  }

  Carrier& carrier_;
};

}  // namespace am::kit
