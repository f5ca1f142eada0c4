#include "emulated_hw/t1/processor.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulated_hw/t1/mesh.hpp"

namespace am::t1 {

namespace {

// What LPEPC and HPEPC hold: programs here have no addresses within, so the depth of what is preempted stands for them.
Address pc_of(std::size_t depth) noexcept { return static_cast<Address>(4 * depth); }

std::string hex(Address address) {
  std::string text = "0x00000000";
  for (std::size_t i = text.size(); address != 0; address >>= 4) text[--i] = "0123456789abcdef"[address & 15];
  return text;
}

}  // namespace

void Processor::run(Code computation) {
  if (!contexts_.empty()) throw std::logic_error("a processor has one computation");
  computation_ = std::move(computation);
  begin(contexts_.emplace_back(), computation_);
  go_on();
}

void Processor::begin(Context& context, const Code& code) {
  context.program.emplace(code(*this));
  context.goes_on = context.program->begin();
}

void Processor::wait(std::coroutine_handle<> who, unsigned cycles, bool atomic) noexcept {
  Context& running = contexts_.back();
  running.goes_on = who;
  running.cycles = cycles;
  running.left = cycles;
  running.can_be_preempted = true;
  running.atomic = atomic;
}

/// With cycles that were left out.
void Processor::catch_up() noexcept {
  if (cycles_of_machine_ == nullptr || spent_.all >= *cycles_of_machine_) return;
  const Cycle cycles = *cycles_of_machine_ - spent_.all;
  ni_.tick(cycles);
  spent_.all += cycles;
  spent_.idle += cycles;
}

bool Processor::is_busy_for(Cycle cycles) const {
  const bool computes = std::ranges::any_of(
      contexts_, [&](const Context& context) { return context.left != 0 && context.cycles > cycles; });
  return computes || (awaits_timelet() && ni_.timelet_wait() > cycles);
}

void Processor::add_waits(kit::Waits& waits) const {
  const auto one = [](Priority priority) { return priority == Priority::high ? "a high" : "a low"; };
  std::vector<std::string> what, behind;
  if (contexts_.size() > 1) {
    what.emplace_back("runs a handler");
  } else if (!has_ended()) {
    what.emplace_back("its program goes on, and no message has come for it");
  }
  for (const Priority priority : {Priority::high, Priority::low}) {
    if (!what.empty() && ni_.outgoing(priority)) {
      what.push_back(std::string(one(priority)) + " message that it has sent does not leave its interface");
      behind.push_back(place_in_interface(ni_.cfc2(Register::niid), priority));
    }
    if (!ni_.has_room(priority))
      what.push_back(std::string(one(priority)) +
                     " message waits in its interface: such events are masked or disabled");
  }
  if (what.empty()) return;
  std::string line = name() + ": " + what.front();
  for (std::size_t i = 1; i < what.size(); ++i) line += "; " + what[i];
  waits.add(name(), std::move(line), std::move(behind));
}

void Processor::step() {
  catch_up();
  ni_.tick();
  ++spent_.all;
  if (contexts_.empty()) contexts_.emplace_back();  // nothing is to be run here but handlers
  if (contexts_.back().can_be_preempted && ni_.next_event()) begin_event();
  Context& running = contexts_.back();
  ++(running.doing == Doing::dispatching || running.doing == Doing::returning ? spent_.dispatching
     : contexts_.size() > 1                                                   ? spent_.handling
     : running.left == 0                                                      ? spent_.idle
                                                                              : spent_.computing);
  if (running.left == 0) return;
  if (trace_ != nullptr) [[unlikely]]
    record(running);
  running.can_be_preempted = !running.atomic;
  if (--running.left != 0) return;
  if (running.doing == Doing::returning) return end_event();
  running.doing = Doing::program;
  go_on();
}

void Processor::record(const Context& running) const {
  const Activity what = running.doing == Doing::sending       ? Activity::sending
                        : running.doing == Doing::dispatching ? Activity::dispatching
                        : running.doing == Doing::returning   ? Activity::returning
                        : contexts_.size() > 1                ? Activity::handling
                                                              : Activity::computing;
  const bool sends_anew = running.doing == Doing::sending && running.left == costs::send;
  trace_->does(ni_.cfc2(Register::niid), static_cast<unsigned>(what), spent_.all - 1, sends_anew);
}

/// Whoever waited does what its time was for, and all up to its next wait, which begins with the next cycle.
void Processor::go_on() {
  Context& running = contexts_.back();
  running.can_be_preempted = true;
  running.goes_on.resume();
  if (!running.program->has_ended()) return;
  running.program.reset();
  if (contexts_.size() == 1) return;
  running.doing = Doing::returning;
  running.left = costs::hret;
  running.atomic = true;
}

void Processor::begin_event() {
  const NetworkInterface::Entry entry = ni_.enter(pc_of(contexts_.size()));
  const auto code = code_.find(entry.handler);
  if ((entry.address_error || code == code_.end()) && !entry.refused.empty())
    throw Exception(name() + ": address error: " + hex(entry.handler) + ": " + std::string(entry.refused));
  if (entry.address_error)
    throw Exception(name() + ": address error: " + hex(entry.handler) +
                    " is no address of code that this mode may run");
  if (code == code_.end()) throw Exception(name() + ": address error: no code at " + hex(entry.handler));
  Context& context = contexts_.emplace_back();
  begin(context, code->second);
  context.doing = Doing::dispatching;
  context.left = costs::dispatch;
  context.atomic = true;
}

void Processor::end_event() {
  if (ni_.hret() != pc_of(contexts_.size() - 1))
    throw Exception(name() +
                    ": HRET leaves another event than the one that runs: EE or LPEE is not as it was");
  contexts_.pop_back();
}

Program Processor::exit_critical() {
  co_await cycles(1);  // ORI
  co_await ctc2(Register::enable, 1);
}

Program Processor::poll() {
  co_await cycles(1);  // ORI
  co_await ctc2(Register::enable, 1);
  co_await ctc2(Register::enable, 0);
}

}  // namespace am::t1
