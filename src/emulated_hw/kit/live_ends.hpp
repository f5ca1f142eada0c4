// Moves a packet with several channels among its ends through a router of the live substrate: it enters all of them, or none, or those
// that a rule wants. Any carrier may take any step, and may die or stand still at any access. tests/models/live_ends.pml has the design,
// the argument, and every order of these accesses; LiveMove (live_move.hpp) moves packets with one channel among their ends.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/live_channel.hpp"
#include "emulated_hw/kit/live_move.hpp"

namespace am::kit {

/// Of an input: the serial of the attempt to move its first packet, that packet's number, and the fate of the attempt: the set of ends
/// that get the packet, or none while the attempt is open. One compare-and-swap decides it.
struct Head {
  Word word = 0;

  static constexpr unsigned most_ends = 21;
  static constexpr unsigned number_bits = 6;
  [[nodiscard]] static constexpr Head of(Word serial, Word number) noexcept {
    return {serial << serial_at | (number & numbers) << most_ends};
  }

  [[nodiscard]] constexpr Word serial() const noexcept { return word >> serial_at; }
  /// Modulo a multiple of twice the slots.
  [[nodiscard]] constexpr Word number() const noexcept { return word >> most_ends & numbers; }
  [[nodiscard]] constexpr Requests fate() const noexcept { return word & (request(most_ends) - 1); }

  [[nodiscard]] constexpr Head decided(Requests ends) const noexcept { return {word | ends}; }
  /// The attempt has come to nothing: the packet stays.
  [[nodiscard]] constexpr Head lost() const noexcept { return of(serial() + 1, number()); }
  [[nodiscard]] constexpr Head left() const noexcept { return of(serial() + 1, number() + 1); }

 private:
  static constexpr unsigned serial_at = most_ends + number_bits;
  static constexpr Word numbers = (Word{1} << number_bits) - 1;
};

/// Of an end: how many packets have entered (20 bits), and the attempt that holds the end, an input (6 bits, 0: none) and its serial
/// (37 bits): it has entered its packet, or reserved (1 bit) the next slot, which does not count.
struct HeldEntry {
  Word word = 0;

  [[nodiscard]] constexpr Word count() const noexcept { return word >> count_at; }
  [[nodiscard]] constexpr bool is_reserved() const noexcept { return (word & reserved_bit) != 0; }
  [[nodiscard]] constexpr unsigned input() const noexcept {
    return static_cast<unsigned>(word >> serial_bits & 63) - 1;
  }
  [[nodiscard]] constexpr bool is_reserved_by(unsigned its_input, Word serial) const noexcept {
    return holder() == (reserved_bit | of(its_input, serial));
  }
  [[nodiscard]] constexpr bool is_entered_by(unsigned its_input, Word serial) const noexcept {
    return holder() == of(its_input, serial);
  }
  [[nodiscard]] constexpr HeldEntry reserved(unsigned its_input, Word serial) const noexcept {
    return {count() << count_at | reserved_bit | of(its_input, serial)};
  }
  [[nodiscard]] constexpr HeldEntry entered(unsigned its_input, Word serial) const noexcept {
    return {(count() + 1) << count_at | of(its_input, serial)};
  }
  /// Whether the attempt that holds this end is over here, by the head of its input.
  [[nodiscard]] constexpr bool is_over(Head head, unsigned end) const noexcept {
    return ((word ^ head.serial()) & serials) != 0 ||
           (is_reserved() && head.fate() != 0 && !has(head.fate(), end));
  }

 private:
  static constexpr unsigned serial_bits = 37;
  static constexpr unsigned count_at = 44;
  static constexpr Word serials = (Word{1} << serial_bits) - 1;
  static constexpr Word reserved_bit = Word{1} << (count_at - 1);
  [[nodiscard]] constexpr Word holder() const noexcept { return word & ((Word{1} << count_at) - 1); }
  static constexpr Word of(unsigned its_input, Word serial) noexcept {
    return Word{its_input + 1} << serial_bits | (serial & serials);
  }
};

/// A queue of packets as LiveChannel is one. All zero is an empty one.
struct alignas(64) HeldChannel {
  static constexpr unsigned slots = LiveChannel::places;

  std::atomic<Word> entries;  ///< HeldEntry
  std::atomic<Word> head;     ///< Head
  std::array<std::atomic<Word>, slots> slot;
  Tally<std::uint64_t> flits;    ///< that have come
  Tally<std::uint64_t> refused;  ///< looks at its first packet that found no room behind it

