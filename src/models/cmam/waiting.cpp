// Polls, waits and interrupts of CMAM and CMAML. See models/cmam/state.hpp.
#include <am/cmam.h>

#include <utility>

#include "models/cmam/state.hpp"

namespace am::models::cmam {

namespace {

void poll() {
  State& waiter = state();
  Node& node = waiter.node();
  const Level level = node.level();
  if (level == Level::computation) {
    waiter.others.after_poll(node.poll());
  } else if (level == Level::low) {
    node.poll_replies();
  }
}

void poll_replies() {
  State& node = state();
  if (node.node().level() == Level::high) return;
  node.node().poll_replies();
}

template <class Met>
[[gnu::noinline]] void wait_in_handler(State& waiter, const char* call, Met met) {
  Node& node = waiter.node();
  const auto met_now = [&] {
    const CriticalSection quiet(node);
    return met();
  };
  while (!met_now()) {
    if (node.level() == Level::high) not_in_this_handler(waiter, call);
    node.poll_replies();
  }
}

/// Waits until met() holds, which is atomic with respect to handlers. In a request handler replies alone run meanwhile.
template <class Met>
[[gnu::always_inline]] inline void wait(const char* call, Met met) {
  State& waiter = state();
  Node& node = waiter.node();
  if (node.level() != Level::computation) [[unlikely]]
    return wait_in_handler(waiter, call, met);
  node.wait_until(met);
}

void wait_to_take(const char* call, volatile int* flag, int value) {
  wait(call, [flag, value] {
    if (*flag < value) return false;
    *flag = *flag - value;
    return true;
  });
}
/// The same, with at least one poll.
void poll_and_wait_to_take(const char* call, volatile int* flag, int value) {
  wait(call, [flag, value, polled = false]() mutable {
    if (!std::exchange(polled, true) || *flag < value) return false;
    *flag = *flag - value;
    return true;
  });
}
void wait_to_see(const char* call, volatile int* flag, int value) {
  wait(call, [flag, value] { return *flag >= value; });
}

int set_interrupts(bool on) { return state().set_interrupts(on) ? 1 : 0; }

int inside_an_interrupt() {
  const State& node = state();
  return node.node().level() != Level::computation && node.node().dispatch() != Dispatch::poll ? 1 : 0;
}

}  // namespace

}  // namespace am::models::cmam

using namespace am::models::cmam;

void CMAM_poll(void) { poll(); }
void CMAM_request_poll(void) { poll(); }  // replies come first in each poll: they are not asked to wait
void CMAM_reply_poll(void) { poll_replies(); }
void CMAML_poll(void) { poll(); }
void CMAML_request_poll(void) { poll(); }
void CMAML_reply_poll(void) { poll_replies(); }

/// It polls at least once, as what was written after its model does.
void CMAM_wait(volatile int* flag, int value) { poll_and_wait_to_take("CMAM_wait", flag, value); }
void CMAML_wait(volatile int* flag, int value) { wait_to_take("CMAML_wait", flag, value); }
void CMAML_poll_wait(volatile int* flag, int value) { poll_and_wait_to_take("CMAML_poll_wait", flag, value); }
void CMAML_poll_while_lt(volatile int* flag, int value) { wait_to_see("CMAML_poll_while_lt", flag, value); }
void CMAML_poll_until_gte(volatile int* flag, int value) { wait_to_see("CMAML_poll_until_gte", flag, value); }
void CMAML_poll_while_lt_info(volatile int* flag, int value, void* /*info*/) {
  wait_to_see("CMAML_poll_while_lt_info", flag, value);
}

void CMAM_enable(void) { static_cast<void>(state()); }
void CMAM_disable(void) { static_cast<void>(state()); }
void CMAM_enable_interrupt(void) { set_interrupts(true); }
void CMAM_disable_interrupt(void) { set_interrupts(false); }
int CMAML_enable_interrupts(void) { return set_interrupts(true); }
int CMAML_disable_interrupts(void) { return set_interrupts(false); }
int CMAML_interrupt_status(void) { return state().interrupts() ? 1 : 0; }
int CMAML_inside_interrupt_handler(void) { return inside_an_interrupt(); }
int CMMD_enable_interrupts(void) { return set_interrupts(true); }
int CMMD_disable_interrupts(void) { return set_interrupts(false); }
int CMMD_interrupt_status(void) { return state().interrupts() ? 1 : 0; }
int CMMD_inside_interrupt_handler(void) { return inside_an_interrupt(); }
