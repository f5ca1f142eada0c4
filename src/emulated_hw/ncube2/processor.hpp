// A node of an nCUBE/2 under the clock: an NCUBE 6400, which runs programs with explicit costs, and its DMA engines (von Eicken 1993, 3.1.1,
// 3.1.2).
//
//   cpu.run([](Processor& cpu) -> Program {
//     co_await cpu.cycles(costs::compare_and_branch);
//     const Word word = co_await cpu.load(100);           // 7 cycles, and 5 of DRAM
//     co_await cpu.trap(service(cpu));                    // in the kernel
//   });
//   cpu.on_input(2, [](Processor& cpu) -> Program { ... co_await cpu.receive(2, 200); });
//
// "Individually vectored interrupts and kernel traps": an engine whose segment is over interrupts if its enable bit is set and the PSW enables
// its direction. Trap and interrupt save the PC, the PSW and the registers that the kernel uses, in memory, and clear both bits of the PSW; a
// return restores them. Each access to memory waits for its turn among the engines': cycles that these steal.
//
// Assumed: input comes before output, and lower dimensions first; an interrupt is there as long as its status bit; registers are saved one
// behind the other, in page mode.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <utility>
#include <vector>

#include "emulated_hw/kit/core.hpp"
#include "emulated_hw/kit/waits.hpp"
#include "emulated_hw/ncube2/costs.hpp"
#include "emulated_hw/ncube2/engines.hpp"

namespace am::ncube2 {

using Program = kit::Program;

/// Of PC, PSW and registers, where no engine steals a cycle.
namespace costs {
inline constexpr unsigned saved_accesses = dram_cycles + page_cycles * (saved_words - 1);
inline constexpr unsigned saving = push * saved_registers + saved_accesses;
inline constexpr unsigned restoring = pop * saved_registers + saved_accesses;
}  // namespace costs

class Processor final : public kit::CoreOf<Processor> {
 public:
  /// Of a node with so many words of memory. The network outlives it.
  Processor(Network& network, NodeNumber node, std::size_t words);

  [[nodiscard]] Engines& engines() noexcept { return engines_; }
  [[nodiscard]] std::vector<Word>& memory() noexcept { return engines_.memory(); }
  /// What an engine's interrupt runs.
  void on_input(unsigned dimension, Code code) { input_vectors_.at(dimension) = std::move(code); }
  void on_output(unsigned dimension, Code code) { output_vectors_.at(dimension) = std::move(code); }

  /// Which interrupts may come: what the PSW says of all, and what inen and outen say of each. All may by the PSW, at first, and none by these.
  struct Psw {
    bool inputs = true;
    bool outputs = true;
  };
  struct Enabled {
    std::uint16_t inputs = 0;
    std::uint16_t outputs = 0;
  };
  [[nodiscard]] Enabled& enabled() noexcept { return enabled_; }

  /// One cycle, before the network's. Throws what a program and the engines throw.
  void step();
  [[nodiscard]] bool has_nothing_to_do() const noexcept {
    return is_idle() && pending() == nullptr && engines_.has_nothing_to_do();
  }
  /// Adds its node as a place, unless its program has ended.
  void add_waits(kit::Waits& waits) const;
  void record(kit::Trace* trace) noexcept {
    Core::record(trace);
    engines_.record(trace);
  }
  /// Cycles in which it waited for memory that an engine had.
  [[nodiscard]] std::uint64_t stolen() noexcept { return engines_.memory_port().waited(Engines::processor); }

  // -- what a program waits for, beside cycles(n)

  /// So many accesses behind one another: all but the first in page mode.
  [[nodiscard]] auto accesses(unsigned cycles, unsigned n) noexcept {
    return instruction({.cycles = cycles, .accesses = n}, [] {});
  }
  /// Throw std::out_of_range where there is no such memory.
  [[nodiscard]] auto load(Word address, unsigned cycles = costs::load) noexcept {
    return instruction({.cycles = cycles, .accesses = 1}, [this, address] { return memory().at(address); });
  }
  [[nodiscard]] auto store(Word address, Word value, unsigned cycles = costs::store) noexcept {
    return instruction({.cycles = cycles, .accesses = 1},
                       [this, address, value] { memory().at(address) = value; });
  }
  /// The service runs in the kernel: without interrupts, and with all that is saved and restored.
  Program trap(Program service);

  // The kernel's.

  /// lptr and lcnt.
  [[nodiscard]] auto send(unsigned dimension, Word address, Word words) noexcept {
    return instruction({.cycles = 2 * costs::privileged},
                       [=, this] { engines_.send(dimension, address, words); });
  }
  [[nodiscard]] auto receive(unsigned dimension, Word address) noexcept {
    return instruction({.cycles = 2 * costs::privileged},
                       [=, this] { engines_.receive(dimension, address); });
  }
  /// ldpr and stpr.
  [[nodiscard]] auto read_status() noexcept {
    return privileged([this]() -> Status { return engines_.status(); });
  }
  [[nodiscard]] auto clear_input(unsigned dimension) noexcept {
    return privileged([this, dimension] {
      engines_.status().input_ready &= static_cast<std::uint16_t>(~bit(dimension));
      engines_.status().message_ready &= static_cast<std::uint16_t>(~bit(dimension));
    });
  }
  [[nodiscard]] auto clear_output(unsigned dimension) noexcept {
    return privileged(
        [this, dimension] { engines_.status().output_ready &= static_cast<std::uint16_t>(~bit(dimension)); });
  }
  [[nodiscard]] auto enable_output(unsigned dimension) noexcept {
    return privileged([this, dimension] { enabled_.outputs |= bit(dimension); });
  }
  [[nodiscard]] auto disable_output(unsigned dimension) noexcept {
    return privileged([this, dimension] { enabled_.outputs &= static_cast<std::uint16_t>(~bit(dimension)); });
  }
  /// The kernel has nothing to run: all interrupts may come, until one has been handled.
  struct Halt {
    Processor& cpu;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who) const noexcept {
      cpu.psw_ = {};
      cpu.wait(who, {});
    }
    void await_resume() const noexcept { cpu.psw_ = no_interrupts; }
  };
  /// Not in a handler.
  [[nodiscard]] Halt halt() noexcept { return {*this}; }

 private:
  static constexpr Psw no_interrupts{.inputs = false, .outputs = false};

  template <class F>
  [[nodiscard]] kit::Core::Instruction<F> privileged(F f) noexcept {
    return instruction({.cycles = costs::privileged}, f);
  }
  /// Trap and reti, as instructions.
  [[nodiscard]] auto set_psw(unsigned cycles, const Psw& psw) noexcept {
    return instruction({.cycles = cycles, .atomic = true, .special = true}, [this, psw] { psw_ = psw; });
  }
  [[nodiscard]] const Code* pending() const noexcept;
  Program in_kernel(Program service);

  const Network& network_;
  Engines engines_;
  std::array<Code, most_dimensions> input_vectors_;
  std::array<Code, most_dimensions> output_vectors_;
  Psw psw_;
  std::vector<Psw> saved_;  // of what handlers have preempted
  Enabled enabled_;
};

}  // namespace am::ncube2
