// For waits that need a certain peer: when to give up on it, and what to say.
#pragma once

#include <am/error.hpp>
#include <am/types.hpp>
#include <cstdint>
#include <optional>

#include "core/node/engine.hpp"

namespace am::core {

/// The error of an operation that needs a node which died or left.
[[nodiscard]] Error peer_gone_error(Engine& engine, const char* what, NodeId peer);

/// A node that died or left, as far as this node has noticed (Membership); one that died before one that
/// only left.
[[nodiscard]] std::optional<NodeId> any_gone(Engine& engine);
[[nodiscard]] std::optional<NodeId> any_dead(Engine& engine);

/// What a node sent before it went may still have to be found in its ring. So a wait goes on for a moment after the
/// peer was seen to be gone, polling, before it is given up.
class LastMessages {
 public:
  explicit LastMessages(Engine& engine) noexcept : engine_(engine) {}
  /// Goes on with what another one has seen.
  LastMessages(Engine& engine, std::uint64_t since_ns) noexcept : engine_(engine), since_ns_(since_ns) {}

  /// True when `find()` has named a node that is gone in every call of the last 100 ms.
  template <class F>
  [[nodiscard]] bool are_in(F find) {
    if (!engine_.membership().any_gone()) return false;
    const std::optional<NodeId> gone = find();
    if (!gone) {
      since_ns_ = 0;
      return false;
    }
    missing_ = *gone;
    if (since_ns_ == 0) since_ns_ = engine_.now();
    return engine_.now() - since_ns_ > grace_ns;
  }
  /// The node that are_in() gave up on.
  [[nodiscard]] NodeId missing() const noexcept { return missing_; }
  /// Since when the same node has been gone; 0: none is.
  [[nodiscard]] std::uint64_t since_ns() const noexcept { return since_ns_; }

 private:
  static constexpr std::uint64_t grace_ns = 100'000'000;

  Engine& engine_;
  std::uint64_t since_ns_ = 0;
  NodeId missing_ = 0;
};

}  // namespace am::core
