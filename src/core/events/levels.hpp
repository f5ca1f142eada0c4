// The two levels of events (contract, clause 6), each entered and left by an object: also when a handler throws.
#pragma once

#include <am/impl/event_state.hpp>

#include "core/reports/recorder.hpp"

namespace am::core {

/// The level of low events.
class LowLevel {
 public:
  LowLevel(impl::EventState& events, const HandledMessages& handled) noexcept
      : events_(events), handled_(handled) {
    events.enter_low();
  }
  [[gnu::always_inline]] ~LowLevel() {
    handled_.clear(Priority::low);
    events_.leave_low();
  }
  LowLevel(const LowLevel&) = delete;
  LowLevel& operator=(const LowLevel&) = delete;

 private:
  impl::EventState& events_;
  const HandledMessages& handled_;
};

/// The level of high events, from either of the others.
class HighLevel {
 public:
  HighLevel(impl::EventState& events, const HandledMessages& handled) noexcept
      : events_(events), handled_(handled), interrupted_(events.enter_high()) {}
  [[gnu::always_inline]] ~HighLevel() {
    handled_.clear(Priority::high);
    events_.leave_high(interrupted_);
  }
  HighLevel(const HighLevel&) = delete;
  HighLevel& operator=(const HighLevel&) = delete;

 private:
  impl::EventState& events_;
  const HandledMessages& handled_;
  const impl::EventState::Interrupted interrupted_;
};

}  // namespace am::core
