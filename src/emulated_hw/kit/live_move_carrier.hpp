// Whoever moves packets with at most one channel among their ends (live_move.hpp) through a live network.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "emulated_hw/kit/live_carrier.hpp"
#include "emulated_hw/kit/live_move.hpp"

namespace am::kit {

/// What a router has found at inputs, and wants to be done.
template <unsigned channels>
struct LiveDecision {
  std::array<LiveChannel::First, channels> firsts;
  Requests found = 0;    ///< inputs with a packet
  Requests picked = 0;   ///< of these, whose packets go now
  Requests blocked = 0;  ///< outputs that others wait for
  std::array<std::uint8_t, channels>
      way;  ///< of those that are picked: which of several ways, as Mesh has it
};

/// `Mesh` says also, as `End`, what an end is. Of a router at node `at`, with this carrier's access to shared words where it is given:
///   ends(carrier, at, input, first, way) where a packet goes: that way, which decide() has chosen, or, 0, any; `first` may change with
///                                        what it decides about it
///   decide(carrier, at, inputs, decision) of these inputs
///   went_alone(at, input, ends)          the packet of an input went, and there was no other
///   has_room(carrier, at, output)        that channel
///   arrival(at, end, input)              what is counted at an end that is a node
///   counted(at, end)                     the same: told once at most
template <class Mesh, class Pause = NoPause>
class LiveMoveCarrier final : public LiveCarrier<Mesh, Pause, LiveMoveCarrier<Mesh, Pause>> {
 public:
  using End = typename Mesh::End;
  using Ends = LiveEnds<End>;
  using Base = LiveCarrier<Mesh, Pause, LiveMoveCarrier>;
  using Base::channels;
  using Base::see;

  explicit LiveMoveCarrier(Mesh& network, Pause pause = {}) noexcept : Base(network, pause) {}

  // For LiveMove.

  [[nodiscard]] LiveChannel::First first(unsigned input) const {
    return mesh().first(here_at(), input, see());
  }
  [[nodiscard]] Ends ends(unsigned input, LiveChannel::First& first, unsigned way = 0) const {
    return mesh().ends(*this, here_at(), input, first, way);
  }
  void has_come(const End& end, unsigned input) {
    if (end.channel != nullptr) {
      this->came_behind(end.output);
    } else if (end.entries != nullptr) {
      this->came_to_node(mesh().arrival(here_at(), end, input));
    }
  }
  void has_moved(const Ends& ends) {
    Base::has_moved();
    for (const End& end : ends) {
      (end.channel != nullptr ? end.channel->flits : here().to_node).add(Mesh::flits_of(end.packet));
      if constexpr (requires { mesh().counted(here_at(), end); }) {
        if (end.channel == nullptr && end.entries != nullptr) mesh().counted(here_at(), end);
      }
    }
  }

 private:
  friend Base;
  using Base::here;
  using Base::here_at;
  using Base::mesh;
  using Move = LiveMove<LiveMoveCarrier, End>;

  [[nodiscard]] bool has_room(unsigned output) const { return mesh().has_room(*this, here_at(), output); }

  void step(Requests occupied, Requests waiting) {
    if (is_one(occupied)) {
      step_alone(first_of(occupied), waiting);
    } else {
      step_among(occupied, waiting);
    }
  }

  void step_alone(unsigned input, Requests waiting) {
    auto& router = here();
    LiveChannel::First first = this->first(input);
    if (!first.is_there) {
      if (waiting != 0) this->to_do_here(this->forget(router, waiting));
      return;
    }
    Ends ends = this->ends(input, first);
    switch (Move(*this).run(input, first, ends)) {
      case Moved::yes:
        if constexpr (requires { mesh().went_alone(here_at(), input, ends); })
          mesh().went_alone(here_at(), input, ends);
        return;
      case Moved::already:
        return this->to_do_here(request(input));
      case Moved::no_room:
        router.inputs[input].refused.add(1);
        if (this->wait_for_room(request(input), ends.first().outputs())) this->to_do_here(request(input));
    }
  }

  void step_among(Requests occupied, Requests waiting) {
    auto& router = here();
    LiveDecision<channels> now;
    mesh().decide(*this, here_at(), occupied, now);
    Requests found = now.found;
    if ((waiting & ~found) != 0) {
      const Requests come = this->forget(router, waiting & ~found);
      found |= come;  // they have not been looked at: there may be room behind them
      if (come != 0 && now.picked == 0) return this->to_do_here(found);
    }
    if (now.picked == 0) {
      if (found != 0 && this->wait_for_room(found, now.blocked)) this->to_do_here(found);
      return;
    }
    for_each(now.picked, [&](unsigned input) {
      LiveChannel::First first = now.firsts[input];
      Ends ends = this->ends(input, first, now.way[input]);
      if (Move(*this).run(input, first, ends) == Moved::yes) found &= ~request(input);
    });
    if (found != 0) this->to_do_here(found);
  }
};

}  // namespace am::kit
