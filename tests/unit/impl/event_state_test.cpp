// The event state against the text of the T1 report: A.1, A.2.4 to A.2.6, A.7, A.9. (Figure 16, the diagram of the
// transitions, is missing from the text; A.7 and the table of register sets in A.10 say the same.)
#include <gtest/gtest.h>
#include <am/impl/event_state.hpp>

#include <string>
#include <vector>

namespace am::impl::event_state_test {

constexpr Event events[] = {Event::timelet, Event::outlet, Event::low_message, Event::high_message};

/// Every state that the two enables, the masks and the level can make. `ame` chooses the handler, it holds no event
/// back (A.9.1).
std::vector<EventState> every_state() {
  std::vector<EventState> states;
  for (const Level level : {Level::computation, Level::low, Level::high}) {
    for (unsigned bits = 0; bits < 128; ++bits) {
      EventState state;
      state.level = level;
      state.ee = (bits & 1) != 0;
      state.lpee = (bits & 2) != 0;
      state.ame = (bits & 4) != 0;
      state.masks = static_cast<std::uint8_t>(bits >> 3);
      states.push_back(state);
    }
  }
  return states;
}

std::string describe(const EventState& s) {
  return "level " + std::to_string(static_cast<int>(s.level)) + ", EE " + std::to_string(s.ee) + ", LPEE " +
         std::to_string(s.lpee) + ", EM " + std::to_string(s.masks);
}

/// A.1: "high priority events are enabled only if EE is set; low priority events are enabled only if both EE and LPEE are
/// set. In addition, there are event mask bits" (A.2.6). "Low priority events can preempt normal computation but not other
/// event handlers. High priority events can preempt normal computation or low priority event handlers but not high
/// priority event handlers." Whatever a handler writes into the enables: A.2.4 and A.2.5 forbid it to enable events by
/// hand, and here it has no effect.
bool may_run_by_the_report(const EventState& state, Event event) {
  const bool masked_in = (state.masks >> static_cast<unsigned>(event) & 1) != 0;
  if (!state.ee || !masked_in) return false;
  return event == Event::high_message ? state.level != Level::high
                                      : state.lpee && state.level == Level::computation;
}

TEST(EventState, EventsRunWhereTheReportSays) {
  for (const EventState& state : every_state()) {
    bool all = true;
    for (const Event event : events) {
      EXPECT_EQ(state.may_run(event), may_run_by_the_report(state, event)) << describe(state);
      all = all && state.may_run(event);
    }
    EXPECT_EQ(state.is_usual(), all) << describe(state);
  }
}

/// A.10, "Initialization of Event Set Registers": EE 1 LPEE 1 normal; 1 0 low; 0 1 and 0 0 high.
TEST(EventState, TheEnablesShowTheLevel) {
  EventState state;
  const auto expect = [&state](Level level, bool ee, bool lpee) {
    EXPECT_TRUE(state.level == level && state.ee == ee && state.lpee == lpee) << describe(state);
  };
  state.enter_low();
  expect(Level::low, true, false);
  const auto interrupted = state.enter_high();
  expect(Level::high, false, false);
  state.leave_high(interrupted);
  expect(Level::low, true, false);
  state.leave_low();
  expect(Level::computation, true, true);
  state.leave_high(state.enter_high());
  expect(Level::computation, true, true);
}

/// A.9.1 and A.7: nicond is saved into onicond when a low event begins and put back when it ends.
TEST(EventState, ALowEventKeepsTheComputationsCondition) {
  for (const bool before : {false, true}) {
    for (const bool within : {false, true}) {
      EventState state;
      state.nicond = before;
      state.onicond = !before;
      state.enter_low();
      EXPECT_EQ(state.nicond, before);
      EXPECT_EQ(state.onicond, before);
      state.nicond = within;  // a send of the handler
      state.leave_low();
      EXPECT_EQ(state.nicond, before);
    }
  }
}

/// A.9.1 for each of several low events that run at one stretch: none sees what the one before it left.
TEST(EventState, ConsecutiveLowEventsBeginAlike) {
  EventState state;
  state.enter_low();
  state.nicond = false;  // a send of the first
  state.lpee = true;     // allowed to nobody, and kept by nobody
  state.next_low();
  EXPECT_TRUE(state.nicond);
  EXPECT_FALSE(state.lpee);
}

/// A.9.1: "It is not necessary to preserve the nicond bit for a high priority message": it is the handler's to restore.
TEST(EventState, AHighEventLeavesTheEnablesAsItFoundThemAndTheConditionAsItIs) {
  for (const bool before : {false, true}) {
    EventState state;
    state.lpee = before;
    const auto interrupted = state.enter_high();
    state.lpee = !before;
    EXPECT_TRUE(state.onicond);
    state.nicond = false;
    state.leave_high(interrupted);
    EXPECT_EQ(state.lpee, before);
    EXPECT_FALSE(state.nicond);
    EXPECT_TRUE(state.onicond);
  }
}

}  // namespace am::impl::event_state_test
