#include "emulated_hw/kit/core.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace am::kit {

void Core::compute(Program program) {
  Context& computation = contexts_.front();
  if (computation.program || spent_.all != 0) throw std::logic_error("a processor has one computation");
  computation.program.emplace(std::move(program));
  computation.goes_on = computation.program->begin();
  go_on();
}

void Core::preempt(Program handler) {
  Context& context = contexts_.emplace_back();
  context.program.emplace(std::move(handler));
  context.goes_on = context.program->begin();
  context.doing = Doing::dispatching;
  context.begin({.cycles = costs_.dispatch, .atomic = true});
}

void Core::wait(std::coroutine_handle<> who, const Step& step) noexcept {
  contexts_.back().goes_on = who;
  contexts_.back().begin(step);
}

bool Core::is_busy_for(Cycle cycles) const noexcept {
  return std::ranges::any_of(contexts_, [&](const Context& context) {
    return context.is_busy() && context.step.cycles + context.step.accesses > cycles;
  });
}

Cycle Core::catch_up() noexcept {
  if (cycles_of_machine_ == nullptr || spent_.all >= *cycles_of_machine_) return 0;
  const Cycle left_out = *cycles_of_machine_ - spent_.all;
  spent_.all += left_out;
  spent_.idle += left_out;
  return left_out;
}

Core::Activity Core::activity(const Context& running) const noexcept {
  if (running.doing == Doing::dispatching) return Activity::dispatching;
  if (running.doing == Doing::returning) return Activity::returning;
  if (running.step.special) return Activity::special;
  return is_in_handler() ? Activity::handling : Activity::computing;
}

std::uint64_t& Core::account(const Context& running) noexcept {
  if (running.doing != Doing::program) return spent_.dispatching;
  if (is_in_handler()) return spent_.handling;
  return running.is_busy() ? spent_.computing : spent_.idle;
}

bool Core::step() {
  Context& running = contexts_.back();
  ++spent_.all;
  ++account(running);
  if (!running.is_busy()) return false;
  if (trace_ != nullptr) [[unlikely]] {
    const bool anew = running.step.special && running.cycles == running.step.cycles;
    trace_->does(node_, static_cast<unsigned>(activity(running)), spent_.all - 1, anew);
  }
  running.can_be_preempted = !running.step.atomic;
  if (running.cycles != 0) return --running.cycles == 0 && running.accesses == 0 && go_on();
  running.can_be_preempted = false;  // in the middle of an access
  if (!memory_->is_asked_by(user_))
    memory_->ask(user_, running.accesses == running.step.accesses ? costs_.access : costs_.next_access);
  return false;
}

/// The program that waited does what its time was for, and all up to its next wait, which begins with the next cycle. Whether that was a
/// handler's return instead.
bool Core::go_on() {
  Context& running = contexts_.back();
  if (running.doing == Doing::returning) {
    contexts_.pop_back();
    return true;
  }
  running.doing = Doing::program;
  running.begin({});
  running.goes_on.resume();
  if (!running.program->has_ended()) return false;
  running.program.reset();
  if (!is_in_handler()) return false;
  running.doing = Doing::returning;
  running.begin({.cycles = costs_.handler_return, .atomic = true});
  return false;
}

}  // namespace am::kit
