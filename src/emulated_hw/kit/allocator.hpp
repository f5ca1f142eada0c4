// An allocator of two stages, as iSLIP has with one iteration (N. McKeown, 1999): each output picks one of the inputs that ask for it,
// each input chooses one of the outputs that picked it; a round-robin arbiter goes on only behind a pick that was taken up.
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "emulated_hw/kit/arbiter.hpp"

namespace am::kit {

template <std::size_t Inputs, std::size_t Outputs>
class Allocator {
 public:
  /// Who asks for what, in one cycle.
  class Asked {
   public:
    /// Once or more often for an input.
    void ask(unsigned input, Requests outputs) noexcept {
      if (outputs == 0) return;
      for_each(outputs & ~outputs_, [&](unsigned output) { by_[output] = 0; });
      outputs_ |= outputs;
      inputs_ |= request(input);
      for_each(outputs, [&](unsigned output) { by_[output] |= request(input); });
    }

   private:
    friend class Allocator;
    Requests inputs_ = 0;
    Requests outputs_ = 0;
    std::array<Requests, Outputs> by_;  // inputs, by output
  };

  /// Calls granted(input, output) for each that gets one, in ascending order of inputs.
  template <class Granted>
  void allocate(const Asked& asked, Granted&& granted) {
    if (is_one(asked.inputs_)) {  // all that it asks for pick it
      const auto input = static_cast<unsigned>(std::countr_zero(asked.inputs_));
      return choose(input, asked.outputs_, granted);
    }
    std::array<Requests, Inputs> offered;  // outputs, by input
    Requests picked = 0;
    for_each(asked.outputs_, [&](unsigned output) {
      const unsigned input = pick_[output].pick(asked.by_[output]);
      if ((picked & request(input)) == 0) offered[input] = 0;
      picked |= request(input);
      offered[input] |= request(output);
    });
    for_each(picked, [&](unsigned input) { choose(input, offered[input], granted); });
  }

 private:
  template <class Granted>
  void choose(unsigned input, Requests offered, Granted& granted) {
    const unsigned output = choice_[input].pick(offered);
    choice_[input].had_its_turn(output);
    pick_[output].had_its_turn(input);
    granted(input, output);
  }

  std::array<RoundRobin, Outputs> pick_{};
  std::array<RoundRobin, Inputs> choice_{};
};

}  // namespace am::kit
