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

/// What a node sent before it went may still have to be found in its ring, or read from a socket. So a wait goes on for a moment after
/// the peer was seen to be gone, and for some polls: on a busy host the moment may pass between two of them.
class LastMessages {
 public:
  explicit LastMessages(Engine& engine, impl::GoneSince since = {}) noexcept
      : engine_(engine), since_(since) {}

  /// True when `find()` has named a node that is gone in every call of the last 100 ms, and in so many of them.
  template <class F>
  [[nodiscard]] bool are_in(F find) {
    if (!engine_.membership().any_gone()) return false;
    const std::optional<NodeId> gone = find();
    if (!gone) {
      since_ = {};
      return false;
    }
    missing_ = *gone;
    if (since_.polls++ == 0) since_.ns = engine_.now();
    return since_.polls > grace_polls && engine_.now() - since_.ns > grace_ns;
  }
  /// The node that are_in() gave up on.
  [[nodiscard]] NodeId missing() const noexcept { return missing_; }
  /// To go on with later.
  [[nodiscard]] impl::GoneSince since() const noexcept { return since_; }

 private:
  static constexpr std::uint64_t grace_ns = 100'000'000;
  static constexpr std::uint32_t grace_polls = 32;

  Engine& engine_;
  impl::GoneSince since_;
  NodeId missing_ = 0;
};

}  // namespace am::core
