// What a poll runs outside the node: it is in the node itself, and steps out of it meanwhile.
#pragma once

#include "core/engine.hpp"

namespace am::core {

/// A low handler of the program, as far as interrupts go: while one lives the node's thread is not in the node, so that
/// high events may preempt it. In the other modes it does nothing.
class Engine::Interruptible {
 public:
  /// `yes` false: it is libam's own, and stays in the node.
  explicit Interruptible(Engine& engine, bool yes = true) noexcept
      : engine_(engine),
        active_(yes && engine.node_->shared_ && engine.node_->dispatch_ == Dispatch::interrupt) {
    if (active_) [[unlikely]] {
      engine_.look_again();  // arms the node for high events
      depth_ = engine_.step_out();
      engine_.block_signal(false);
    }
  }
  ~Interruptible() {
    if (active_) [[unlikely]] {
      engine_.step_in(depth_);
      engine_.network().disarm();  // whoever runs the handler goes on, and arms it again
    }
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Engine& engine_;
  const bool active_;
  std::uint32_t depth_ = 0;
};

/// Work of the program that runs inside a poll but is computation: posted work. While one lives the node's thread is not in
/// the node.
class Engine::Computation {
 public:
  explicit Computation(Engine& engine) noexcept : engine_(engine), active_(engine.node_->shared_) {
    if (!active_) return;
    engine_.look_ourselves();  // so that the node is armed now
    depth_ = engine_.step_out();
  }
  ~Computation() {
    if (!active_) return;
    engine_.step_in(depth_);
    engine_.look_ourselves();
  }
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

 private:
  Engine& engine_;
  const bool active_;
  std::uint32_t depth_ = 0;
};

}  // namespace am::core
