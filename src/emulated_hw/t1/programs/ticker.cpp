#include "emulated_hw/t1/programs/ticker.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "emulated_hw/t1/programs/instructions.hpp"

namespace am::t1 {

namespace {

// Cycles from where Count is read until timec is written. A timelet becomes pending where the two are equal (A.2.2), so what is written
// has to be in the future by then.
constexpr Word to_set = 2 * costs::add + costs::branch + 1;
constexpr Word least_period = 2 * to_set;

}  // namespace

Ticker::Ticker(Processor& cpu, Address at, Word period, Processor::Code action)
    : at_(at), period_(period), action_(std::move(action)) {
  if (period < least_period)
    throw std::invalid_argument("t1: timelets every " + std::to_string(period) + " cycles: at least " +
                                std::to_string(least_period));
  cpu.place(at, [this](Processor& here) { return handle(here); });
}

Program Ticker::start(Processor& cpu) {
  runs_ = true;
  co_await cpu.ctc2(Register::timeh, at_);
  co_await set_next(cpu, co_await cpu.cfc2(Register::count));
}

Program Ticker::handle(Processor& cpu) {
  if (!runs_) {
    co_await cpu.cycles(costs::load + costs::branch);
    co_return;
  }
  ++ticks_;
  co_await action_(cpu);
  if (runs_) co_await set_next(cpu, co_await cpu.cfc2(Register::timec));
}

// A critical section: a reply's handler between the two accesses would let the moment pass, and the next is 2^32 cycles later. Within a
// request's handler it holds off replies (3.5, footnote 5).
Program Ticker::set_next(Processor& cpu, Word after) {
  co_await cpu.enter_critical();
  Word next = after + period_;
  for (;;) {
    const Word now = co_await cpu.cfc2(Register::count);
    co_await cpu.cycles(2 * costs::add + costs::branch);
    if (static_cast<std::int32_t>(next - (now + to_set)) > 0) break;
    next += period_;
    ++missed_;
  }
  co_await cpu.ctc2(Register::timec, next);
  co_await cpu.exit_critical();
}

}  // namespace am::t1
