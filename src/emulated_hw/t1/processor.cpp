#include "emulated_hw/t1/processor.hpp"

#include <string>
#include <utility>
#include <vector>

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
  computation_ = std::move(computation);
  compute(computation_(*this));
}

void Processor::add_waits(kit::Waits& waits) const {
  const auto one = [](Priority priority) { return priority == Priority::high ? "a high" : "a low"; };
  std::vector<std::string> what, behind;
  if (is_in_handler()) {
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
  if (can_be_preempted() && ni_.next_event()) begin_event();
  if (Core::step() && ni_.hret() != pc_of(depth()))
    throw Exception(name() +
                    ": HRET leaves another event than the one that runs: EE or LPEE is not as it was");
}

void Processor::begin_event() {
  const NetworkInterface::Entry entry = ni_.enter(pc_of(depth()));
  const auto code = code_.find(entry.handler);
  if ((entry.address_error || code == code_.end()) && !entry.refused.empty())
    throw Exception(name() + ": address error: " + hex(entry.handler) + ": " + std::string(entry.refused));
  if (entry.address_error)
    throw Exception(name() + ": address error: " + hex(entry.handler) +
                    " is no address of code that this mode may run");
  if (code == code_.end()) throw Exception(name() + ": address error: no code at " + hex(entry.handler));
  preempt(code->second(*this));
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
