// What processors under the clock have in common: programs that say how long their steps take, and handlers that preempt them.
//
// The computation is the bottom of a stack of contexts. A handler that preempts is pushed, and the top takes the cycle. A step is cycles, then
// accesses to a memory that engines share. A handler may preempt it between two of these; an atomic step, only before it begins. A handler
// begins with a dispatch and ends with a return, both atomic.
//
// A machine's processor derives from it: it says what preempts, and names its instructions by instruction().
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/kit/memory_port.hpp"
#include "emulated_hw/kit/program.hpp"
#include "emulated_hw/kit/trace.hpp"

namespace am::kit {

class Core {
 public:
  Core(const Core&) = delete;  // programs refer to it
  Core& operator=(const Core&) = delete;

  /// What a trace records for a cycle. `special`: a step that the machine names.
  enum class Activity : std::uint8_t { computing, special, dispatching, handling, returning };
  /// Cycles so far, and how many of them went into what.
  struct Spent {
    std::uint64_t all = 0;
    std::uint64_t computing = 0;    ///< special steps of the computation included
    std::uint64_t dispatching = 0;  ///< of handlers, and returns
    std::uint64_t handling = 0;
    std::uint64_t idle = 0;  ///< the computation has ended, or halts
  };

  struct Step {
    unsigned cycles = 0;
    unsigned accesses = 0;  ///< to consecutive words of memory
    bool atomic = false;
    bool special = false;
  };
  /// A step, and what it does in the end.
  template <class F>
  struct Instruction {
    Core& core;
    Step step;
    F f;
    [[nodiscard]] bool await_ready() const noexcept { return step.cycles + step.accesses == 0; }
    void await_suspend(std::coroutine_handle<> who) noexcept { core.wait(who, step); }
    auto await_resume() { return f(); }
  };
  // Clang 14 deduces no arguments of an aggregate's.
  template <class F>
  [[nodiscard]] Instruction<F> instruction(const Step& step, F f) noexcept {
    return {*this, step, f};
  }
  /// n instructions of a cycle each.
  [[nodiscard]] auto cycles(unsigned n) noexcept {
    return instruction({.cycles = n}, [] {});
  }

  [[nodiscard]] bool has_ended() const noexcept { return !contexts_.front().program; }
  [[nodiscard]] bool is_in_handler() const noexcept { return contexts_.size() > 1; }
  /// Nothing but time passes here until a handler preempts.
  [[nodiscard]] bool is_idle() const noexcept { return !is_in_handler() && !contexts_.front().is_busy(); }
  /// It is in a step of more than so many cycles.
  [[nodiscard]] bool is_busy_for(Cycle cycles) const noexcept {
    return std::ranges::any_of(contexts_, [&](const Context& context) {
      return context.is_busy() && context.step.cycles + context.step.accesses > cycles;
    });
  }
  /// Tells it from now on what it does, until it is told otherwise. It outlives that.
  void record(Trace* trace) noexcept { trace_ = trace; }
  /// Its machine leaves out cycles in which it is idle; `cycles` is how many the machine has made.
  void is_stepped_by(const Cycle& cycles) noexcept { cycles_of_machine_ = &cycles; }

 protected:
  struct Costs {
    unsigned dispatch;
    unsigned handler_return;
    unsigned access = 1;       ///< the first of a step
    unsigned next_access = 1;  ///< each that follows
  };
  Core(NodeNumber node, const Costs& costs) : node_(node), costs_(costs) {}
  ~Core() = default;

