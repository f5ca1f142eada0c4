// Whoever moves packets with several channels among their ends (live_ends.hpp) through a live network. A router's inputs have it in
// turns: each step begins with the next one, and each packet goes for which there is room.
//
// A packet that wants several channels at once might never find room in all: others, with one end, take each place that becomes free. So
// a router favours the one that makes up `patience` refusals. Until it has gone, others keep out of its channels, in the order of the
// outputs up to the first that has no room. So nobody waits for a lower output than his own. (Where they left the whole router to it, two
// routers that had filled the channels to each other waited for each other.)
#pragma once

#include <cstdint>

#include "emulated_hw/kit/live_carrier.hpp"
#include "emulated_hw/kit/live_ends.hpp"

namespace am::kit {

/// What a router keeps of its decisions.
struct LiveTurns {
  Tally<std::uint8_t> first;    ///< input, in the next step
  Tally<std::uint8_t> favours;  ///< 1 + the input whose packet has waited for long; 0: none
  Tally<std::uint8_t> refused;  ///< how often such packets were, since one was favoured
};

/// `Mesh` says also, of a router at node `at`:
///   ends(at, input, packet)            where a packet goes: EndSet
///   packet_at(at, output, packet, fate) what it is there, when it enters the ends of that set
///   moved(at, input, outputs, to_node) to be counted: nothing, where it has no such function
///   count(at, packet)                  the word that counts it at the node
///   arrival(at, packet)                what that is
/// Its router's `decisions` are LiveTurns, or derive from these.
template <class Mesh, class Pause = NoPause>
class LiveEndsCarrier final : public LiveCarrier<Mesh, Pause, LiveEndsCarrier<Mesh, Pause>> {
 public:
  using Base = LiveCarrier<Mesh, Pause, LiveEndsCarrier>;
  using Base::channels;
  using Base::see;
  static constexpr unsigned patience = 16;

  explicit LiveEndsCarrier(Mesh& network, Pause pause = {}) noexcept : Base(network, pause) {}

  // For LiveEndsMove.

  [[nodiscard]] HeldChannel& channel(unsigned output) const noexcept {
    const InputAt behind = mesh().behind(here_at(), output);
    return mesh().router_at(behind.router).inputs[behind.input];
  }
  [[nodiscard]] std::atomic<Word>& node(unsigned /*input*/, std::uint32_t packet) const noexcept {
    return mesh().count(here_at(), packet);
  }
  [[nodiscard]] EndSet ends(unsigned input, std::uint32_t packet) const noexcept {
    return mesh().ends(here_at(), input, packet);
  }
  [[nodiscard]] std::uint32_t packet_at(unsigned output, std::uint32_t packet, Requests fate) const noexcept {
    return mesh().packet_at(here_at(), output, packet, fate);
  }
  void has_come(unsigned output) { this->came_behind(output); }
  void has_come_to_node(unsigned /*input*/, std::uint32_t packet) {
    this->came_to_node(mesh().arrival(here_at(), packet));
  }
  void has_moved(unsigned input, Requests channels_entered, bool to_node) {
    Base::has_moved();
    if constexpr (requires { mesh().moved(here_at(), input, channels_entered, to_node); })
      mesh().moved(here_at(), input, channels_entered, to_node);
    for_each(channels_entered, [this](unsigned output) { channel(output).flits.add(1); });
    if (to_node) here().to_node.add(1);
  }

 private:
  friend Base;
  using Base::here;
  using Base::here_at;
  using Base::mesh;

  [[nodiscard]] bool has_room(unsigned output) const {
    const HeldChannel& its = channel(output);
    return its.has_room({see(its.entries)}, this->see());
  }

  void step(Requests occupied, Requests waiting) {
    Found now;
    if (is_one(occupied)) {
      try_to_move(first_of(occupied), now);
    } else {
      in_turns(occupied, now);
    }
    if ((waiting & ~now.found) != 0) now.again |= this->forget(here(), waiting & ~now.found);
    if (now.stay != 0 && this->wait_for_room(now.stay, now.full)) now.again |= now.stay;
    if (now.again != 0) this->to_do_here(now.again);
  }

  /// Inputs, but for `full`.
  struct Found {
    Requests found = 0;  // with a packet
    Requests stay = 0;   // it finds no room
    Requests full = 0;   // outputs where that is
    Requests again = 0;  // to be looked at again
    Requests kept = 0;   // outputs, for the one that is favoured
  };

  void in_turns(Requests occupied, Found& now) {
    LiveTurns& turns = here().decisions;
    if (const unsigned favours = turns.favours; favours != 0) {
      if (favours <= channels) try_to_move(favours - 1, now);
      if (now.stay == 0) turns.favours = 0;
    }
    const unsigned first = turns.first % channels;
    turns.first = static_cast<std::uint8_t>(first + 1);
    for_each_from(first, occupied & ~now.found, [&](unsigned input) { try_to_move(input, now); });
  }

  void try_to_move(unsigned input, Found& now) {
    auto& router = here();
    const HeldChannel::First first = router.inputs[input].first(see());
    if (!first.is_there) return;
    now.found |= request(input);
    if (now.kept != 0 && is_kept_out(ends(input, first.packet), now.kept)) {
      now.stay |= request(input);  // it waits as that one does
      return;
    }
    Requests full = 0;
    switch (LiveEndsMove<LiveEndsCarrier>(*this).run(input, first, full)) {
      case Moved::yes:
        return;
      case Moved::already:
        now.again |= request(input);
        return;
      case Moved::no_room:
        router.inputs[input].refused.add(1);
        now.stay |= request(input);
        now.full |= full;
        was_refused(input, ends(input, first.packet), full, now);
    }
  }
  /// Not where it can do without them: the last end of a copy that may be kept, and ends of which one does, are no reason to wait.
  static bool is_kept_out(const EndSet& ends, Requests kept) noexcept {
    if (ends.rule == EndRule::one) return (ends.channels & ~kept) == 0;
    const Requests keeper = ends.rule == EndRule::keep ? std::bit_floor(ends.channels) : 0;
    return (ends.channels & ~keeper & kept) != 0;
  }
  void was_refused(unsigned input, const EndSet& ends, Requests full, Found& now) {
    LiveTurns& turns = here().decisions;
    if (turns.favours == 0 && ends.are_several()) count_refusal(input, turns);
    if (turns.favours == input + 1) now.kept = ends.channels & (full | (full - 1));
  }
  static void count_refusal(unsigned input, LiveTurns& turns) noexcept {
    turns.refused.add(1);
    if (turns.refused < patience) return;
    turns.refused = 0;
    turns.favours = static_cast<std::uint8_t>(input + 1);
  }
};

}  // namespace am::kit
