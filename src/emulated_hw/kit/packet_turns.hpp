// Which packets leave a router that hands on whole packets (virtual cut-through: one goes where there is room for all of it). Inputs are
// channels, numbered port * vcs + vc; a port carries one packet at a time.
//
// A packet wants one output, or, when it leaves copies on its way, several at once. It is ready when there is room behind all of them.
// Of those who are ready, high priority goes before low, and among equals whoever has lost most often: was ready, and saw others get
// what it wanted. After `patience` losses it escapes: it goes before all, and what it wants is kept for it until it can go. So nobody
// who stays ready waits for ever; what is kept for it comes free by itself, since what passes a port has all its room already.
//
// A decision is a function of what is ready and of who lost before; it knows no time.
#pragma once

#include <array>
#include <cstdint>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/ports.hpp"

namespace am::kit {

/// First packets that are ready.
struct Ready {
  static constexpr unsigned most_inputs = 64;

  Requests high = 0;
  Requests low = 0;
  std::array<Ports, most_inputs> wants;           ///< by input, of those
  std::array<std::uint8_t, most_inputs> port_of;  ///< by input, of those
};

inline constexpr unsigned most_patience = 255;

/// `Count` is a number up to most_patience.
template <class Count>
class PacketTurns {
 public:
  /// Calls start(input) for each packet that is to go now. `inputs` and `outputs` are the ports that carry nothing.
  template <class Start>
  void decide(const Ready& ready, Ports inputs, Ports outputs, unsigned patience, Start&& start) {
    Decision now{ready, inputs, outputs, 0, 0};
    Requests escaped = 0;
    for_each(ready.high | ready.low, [&](unsigned input) {
      if (losses_[input] >= patience) escaped |= request(input);
    });
    pass(now, escaped, true, start);
    pass(now, ready.high & ~escaped, false, start);
    pass(now, ready.low & ~escaped, false, start);
    for_each((ready.high | ready.low) & ~now.started, [&](unsigned input) {
      if ((ready.wants[input] & now.given) != 0 && losses_[input] < most_patience)
        losses_[input] = static_cast<std::uint8_t>(losses_[input] + 1);
    });
  }

  /// The same where only this input's packet is ready, and can go.
  void goes_alone(unsigned input) noexcept {
    if (losses_[input] != 0) losses_[input] = 0;
  }

 private:
  struct Decision {
    const Ready& ready;
    Ports inputs;
    Ports outputs;
    Ports given;
    Requests started;
  };

  template <class Start>
  void pass(Decision& now, Requests who, bool keep, Start&& start) {
    while (who != 0) {
      const unsigned input = most_often_lost(who);
      who &= ~request(input);
      const Ports wants = now.ready.wants[input];
      const Ports from = port_bit(now.ready.port_of[input]);
      if ((wants & ~now.outputs) == 0 && (from & now.inputs) != 0) {
        now.inputs &= ~from;
        now.outputs &= ~wants;
        now.given |= wants;
        now.started |= request(input);
        losses_[input] = 0;
        start(input);
      } else if (keep) {
        now.outputs &= ~wants;
      }
    }
  }

  [[nodiscard]] unsigned most_often_lost(Requests who) const noexcept {
    unsigned most = static_cast<unsigned>(std::countr_zero(who));
    for_each(who, [&](unsigned input) {
      if (losses_[input] > losses_[most]) most = input;
    });
    return most;
  }

  std::array<Count, Ready::most_inputs> losses_{};  // by input, since its first packet has come
};

}  // namespace am::kit
