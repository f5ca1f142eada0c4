// GAM's start and end, its waits and counters. See models/gam/state.hpp.
#include <am/gam.h>
#include <am/error.hpp>
#include <am/start.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "models/gam/state.hpp"

namespace am::models::gam {

namespace {

constexpr int max_size = 16 << 10;  // what programs have buffers for

/// gam_errno() of a thread that has no node: why.
thread_local constinit int error_without_node = GAM_ENOTENABLED;

}  // namespace

State* state_here() noexcept {
  Node* const node = this_node();
  return node == nullptr ? nullptr : &node->own<State>();
}

State* enabled_here() noexcept {
  State* const state = state_here();
  if (state == nullptr || state->enabled) return state;
  state->error = GAM_ENOTENABLED;
  return nullptr;
}

namespace {

/// Polls until pred() holds.
template <class P>
int wait(State& state, P&& pred) {
  if (state.level != Level::computation) return fail(state, GAM_EHANDLER);
  state.node.wait_until(pred);
  return 0;
}

int wait_for(State& state, volatile int* flag, int value) {
  if (const int failed = wait(state, [&] { return *flag >= value; })) return failed;
  *flag = *flag - value;
  return 0;
}

void add(long counter, long by) noexcept {
  auto* const place = reinterpret_cast<volatile unsigned long*>(counter);
  *place = *place + static_cast<unsigned long>(by);
}
void clear(long sema) noexcept { *reinterpret_cast<volatile unsigned long*>(sema) = 0; }

void send_back(vnn_t to, void (*handler)(vnn_t, long), void* counter) {
  static_cast<void>(gam_reply_1(to, handler, counter));
}

}  // namespace
}  // namespace am::models::gam

using namespace am::models::gam;  // NOLINT: the C functions below are its face

extern "C" {

// -- start and end

int gam_enable(...) {
  try {
    am::Node* node = am::this_node();
    if (node == nullptr)
      node = &am::start(0, nullptr, {.interrupt_safe = true});  // its handlers run in polls
    State& state = node->own<State>();
    if (state.enabled) return 0;
    state.enabled = true;
    node->poll_only();
    return 0;
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    error_without_node = GAM_ESTART;
    return -1;
  }
}

int gam_barrier() {
  State* const state = enabled_here();
  if (state == nullptr) return -1;
  if (state->level != Level::computation) return fail(*state, GAM_EHANDLER);
  try {
    const std::exception_ptr thrown = wait_for_all_sent(*state);
    state->node.barrier();
    if (thrown != nullptr) std::rethrow_exception(thrown);
    return 0;
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return fail(*state, GAM_EUNREACHABLE);
  }
}

int lam_sync_all() { return gam_barrier() == 0 ? 1 : -1; }

int gam_disable() {
  const int left_alone = gam_barrier();
  State* const state = enabled_here();
  if (state == nullptr || state->level != Level::computation) return -1;
  while (state->node.poll() != 0) {  // what is there
  }
  state->enabled = false;
  return left_alone;
}

void gam_exit(int code) { std::exit(code); }  // NOLINT(concurrency-mt-unsafe): as the program asks

int gam_my_proc() {
  const State* const state = enabled_here();
  return state == nullptr ? -1 : static_cast<int>(state->node.id());
}

int gam_procs() {
  const State* const state = enabled_here();
  return state == nullptr ? -1 : static_cast<int>(state->node.size());
}

int gam_max_size() { return max_size; }

int gam_errno() {
  const State* const state = state_here();
  return state == nullptr ? error_without_node : state->error;
}

int gam_isalive(vnn_t node) {
  State* const state = enabled_here();
  if (state == nullptr || node < 0 || static_cast<am::NodeId>(node) >= state->node.size()) return 0;
  if (state->level == Level::computation) state->poll();  // nothing else brings the news
  return state->node.is_gone(static_cast<am::NodeId>(node)) ? 0 : 1;
}

// -- progress

void gam_poll() {
  State* const state = enabled_here();
  if (state == nullptr) return;
  if (state->level != Level::computation) return static_cast<void>(fail(*state, GAM_EHANDLER));
  state->poll();
}

int gam_wait(volatile int* flag, int value) {
  State* const state = enabled_here();
  if (state == nullptr) return -1;
  if (state->level != Level::computation) return fail(*state, GAM_EHANDLER);
  gam_poll();
  return wait_for(*state, flag, value);
}

int gam_poll_wait(volatile int* flag, int value) {
  State* const state = enabled_here();
  return state == nullptr ? -1 : wait_for(*state, flag, value);
}

int gam_sleep(...) {
  State* const state = enabled_here();
  return state == nullptr ? -1 : wait(*state, [state, before = state->ran] { return state->ran != before; });
}

// -- counters

void cntr_incr(cntr_t counter) { CNTR_INCR(counter); }
void cntr_decr(cntr_t counter) { CNTR_DECR(counter); }
void cntr_incr_by(cntr_t counter, long by) { CNTR_INCR_BY(counter, by); }
void cntr_decr_by(cntr_t counter, long by) { CNTR_DECR_BY(counter, by); }
int cntr_is_zero(cntr_t counter) { return CNTR_IS_ZERO(counter) ? 1 : 0; }
void cntr_wait_for_zero(cntr_t counter) { CNTR_WAIT_FOR_ZERO(counter); }
void ta_sema_signal(ta_sema_t sema) { TA_SEMA_SIGNAL(sema); }
void ta_sema_wait(ta_sema_t sema) { TA_SEMA_WAIT(sema); }

void gam_dummy(vnn_t /*from*/, void* /*address*/, int /*n*/, void* /*argument*/) {}
void r_cntr_incr(vnn_t /*from*/, long counter) { add(counter, 1); }
void r_cntr_decr(vnn_t /*from*/, long counter) { add(counter, -1); }
void r_cntr_incr_mem(vnn_t from, void* /*address*/, int /*n*/, void* counter) {
  r_cntr_incr(from, GAM_W(counter));
}
void r_cntr_decr_mem(vnn_t from, void* /*address*/, int /*n*/, void* counter) {
  r_cntr_decr(from, GAM_W(counter));
}
void r_cntr_incr_reply_mem(vnn_t from, void* /*address*/, int /*n*/, void* counter) {
  send_back(from, r_cntr_incr, counter);
}
void r_cntr_decr_reply_mem(vnn_t from, void* /*address*/, int /*n*/, void* counter) {
  send_back(from, r_cntr_decr, counter);
}
void r_ta_sema_signal(vnn_t /*from*/, long sema) { clear(sema); }
void r_ta_sema_signal_mem(vnn_t /*from*/, void* /*address*/, int /*n*/, void* sema) { clear(GAM_W(sema)); }
void r_ta_sema_signal_reply_mem(vnn_t from, void* /*address*/, int /*n*/, void* sema) {
  send_back(from, r_ta_sema_signal, sema);
}

}  // extern "C"