  /// The first packet that has not gone on, as it was seen; or that there is none.
  struct First {
    Head head;
    std::uint32_t packet;
    bool is_there;
  };
  template <class See>
  [[nodiscard]] First first(See see) const {
    const Head its{see(head)};
    First first = at(its.number(), see);
    first.head = its;
    return first;
  }
  /// The packet of that number, while it lies there.
  template <class See>
  [[nodiscard]] First at(Word number, See see) const {
    const Word word = see(slot[number % slots]);
    const std::uint32_t other = LiveChannel::lap_of(word) ^ LiveChannel::lap_of_number(number);
    return {{}, LiveChannel::packet_of(word), (other & laps) == 0};
  }
  /// Whether one more may enter. (When the head is seen late, more have left than had entered.)
  template <class See>
  [[nodiscard]] bool has_room(HeldEntry last, See see, unsigned most = slots) const {
    constexpr unsigned others = 64 - Head::number_bits;
    const Word beyond = last.count() - Head{see(head)}.number();
    return static_cast<std::int64_t>(beyond << others) < static_cast<std::int64_t>(Word{most} << others);
  }
  [[nodiscard]] bool has_room(unsigned most) const noexcept {
    return has_room({Look()(entries)}, Look(), most);
  }
  /// As LiveChannel::put.
  bool put(std::uint32_t packet, unsigned most) noexcept {
    const HeldEntry last{entries.load(std::memory_order_relaxed)};
    if (!has_room(last, Look(), most)) return false;
    entries.store(last.entered(0, 0).word, std::memory_order_relaxed);
    LiveChannel::fill(slot[last.count() % slots], packet);
    return true;
  }

 private:
  static constexpr std::uint32_t laps =
      (1U << Head::number_bits) / slots - 1;  // as far as a head's number tells them
};

/// Which ends get a packet, by what has room.
enum class EndRule : std::uint8_t {
  all,   ///< each, or none
  keep,  ///< each of the others that has room; for those that have none the last one keeps a copy. Where it has none: all others, or none
  one,   ///< any
};

/// Where a packet goes: channels behind some outputs, and this router's node.
struct EndSet {
  Requests channels = 0;
  bool node = false;
  EndRule rule = EndRule::all;

  /// Whether they need a fate.
  [[nodiscard]] constexpr bool are_several() const noexcept {
    return rule != EndRule::all || (channels & (channels - 1)) != 0;
  }
  /// Those that the rule wants, in their order, of those for which take(end) is true. None: it waits for any in `full`.
  template <class Take>
  [[nodiscard]] Requests choose(Requests& full, Take take) const {
    const Requests keeper = rule == EndRule::keep ? std::bit_floor(channels) : 0;
    Requests taken = 0, lacking = 0;
    for (Requests rest = channels; rest != 0; rest &= rest - 1) {
      const Requests end = request(first_of(rest));
      if (end == keeper && lacking == 0) break;
      if (take(first_of(rest))) {
        taken |= end;
        if (rule == EndRule::one) break;
      } else {
        full = lacking |= end;
        if (rule == EndRule::all || end == keeper) return 0;
      }
    }
    return taken;
  }
};

/// `Carrier` gives the router's words, and access to all:
///   see(word), change(word, seen, to)     seq_cst
///   inputs(), input(number)               HeldChannels into this router
///   channel(output)                       HeldChannels behind it
///   node(input, packet)                   the word that counts it if it ends here, a HeldEntry
///   ends(input, packet)                   where that packet goes
///   packet_at(output, packet, fate)       what it is there, when it enters the ends of that set
///   has_come(output)                      it is there: told once at least, as the next
///   has_come_to_node(input, packet)
///   has_moved(input, outputs, to_node)    it is there, and no longer here: told once at most
///   has_left(input, number)               the same: told once at least
template <class Carrier>
class LiveEndsMove {
 public:
  explicit LiveEndsMove(Carrier& carrier) noexcept : carrier_(carrier) {}

  /// Of the first packet of an input, as it was seen. `already`: another carrier has moved it, or tried to. `no_room`: it waits for any of
  /// the outputs in `full`.
  Moved run(unsigned input, const HeldChannel::First& first, Requests& full) {
    return run({input, first.head, 0, 0, first.packet}, full);
  }

 private:
  struct Attempt {
    unsigned input;
    Head head;
    unsigned from;   ///< ends before it are taken as they are
    unsigned depth;  ///< attempts in whose way it is
    std::uint32_t packet;
    EndSet ends = {};
  };

  static constexpr unsigned node = Head::most_ends;  // an end

  Moved run(Attempt its, Requests& full) {
    its.ends = carrier_.ends(its.input, its.packet);
    full = its.ends.channels;
    Requests channels = its.ends.channels;
    if (its.ends.are_several()) {
      if (const Moved decided = decide(its, full); decided != Moved::yes) return decided;
      channels &= its.head.fate();  // which is among them, unless another has scribbled here
    }
    for (Requests rest = channels; rest != 0; rest &= rest - 1) {
      const unsigned end = first_of(rest);
      HeldEntry entry;
      const Moved entered = its.ends.are_several() ? fill(its, end, entry) : enter(its, end, entry);
      if (entered != Moved::yes) return entered;
      bring(its, end, entry);
      carrier_.has_come(end);
    }
    if (its.ends.node) {
      HeldEntry entry;
      if (enter(its, node, entry) != Moved::yes) return Moved::already;
      carrier_.has_come_to_node(its.input, its.packet);
    }
    if (carrier_.change(carrier_.input(its.input).head, its.head.word, its.head.left().word))
      carrier_.has_moved(its.input, channels, its.ends.node);
    carrier_.has_left(its.input, its.head.number());
    return Moved::yes;
  }