  /// The computation, once: up to its first wait at once. Throws std::logic_error.
  void compute(Program program) {
    Context& computation = contexts_.front();
    if (computation.program || spent_.all != 0) throw std::logic_error("a processor has one computation");
    computation.program.emplace(std::move(program));
    computation.goes_on = computation.program->begin();
    go_on();
  }
  [[nodiscard]] bool can_be_preempted() const noexcept { return contexts_.back().can_be_preempted; }
  [[nodiscard]] std::size_t depth() const noexcept { return contexts_.size(); }
  /// A handler comes on top: in step(), before that of the core.
  void preempt(Program handler) {
    Context& context = contexts_.emplace_back();
    context.program.emplace(std::move(handler));
    context.goes_on = context.program->begin();
    context.doing = Doing::dispatching;
    context.begin({.cycles = costs_.dispatch, .atomic = true});
  }
  /// One cycle. Whether a handler has returned in it. Throws what programs throw.
  bool step() {
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
  /// What has halted, by a step of nothing, goes on.
  void resume_if_halted() {
    if (!has_ended() && is_idle()) go_on();
  }
  /// Accesses go there, as that user.
  void uses(MemoryPort& memory, unsigned user) noexcept {
    memory_ = &memory;
    user_ = user;
  }
  /// The access that it asked the memory for is over.
  void access_is_over() {
    Context& running = contexts_.back();
    running.can_be_preempted = !running.step.atomic;
    if (--running.accesses == 0) go_on();
  }
  /// How many cycles were left out since the last step; they count as idle now.
  Cycle catch_up() noexcept {
    if (cycles_of_machine_ == nullptr || spent_.all >= *cycles_of_machine_) return 0;
    const Cycle left_out = *cycles_of_machine_ - spent_.all;
    spent_.all += left_out;
    spent_.idle += left_out;
    return left_out;
  }
  [[nodiscard]] const Spent& counts() const noexcept { return spent_; }
  [[nodiscard]] NodeNumber node() const noexcept { return node_; }
  void wait(std::coroutine_handle<> who, const Step& step) noexcept {
    contexts_.back().goes_on = who;
    contexts_.back().begin(step);
  }

 private:
  enum class Doing : std::uint8_t { program, dispatching, returning };
  struct Context {
    std::optional<Program> program{};
    std::coroutine_handle<> goes_on{};  // the innermost of its programs
    Doing doing = Doing::program;
    Step step{};                   // that it waits for
    unsigned cycles = 0;           // of this, what is left
    unsigned accesses = 0;         // and of these
    bool can_be_preempted = true;  // before the next cycle
    [[nodiscard]] bool is_busy() const noexcept { return cycles + accesses != 0; }
    void begin(const Step& what) noexcept {
      step = what;
      cycles = what.cycles;
      accesses = what.accesses;
      can_be_preempted = true;
    }
  };

  [[nodiscard]] Activity activity(const Context& running) const noexcept {
    if (running.doing == Doing::dispatching) return Activity::dispatching;
    if (running.doing == Doing::returning) return Activity::returning;
    if (running.step.special) return Activity::special;
    return is_in_handler() ? Activity::handling : Activity::computing;
  }
  std::uint64_t& account(const Context& running) noexcept {
    if (running.doing != Doing::program) return spent_.dispatching;
    if (is_in_handler()) return spent_.handling;
    return running.is_busy() ? spent_.computing : spent_.idle;
  }
  /// The program that waited does what its time was for, and all up to its next wait, which begins with the next cycle. Whether that was a
  /// handler's return instead.
  bool go_on() {
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

  const NodeNumber node_;
  const Costs costs_;
  MemoryPort* memory_ = nullptr;
  unsigned user_ = 0;
  std::vector<Context> contexts_{1};  // the computation, then what preempted what
  Spent spent_;
  const Cycle* cycles_of_machine_ = nullptr;
  Trace* trace_ = nullptr;
};

/// One that runs a computation, as code that is given it: `Self`.
template <class Self>
class CoreOf : public Core {
 public:
  /// It lives as long as the processor.
  using Code = std::function<Program(Self&)>;

  using Core::node;
  /// The computation, once: up to its first wait at once.
  void run(Code computation) {
    computation_ = std::move(computation);
    compute(computation_(static_cast<Self&>(*this)));
  }
  [[nodiscard]] const Spent& spent() noexcept {
    catch_up();
    return counts();
  }

 protected:
  using Core::Core;

 private:
  Code computation_;
};

}  // namespace am::kit
