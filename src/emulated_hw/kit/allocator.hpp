// An allocator of two stages, as iSLIP has with one iteration (N. McKeown, 1999): each output picks one of the inputs that ask for it,
// each input chooses one of the outputs that picked it; a round-robin arbiter goes on only behind a pick that was taken up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/wide_requests.hpp"

namespace am::kit {

/// `Some` is what holds some of the inputs, or of the outputs: RequestsOf so many words.
template <std::size_t Inputs, std::size_t Outputs, class Some = Requests>
class Allocator {
 public:
  /// Who asks for what, in one cycle.
  class Asked {
   public:
    /// Once or more often for an input.
    void ask(unsigned input, const Some& outputs) noexcept {
      if (outputs == Some{}) return;
      for_each(outputs, [&](unsigned output) {
        if (!has(outputs_, output)) by_[output] = Some{};
        by_[output] |= only<Some>(input);
      });
      outputs_ |= outputs;
      inputs_ |= only<Some>(input);
    }

   private:
    friend class Allocator;
    Some inputs_{};
    Some outputs_{};
    std::array<Some, Outputs> by_;  // inputs, by output
  };

  /// Calls granted(input, output) for each that gets one, in ascending order of inputs.
  template <class Granted>
  void allocate(const Asked& asked, Granted&& granted) {
    if (is_one(asked.inputs_)) {  // all that it asks for pick it
      return choose(first_of(asked.inputs_), asked.outputs_, granted);
    }
    std::array<Some, Inputs> offered;  // outputs, by input
    Some picked{};
    for_each(asked.outputs_, [&](unsigned output) {
      const unsigned input = pick_[output].pick(asked.by_[output]);
      if (!has(picked, input)) offered[input] = Some{};
      picked |= only<Some>(input);
      offered[input] |= only<Some>(output);
    });
    for_each(picked, [&](unsigned input) { choose(input, offered[input], granted); });
  }

 private:
  template <class Granted>
  void choose(unsigned input, const Some& offered, Granted& granted) {
    const unsigned output = choice_[input].pick(offered);
    choice_[input].had_its_turn(output);
    pick_[output].had_its_turn(input);
    granted(input, output);
  }

  using Turn = RoundRobinOf<std::uint8_t, Some>;
  std::array<Turn, Outputs> pick_{};
  std::array<Turn, Inputs> choice_{};
};

}  // namespace am::kit
