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

#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/program.hpp"
#include "emulated_hw/kit/trace.hpp"
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

class Processor {
 public:
  /// Code at an address. It is called for each run, and lives as long as the processor.
  using Code = std::function<Program(Processor&)>;

  explicit Processor(std::uint32_t node) : ni_(node) {}
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;

  /// What is at an address, for messages, timelets and outlets to name.
  void place(Address at, Code code) { code_[at] = std::move(code); }
  /// The computation, once: up to its first wait at once.
  void run(Code computation);
  [[nodiscard]] bool has_ended() const noexcept { return contexts_.empty() || !contexts_.front().program; }

  /// One cycle. Throws what a program throws, and Exception where an event leads to no code: "node 3: address error: ...".
  void step();

  /// Its machine leaves out cycles in which it has nothing to do, until `bell` is rung; `cycles` is how many the machine has made.
  void is_stepped_by(const Cycle& cycles, const kit::NodeBell& bell) noexcept {
    cycles_of_machine_ = &cycles;
    ni_.rings_processor(bell);
  }
  /// So that nothing but time passes here until an event comes.
  [[nodiscard]] bool has_nothing_to_do() const noexcept {
    return contexts_.size() == 1 && contexts_.front().left == 0 && !ni_.next_event();
  }

  /// Cycles until a timelet may come.
  [[nodiscard]] Cycle until_timelet() const noexcept { return ni_.until_timelet(); }
  /// One is to come: timec was written, and there is code at timeh.
  [[nodiscard]] bool awaits_timelet() const {
    return ni_.awaits_timelet() && code_.contains(ni_.cfc2(Register::timeh));
  }
  /// Something here takes longer than so many cycles, and is sure to come to its end: a step of a program, the time until a timelet.
  [[nodiscard]] bool is_busy_for(Cycle cycles) const;
  /// Adds its node as a place, unless its program has ended and nothing is left for it.
  void add_waits(kit::Waits& waits) const;

  /// What a trace calls what it does in a cycle: trace_names() (machine.hpp).
  enum class Activity : std::uint8_t { computing, sending, dispatching, handling, returning };
  /// Tells it from now on what it does, until it is told otherwise. It outlives that.
  void record(kit::Trace* trace) noexcept { trace_ = trace; }

  /// Count is that of now until the next step.
  [[nodiscard]] NetworkInterface& ni() noexcept {
    catch_up();
    return ni_;
  }
  /// $4 to $9, $29 and $vr1 of the context that runs.
  [[nodiscard]] RegisterSet& registers() noexcept { return ni_.visible(); }
  /// Cycles so far, and how many of them went into what.
  struct Spent {
    std::uint64_t all = 0;
    std::uint64_t computing = 0;    ///< sends of the computation included
    std::uint64_t dispatching = 0;  ///< of events, and HRET
    std::uint64_t handling = 0;
    std::uint64_t idle = 0;  ///< the computation has ended
  };
  [[nodiscard]] const Spent& spent() noexcept {
    catch_up();
    return spent_;
  }

  // -- what a program waits for

  struct Wait {
    Processor& cpu;
    unsigned cycles;
    [[nodiscard]] bool await_ready() const noexcept { return cycles == 0; }
    void await_suspend(std::coroutine_handle<> who) noexcept { cpu.wait(who, cycles, false); }
    void await_resume() const noexcept {}
  };
  /// n instructions of a cycle each.
  [[nodiscard]] Wait cycles(unsigned n) noexcept { return {*this, n}; }

  struct Sending {
    Processor& cpu;
    Send what;
    std::uint32_t destination;
    Address handler;
    const Vector* vd;
    unsigned vlr;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who) noexcept { cpu.begin_send(who); }
    bool await_resume() const { return cpu.ni_.send(what, destination, handler, *vd, vlr); }
  };
  /// SEND and MCST, and the look at nicond behind it: whether it was accepted. Words come from registers(), the vector from `vd`, which
  /// stays as it is meanwhile, with `vlr` words.
  [[nodiscard]] Sending send(const Send& what, std::uint32_t destination, Address handler, const Vector& vd,
                             unsigned vlr) noexcept {
    return {*this, what, destination, handler, &vd, vlr};
  }
  [[nodiscard]] Sending send(const Send& what, std::uint32_t destination, Address handler) noexcept {
    return send(what, destination, handler, registers().vr1, most_vector);
  }

  struct Reading {
    Processor& cpu;
    Register which;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who) noexcept { cpu.wait(who, 1, true); }
    Word await_resume() const { return cpu.ni_.cfc2(which); }
  };
  [[nodiscard]] Reading cfc2(Register which) noexcept { return {*this, which}; }

  struct Writing {
    Processor& cpu;
    Register which;
    Word value;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who) noexcept { cpu.wait(who, 1, true); }
    void await_resume() const { cpu.ni_.ctc2(which, value); }
  };
  [[nodiscard]] Writing ctc2(Register which, Word value) noexcept { return {*this, which, value}; }

  /// Figure 8: ENTER_CRIT, one instruction, EXIT_CRIT, two, and NI_POLL, three, for programs that keep events disabled.
  [[nodiscard]] Writing enter_critical() noexcept { return ctc2(Register::enable, 0); }
  Program exit_critical();
  Program poll();

 private:
  enum class Doing : std::uint8_t { program, sending, dispatching, returning };
  /// The computation, or an event's handler.
  struct Context {
    std::optional<Program> program{};
    std::coroutine_handle<> goes_on{};  // the innermost of its programs
    Doing doing = Doing::program;
    unsigned cycles = 0;           // of what it waits for
    unsigned left = 0;             // of these
    bool atomic = false;           // once that has begun
    bool can_be_preempted = true;  // before the next cycle
  };

  void begin(Context& context, const Code& code);
  void wait(std::coroutine_handle<> who, unsigned cycles, bool atomic) noexcept;
  void begin_send(std::coroutine_handle<> who) noexcept {
    wait(who, costs::send, true);
    contexts_.back().doing = Doing::sending;
  }
  void catch_up() noexcept;
  void record(const Context& running) const;
  void go_on();
  void begin_event();
  void end_event();
  [[nodiscard]] std::string name() const { return "node " + std::to_string(ni_.cfc2(Register::niid)); }

  NetworkInterface ni_;
  std::map<Address, Code> code_;
  Code computation_;
  std::vector<Context> contexts_;  // the computation, then what preempted what
  Spent spent_;
  const Cycle* cycles_of_machine_ = nullptr;
  kit::Trace* trace_ = nullptr;
};

}  // namespace am::t1
