// A low handler of the program, as far as interrupts go: while one lives the node's thread is not in the node, so that high
// events may preempt it. In the other modes it does nothing.
#pragma once

#include "core/engine.hpp"

namespace am::core {

class Engine::Interruptible {
 public:
  /// `yes` false: it is libam's own, and stays in the node.
  explicit Interruptible(Engine& engine, bool yes = true) noexcept
      : node_(*engine.node_), active_(yes && node_.shared_ && node_.dispatch_ == Dispatch::interrupt) {
    if (active_) [[unlikely]] {
      depth_ = std::exchange(node_.depth_, 0u);
      node_.lock_.want_attention();  // arms the node for high events
      if (node_.lock_.leave()) engine.attend();
    }
  }
  ~Interruptible() {
    if (active_) [[unlikely]] {
      node_.lock_.enter();
      node_.depth_ = depth_;
      node_.engine_->network().disarm();  // whoever runs the handler goes on, and arms it again
    }
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Node& node_;
  const bool active_;
  std::uint32_t depth_ = 0;
};

/// Work of the program that runs inside a poll but is computation: posted work. While one lives the node's thread is not in
/// the node.
class Engine::Computation {
 public:
  explicit Computation(Engine& engine) noexcept : node_(*engine.node_), active_(node_.shared_) {
    if (!active_) return;
    depth_ = std::exchange(node_.depth_, 0u);
    engine.look_ourselves();  // so that the node is armed now
    if (node_.lock_.leave()) engine.attend();
  }
  ~Computation() {
    if (!active_) return;
    node_.lock_.enter();
    node_.depth_ = depth_;
    node_.engine_->look_ourselves();
  }
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

 private:
  Node& node_;
  const bool active_;
  std::uint32_t depth_ = 0;
};

}  // namespace am::core
