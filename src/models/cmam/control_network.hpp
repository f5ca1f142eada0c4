// What CMMD's collectives have in common: the CM-5 did them on its control network, and an emulated one does.
#pragma once

#include <am/cmmd.h>
#include <am/collectives.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>

#include "models/broken.hpp"
#include "models/cmam/state.hpp"

namespace am::models::cmam {

/// Around a call of the control network. On the CM-5 it served no messages: where the program has interrupts off, what comes of these
/// is kept until its next poll.
class OnControlNetwork {
 public:
  explicit OnControlNetwork(State& state) : state_(state) {
    if (state.refuses_interrupts() && state.node().level() == Level::computation) {
      kept_.emplace(state.node());
      state.let_ends_run(false);
    }
  }
  ~OnControlNetwork() {
    if (kept_) state_.let_ends_run(true);
  }
  OnControlNetwork(const OnControlNetwork&) = delete;
  OnControlNetwork& operator=(const OnControlNetwork&) = delete;

 private:
  State& state_;
  std::optional<MessagesKept> kept_;
};

/// This thread's node in a call of all nodes.
class Together {
 public:
  explicit Together(const char* call) : state_(checked(call)), control_(state_) {}
  [[nodiscard]] Node& node() const noexcept { return state_.node(); }

 private:
  static State& checked(const char* call) {
    State& caller = state();
    only_in_the_computation(caller, call);
    return caller;
  }
  State& state_;
  const OnControlNetwork control_;
};

/// What a combiner does, whatever type its initial says.
constexpr int operation_of(CMMD_combiner_t combiner) { return combiner & 7; }

/// Integers that overflow wrap around, as they did.
template <class T>
T combined(CMMD_combiner_t combiner, T a, T b) {
  const int operation = operation_of(combiner);
  if (operation == CMMD_combiner_max) return std::max(a, b);
  if (operation == CMMD_combiner_min) return std::min(a, b);
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    if (operation == CMMD_combiner_ior) return a | b;
    if (operation == CMMD_combiner_xor) return a ^ b;
    if (operation == CMMD_combiner_and) return a & b;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

/// The same where the operation is known: so that networks know it, too.
template <int operation, am::impl::KnownOperation known>
struct Combining {
  static constexpr am::impl::KnownOperation known_operation = known;
  template <class T>
  T operator()(T a, T b) const {
    return combined(operation, a, b);
  }
};
/// Calls f(op) with that of a combiner that was checked.
template <class F>
auto with_combiner(CMMD_combiner_t combiner, F f) {
  using enum am::impl::KnownOperation;
  const int operation = operation_of(combiner);
  if (operation == CMMD_combiner_max) return f(Combining<CMMD_combiner_max, maximum>());
  if (operation == CMMD_combiner_min) return f(Combining<CMMD_combiner_min, minimum>());
  if (operation == CMMD_combiner_ior) return f(Combining<CMMD_combiner_ior, bit_or>());
  if (operation == CMMD_combiner_xor) return f(Combining<CMMD_combiner_xor, bit_xor>());
  if (operation == CMMD_combiner_and) return f(Combining<CMMD_combiner_and, bit_and>());
  return f(Combining<CMMD_combiner_add, sum>());
}

template <class T>
void check_combiner(const Node& node, const char* call, CMMD_combiner_t combiner) {
  const int most = std::is_integral_v<T> ? CMMD_combiner_and : CMMD_combiner_min;
  if (combiner < 0 || combiner > CMMD_combiner_fmin || operation_of(combiner) > most)
    broken(node.id(), call, ": ", combiner, " is no combiner for values of this type");
}

template <class T>
T reduce(const char* call, T value, CMMD_combiner_t combiner) {
  const Together all(call);
  check_combiner<T>(all.node(), call, combiner);
  return with_combiner(combiner, [&](auto op) { return all_reduce(all.node(), value, op); });
}

inline std::span<std::byte> bytes_at(const Node& node, const char* call, void* buffer, int nbytes) {
  if (nbytes < 0 || (buffer == nullptr && nbytes > 0))
    broken(node.id(), call, " of ", nbytes, bytes_of(nbytes), buffer == nullptr ? " at a null address" : "");
  return {static_cast<std::byte*>(buffer), static_cast<std::size_t>(nbytes)};
}

}  // namespace am::models::cmam
