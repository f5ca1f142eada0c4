// A T1 under a clock: its network interface, and a processor that runs programs with explicit costs.
//
//   Program main(Processor& cpu) {
//     cpu.registers().data = {17, niid};                  // $4, $5
//     co_await cpu.ctc2(Register::enable, 1);
//     if (!co_await cpu.send({.scalars = 2}, 7, handler)) ...
//     while (!answered) co_await cpu.cycles(2);           // lw, bne
//   }
//   cpu.place(handler, [&](Processor& cpu) -> Program { answer = cpu.registers().data[0]; co_await cpu.cycles(2); });
//
// Events come between instructions, so also within cycles(n): what is left of it waits until HRET. A send is atomic, however many cycles
// it takes (A.6). A handler's program ends where HRET stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/kit/core.hpp"
#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/program.hpp"
#include "emulated_hw/kit/waits.hpp"
#include "emulated_hw/t1/network_interface.hpp"

namespace am::t1 {

using Program = kit::Program;
using Cycle = kit::Cycle;

/// Cycles. An instruction that is not named here takes one: assumed, for a pipeline that issues one per cycle.
namespace costs {
inline constexpr unsigned send = 5;      ///< "approximately 5 cycles", of any length (3.10)
inline constexpr unsigned dispatch = 4;  ///< "3-5 cycles" to the handler's first instruction (3.8)
inline constexpr unsigned hret = 1;      ///< with it "about 5" to receive (3.10)
}  // namespace costs

class Processor : public kit::CoreOf<Processor> {
 public:
  explicit Processor(std::uint32_t node) : CoreOf(node, {costs::dispatch, costs::hret}), ni_(node) {}

  /// What is at an address, for messages, timelets and outlets to name. It is called for each run.
  void place(Address at, Code code) { code_[at] = std::move(code); }

  /// One cycle. Throws what a program throws, and Exception where an event leads to no code: "node 3: address error: ...".
  void step() {
    catch_up();
    ni_.tick();
    if (can_be_preempted() && ni_.next_event()) begin_event();
    if (Core::step() && ni_.hret() != pc_of(depth()))
      throw Exception(name() +
                      ": HRET leaves another event than the one that runs: EE or LPEE is not as it was");
  }

  /// So that nothing but time passes here until an event comes.
  [[nodiscard]] bool has_nothing_to_do() const noexcept { return is_idle() && !ni_.next_event(); }

  /// Cycles until a timelet may come.
  [[nodiscard]] Cycle until_timelet() const noexcept { return ni_.until_timelet(); }
  /// One is to come: timec was written, and there is code at timeh.
  [[nodiscard]] bool awaits_timelet() const {
    return ni_.awaits_timelet() && code_.contains(ni_.cfc2(Register::timeh));
  }
  /// Something here takes longer than so many cycles, and is sure to come to its end: a step of a program, the time until a timelet.
  [[nodiscard]] bool is_busy_for(Cycle cycles) const {
    return Core::is_busy_for(cycles) || (awaits_timelet() && ni_.timelet_wait() > cycles);
  }
  /// Adds its node as a place, unless its program has ended and nothing is left for it.
  void add_waits(kit::Waits& waits) const {
    std::vector<std::string> what, behind;
    if (is_in_handler()) {
      what.emplace_back("runs a handler");
    } else if (!has_ended()) {
      what.emplace_back("its program goes on, and no message has come for it");
    }
    for (const Priority priority : {Priority::high, Priority::low}) {
      if (!what.empty() && ni_.outgoing(priority)) {
        what.push_back("a " + std::string(name_of(priority)) +
                       " message that it has sent does not leave its interface");
        behind.push_back(place_in_interface(ni_.cfc2(Register::niid), priority));
      }
      if (!ni_.has_room(priority))
        what.push_back("a " + std::string(name_of(priority)) +
                       " message waits in its interface: such events are masked or disabled");
    }
    if (what.empty()) return;
    std::string line = name() + ": " + what.front();
    for (std::size_t i = 1; i < what.size(); ++i) line += "; " + what[i];
    waits.add(name(), std::move(line), std::move(behind));
  }

  /// Count is that of now until the next step.
  [[nodiscard]] NetworkInterface& ni() noexcept {
    catch_up();
    return ni_;
  }
  /// $4 to $9, $29 and $vr1 of the context that runs.
  [[nodiscard]] RegisterSet& registers() noexcept { return ni_.visible(); }
  [[nodiscard]] const Spent& spent() noexcept {
    catch_up();
    return counts();
  }

  // -- what a program waits for, beside cycles(n), instructions of a cycle each

  /// SEND and MCST, and the look at nicond behind it: whether it was accepted. Words come from registers(), the vector from `vd`, which
  /// stays as it is meanwhile, with `vlr` words.
  [[nodiscard]] auto send(const Send& what, std::uint32_t destination, Address handler, const Vector& vd,
                          unsigned vlr) noexcept {
    return instruction({.cycles = costs::send, .atomic = true, .special = true},
                       [this, what, destination, handler, vector = &vd, vlr] {
                         return ni_.send(what, destination, handler, *vector, vlr);
                       });
  }
  [[nodiscard]] auto send(const Send& what, std::uint32_t destination, Address handler) noexcept {
    return send(what, destination, handler, registers().vr1, most_vector);
  }
  [[nodiscard]] auto cfc2(Register which) noexcept {
    return instruction({.cycles = 1, .atomic = true}, [this, which] { return ni_.cfc2(which); });
  }
  [[nodiscard]] auto ctc2(Register which, Word value) noexcept {
    return instruction({.cycles = 1, .atomic = true}, [this, which, value] { ni_.ctc2(which, value); });
  }

  /// Figure 8: ENTER_CRIT, one instruction, EXIT_CRIT, two, and NI_POLL, three, for programs that keep events disabled.
  [[nodiscard]] auto enter_critical() noexcept { return ctc2(Register::enable, 0); }
  Program exit_critical() {
    co_await cycles(1);  // ORI
    co_await ctc2(Register::enable, 1);
  }
  Program poll() {
    co_await cycles(1);  // ORI
    co_await ctc2(Register::enable, 1);
    co_await ctc2(Register::enable, 0);
  }

 private:
  void catch_up() noexcept {
    if (const Cycle cycles = Core::catch_up(); cycles != 0) ni_.tick(cycles);
  }
  void begin_event() {
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
  // What LPEPC and HPEPC hold: programs here have no addresses within, so the depth of what is preempted stands for them.
  static Address pc_of(std::size_t depth) noexcept { return static_cast<Address>(4 * depth); }
  static std::string hex(Address address) {
    std::string text = "0x00000000";
    for (std::size_t i = text.size(); address != 0; address >>= 4)
      text[--i] = "0123456789abcdef"[address & 15];
    return text;
  }
  [[nodiscard]] std::string name() const { return "node " + std::to_string(node()); }

  NetworkInterface ni_;
  std::map<Address, Code> code_;
};

}  // namespace am::t1
