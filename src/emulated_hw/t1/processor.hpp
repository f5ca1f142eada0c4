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

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "emulated_hw/kit/core.hpp"
#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/node_set.hpp"
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

class Processor : public kit::Core {
 public:
  /// Code at an address. It is called for each run, and lives as long as the processor.
  using Code = std::function<Program(Processor&)>;

  explicit Processor(std::uint32_t node) : Core(node, {costs::dispatch, costs::hret}), ni_(node) {}

  /// What is at an address, for messages, timelets and outlets to name.
  void place(Address at, Code code) { code_[at] = std::move(code); }
  /// The computation, once: up to its first wait at once.
  void run(Code computation);

  /// One cycle. Throws what a program throws, and Exception where an event leads to no code: "node 3: address error: ...".
  void step();

  /// Its machine leaves out cycles in which it has nothing to do, until `bell` is rung; `cycles` is how many the machine has made.
  void is_stepped_by(const Cycle& cycles, const kit::NodeBell& bell) noexcept {
    Core::is_stepped_by(cycles);
    ni_.rings_processor(bell);
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
  void add_waits(kit::Waits& waits) const;

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
  Program exit_critical();
  Program poll();

 private:
  void catch_up() noexcept {
    if (const Cycle cycles = Core::catch_up(); cycles != 0) ni_.tick(cycles);
  }
  void begin_event();
  [[nodiscard]] std::string name() const { return "node " + std::to_string(node()); }

  NetworkInterface ni_;
  std::map<Address, Code> code_;
  Code computation_;
};

}  // namespace am::t1
