// The event state of one node as a pure state machine: two enables, four masks, the level that runs. No network, no
// time, no waiting: src/core/events/dispatch.cpp asks it what may run now, am::CriticalSection writes one flag of it, and
// am/registers.hpp shows it as the T1's registers.
//
// Source: T1 report, appendix A.1 "Network Interface Events", A.2.4-A.2.6, A.7 (Figure 16), A.9.
// Called by the node's own thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace am {

/// The four kinds of events. Order within the enum is that of the EP and EM fields (A.2.6), from bit 0 up.
enum class Event : std::uint8_t { timelet = 0, outlet = 1, low_message = 2, high_message = 3 };

/// What the node is doing: its own computation, a low event's handler, or a high event's handler.
enum class Level : std::uint8_t { computation, low, high };

namespace impl {

using am::Level;

struct EventState {
  // The first four are looked at together before an event (is_usual), and what changes together lies together.
  bool lpee = true;  ///< LPEE: low events may run
  Level level = Level::computation;
  bool ee = true;               ///< EE: any event may run
  std::uint8_t masks = 0b1111;  ///< EM: hpmm lpmm om tm, a bit per Event
  bool ame = true;              ///< active messages enabled; otherwise the default handler gets every message
  bool nicond = true;           ///< whether the last send was accepted
  bool onicond = true;          ///< nicond as it was when the running low event began

  [[nodiscard]] bool masked_in(Event e) const noexcept {
    return (masks >> static_cast<unsigned>(e) & 1u) != 0;
  }
  void mask(Event e, bool enabled) noexcept {
    const auto bit = static_cast<std::uint8_t>(1u << static_cast<unsigned>(e));
    masks = static_cast<std::uint8_t>(enabled ? masks | bit : masks & ~bit);
  }

  /// The node computes, and nothing is disabled or masked: every event may run.
  [[nodiscard]] bool is_usual() const noexcept {
    constexpr std::uint8_t usual[4] = {1, static_cast<std::uint8_t>(Level::computation), 1, 0b1111};
    return std::memcmp(this, usual, sizeof usual) == 0;
  }
  [[nodiscard]] bool high_enabled() const noexcept { return ee && level != Level::high; }
  [[nodiscard]] bool low_enabled() const noexcept { return ee && lpee && level == Level::computation; }
  [[nodiscard]] bool may_run(Event e) const noexcept {
    return masked_in(e) && (e == Event::high_message ? high_enabled() : low_enabled());
  }

  /// A low event begins and ends (A.9.1, A.7): LPEE is cleared and set again, nicond saved and put back. Between two of
  /// them that run at one stretch, next_low().
  void enter_low() noexcept {
    level = Level::low;
    lpee = false;
    onicond = nicond;
  }
  void next_low() noexcept {
    lpee = false;
    nicond = onicond;
  }
  void leave_low() noexcept {
    level = Level::computation;
    lpee = true;
    nicond = onicond;
  }
  /// What a high event interrupts, and finds again when it ends.
  struct Interrupted {
    Level level;
    bool lpee;
  };
  /// A high event begins and ends: EE is cleared and set again.
  Interrupted enter_high() noexcept {
    const Interrupted interrupted{level, lpee};
    level = Level::high;
    ee = false;
    return interrupted;
  }
  void leave_high(Interrupted interrupted) noexcept {
    level = interrupted.level;
    lpee = interrupted.lpee;
    ee = true;
  }
};

static_assert(offsetof(EventState, lpee) == 0 && offsetof(EventState, level) == 1);  // is_usual
static_assert(offsetof(EventState, ee) == 2 && offsetof(EventState, masks) == 3);

}  // namespace impl
}  // namespace am
