// A low handler of the program, as far as interrupts go: while one lives the node's thread is not in the node, so that high
// events may preempt it. In the other modes it does nothing.
#pragma once

#include "core/node/engine.hpp"

namespace am::core {

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
      engine_.disarm();  // whoever runs the handler goes on, and arms it again
    }
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Engine& engine_;
  const bool active_;
  std::uint32_t depth_ = 0;
};

}  // namespace am::core