  /// Afterwards its head says which ends get it.
  Moved decide(Attempt& its, Requests& full) {
    if (its.head.fate() != 0) return Moved::yes;
    // So that few attempts come to nothing. (One in the way of another has to come to an end.)
    const auto has_room = [this](unsigned end) {
      const HeldChannel& channel = carrier_.channel(end);
      return channel.has_room({carrier_.see(channel.entries)}, see());
    };
    if (its.depth == 0 && its.ends.choose(full, has_room) == 0) return Moved::no_room;
    const Requests reserved = its.ends.choose(full, [&](unsigned end) { return reserve(its, end); });
    const Head to = reserved != 0 ? its.head.decided(reserved) : its.head.lost();
    std::atomic<Word>& head = carrier_.input(its.input).head;
    if (carrier_.change(head, its.head.word, to.word)) {
      its.head = to;
      return reserved != 0 ? Moved::yes : Moved::no_room;
    }
    const Head now{carrier_.see(head)};  // another has decided
    if (now.serial() != its.head.serial()) return Moved::already;
    its.head = now;
    return Moved::yes;
  }
  /// Whether it has that end. (When the attempt is over it does not matter.)
  bool reserve(const Attempt& its, unsigned end) {
    HeldChannel& channel = carrier_.channel(end);
    for (;;) {
      const HeldEntry entry{carrier_.see(channel.entries)};
      if (is_changed(its)) return false;
      if (entry.is_reserved_by(its.input, its.head.serial())) return true;
      if (end < its.from || !channel.has_room(entry, see())) return false;
      settle(entry, end, its);
      const HeldEntry reserved = entry.reserved(its.input, its.head.serial());
      if (carrier_.change(channel.entries, entry.word, reserved.word)) return true;
    }
  }
  /// An end that it has reserved.
  Moved fill(const Attempt& its, unsigned end, HeldEntry& entry) {
    for (;;) {
      entry.word = carrier_.see(entries(its, end));
      if (entry.is_entered_by(its.input, its.head.serial())) return Moved::yes;
      if (!entry.is_reserved_by(its.input, its.head.serial())) return Moved::already;
      if (change_to_entered(its, end, entry)) return Moved::yes;
    }
  }
  /// An end that needs no reservation: the only channel, or the node.
  Moved enter(const Attempt& its, unsigned end, HeldEntry& entry) {
    for (;;) {
      entry.word = carrier_.see(entries(its, end));
      if (is_changed(its)) return Moved::already;
      if (entry.is_entered_by(its.input, its.head.serial())) return Moved::yes;
      if (end != node && !carrier_.channel(end).has_room(entry, see())) return Moved::no_room;
      settle(entry, end, its);
      if (change_to_entered(its, end, entry)) return Moved::yes;
    }
  }
  bool change_to_entered(const Attempt& its, unsigned end, HeldEntry& entry) {
    const HeldEntry seen = entry;
    entry = seen.entered(its.input, its.head.serial());
    return carrier_.change(entries(its, end), seen.word, entry.word);
  }
  [[nodiscard]] std::atomic<Word>& entries(const Attempt& its, unsigned end) const {
    return end == node ? carrier_.node(its.input, its.packet) : carrier_.channel(end).entries;
  }
  [[nodiscard]] bool is_changed(const Attempt& its) const {
    return carrier_.see(carrier_.input(its.input).head) != its.head.word;
  }

  /// Completes the attempt that holds an end in the way of this one.
  void settle(HeldEntry entry, unsigned end, const Attempt& its) {
    const unsigned other = entry.input();
    if (other == its.input || other >= carrier_.inputs()) return;
    const HeldChannel& channel = carrier_.input(other);
    const Head head{carrier_.see(channel.head)};
    if (entry.is_over(head, end)) return;
    if (its.depth + 1 == carrier_.inputs()) return;  // another has scribbled here
    const HeldChannel::First first = channel.at(head.number(), see());
    if (!first.is_there) return;  // it has gone meanwhile
    Requests full = 0;
    run({other, head, end, its.depth + 1, first.packet}, full);
  }

  void bring(const Attempt& its, unsigned end, HeldEntry entry) {
    HeldChannel& channel = carrier_.channel(end);
    const Word number = entry.count() - 1;
    std::atomic<Word>& slot = channel.slot[number % HeldChannel::slots];
    const Word seen = carrier_.see(slot);
    if (carrier_.see(channel.entries) != entry.word) return;
    const std::uint32_t lap = LiveChannel::lap_of(seen);
    if (((lap ^ LiveChannel::lap_of_number(number)) & 1) == 0) return;
    carrier_.change(slot, seen,
                    LiveChannel::filled(carrier_.packet_at(end, its.packet, its.head.fate()), lap + 1));
  }

  [[nodiscard]] auto see() const {
    return [this](const std::atomic<Word>& word) { return carrier_.see(word); };
  }

  Carrier& carrier_;
};

}  // namespace am::kit
