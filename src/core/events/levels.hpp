// The two levels of events (contract, clause 6), each entered and left by an object: also when a handler throws. It knows the
// engine and nothing else, which the message path has at hand in any case.
#pragma once

#include "core/node/engine.hpp"

namespace am::core {

/// The level of low events.
class Engine::LowLevel {
 public:
  explicit LowLevel(Engine& engine) noexcept : engine_(engine) { engine.node_->events_.enter_low(); }
  [[gnu::always_inline]] ~LowLevel() {
    engine_.handled_.clear(Priority::low);
    engine_.node_->events_.leave_low();
  }
  LowLevel(const LowLevel&) = delete;
  LowLevel& operator=(const LowLevel&) = delete;

 private:
  Engine& engine_;
};

/// The level of high events, from either of the others.
class Engine::HighLevel {
 public:
  explicit HighLevel(Engine& engine) noexcept
      : engine_(engine), interrupted_(engine.node_->events_.enter_high()) {}
  [[gnu::always_inline]] ~HighLevel() {
    engine_.handled_.clear(Priority::high);
    engine_.node_->events_.leave_high(interrupted_);
  }
  HighLevel(const HighLevel&) = delete;
  HighLevel& operator=(const HighLevel&) = delete;

 private:
  Engine& engine_;
  const impl::EventState::Interrupted interrupted_;
};

}  // namespace am::core
