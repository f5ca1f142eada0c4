// A thread slot of a cluster of the M-Machine's processor, and what the program in it does with the network (3.1, 3.2).
//
//   Program main(Thread& thread) {
//     thread.integers[0] = word;                                       // i4, the first word of a message's body
//     co_await thread.cycles(1);
//     co_await thread.send({Send::isnd0, address, handler, 1});        // goes on when it has issued
//     co_await thread.full(0);                                         // Ack: the registers may be written again
//     const Register loaded = co_await thread.issue(op::load());       // an operation of an instruction: instruction_stream.hpp
//   }
//   chip.place(address, [](Thread& thread) -> Program { const Word value = co_await thread.msg_body(); ... });
//
// A thread that waits for something that is not there takes no cycle of its cluster (3.1.1: the scoreboard). A message word is an operand: to
// read it costs nothing but the instruction that does.
//
// What the hardware forbids is an Exception out of the co_await, and so is a message to a place outside the mesh; in a handler, one that it
// does not catch ends it (5.2.3).
#pragma once

#include <array>
#include <bitset>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "emulated_hw/kit/program.hpp"
#include "emulated_hw/kit/waits.hpp"
#include "emulated_hw/mmachine/instruction_stream.hpp"
#include "emulated_hw/mmachine/network_input.hpp"
#include "emulated_hw/mmachine/network_output.hpp"

namespace am::mmachine {

class Chip;
using Program = kit::Program;

/// What an instruction raises: nothing has happened.
struct Exception : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// IGTRD, IGTWR, IGPRB: assumed, the packets of 4.2.2 over the C-switch. An instruction that is not named here takes a cycle.
inline constexpr unsigned gtlb_cycles = 3;

class Thread {
  enum class For : std::uint8_t { nothing, cycles, operation, grant, condition, head, body, event };

  /// begin(program) says whether there is something to wait for; then it has begun to. end() is what the instruction does, and gives.
  template <class Begin, class End>
  struct Awaiting {
    Begin begin;
    End end;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> who) noexcept { return begin(who); }
    auto await_resume() { return end(); }
  };
  // Clang 14 deduces no arguments of an aggregate's.
  template <class Begin, class End>
  [[nodiscard]] static Awaiting<Begin, End> awaiting(Begin begin, End end) noexcept {
    return {begin, end};
  }
  /// Of so many cycles; what it does, it does in the last.
  template <class F>
  [[nodiscard]] auto instruction(unsigned cycles, F f) noexcept {
    return awaiting(
        [this, cycles](std::coroutine_handle<> who) { return cycles != 0 && wait(who, For::cycles, cycles); },
        f);
  }
  [[nodiscard]] auto sending(const mmachine::Sent& what, unsigned cycles, Register words) noexcept {
    return awaiting([this, what, cycles,
                     words](std::coroutine_handle<> who) { return begin_send(who, what, cycles, words); },
                    [this] { end_send(); });
  }
  [[nodiscard]] auto reading(For what) {
    demand_slot_of(what);
    return awaiting([this, what](std::coroutine_handle<> who) { return wait_until(who, what, 0); },
                    [this, what] { return read(what); });
  }

 public:
  using Sent = mmachine::Sent;
  using Code = std::function<Program(Thread&)>;
  static constexpr unsigned conditions = 16;

  Thread(Chip& chip, unsigned cluster, unsigned slot) noexcept
      : chip_(chip), cluster_(cluster), slot_(slot) {}
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// Its program, from the next cycle on. The one before has ended; where it has not waited for the Ack of a SEND, that comes to this one, and
  /// where the SEND has missed, this one's registers are sent. Throws std::logic_error where one runs.
  void run(Code code, Privilege privilege);
  [[nodiscard]] bool has_ended() const noexcept { return !program_; }
  [[nodiscard]] Chip& chip() const noexcept { return chip_; }
  [[nodiscard]] Privilege privilege() const noexcept { return privilege_; }
  void set_privilege(Privilege privilege) noexcept { privilege_ = privilege; }
  /// What its instructions have taken of its cluster, as chapter 6 counts occupancy: by operation.
  [[nodiscard]] std::uint64_t slots() const noexcept { return stream_.slots(); }

  /// Where the body of a message lies: from i4 and from f4 on.
  Body integers{};
  Body floating{};
  /// Throws std::out_of_range, as full() does, for a condition that there is not.
  void fill(unsigned condition);
  void empty(unsigned condition) { full_.reset(condition); }

  // -- its chip, in each cycle

  /// Goes on with what no longer has to wait.
  void wake();
  /// It waits for something that is not there, and asks for nothing.
  [[nodiscard]] bool sleeps() const noexcept {
    return !program_ || (left_ == 0 && waits_for_ != For::grant && !is_there(waits_for_));
  }
  /// It is in an instruction, or a row of them, of more than so many cycles.
  [[nodiscard]] bool is_busy_for(Cycle cycles) const noexcept { return left_ != 0 && cycles_ > cycles; }
  /// Adds it as `place`, unless it waits for its next message or event, or has ended.
  void add_waits(kit::Waits& waits, const std::string& place) const;
  [[nodiscard]] bool can_issue(Cycle now) const noexcept { return left_ != 0 && not_before_ <= now; }
  void issue();
  [[nodiscard]] bool asks_for(Priority priority) const noexcept;
  void grant() noexcept;

  // -- what a program waits for

  /// n instructions of a cycle each.
  [[nodiscard]] auto cycles(unsigned n) noexcept {
    return instruction(n, [] {});
  }
  /// An operation, when its operands are there: beside the one before it, in this cycle's instruction, or in the next. Says when its result
  /// is there.
  [[nodiscard]] auto issue(const Operation& operation) noexcept {
    return awaiting(
        [this, operation](std::coroutine_handle<> who) { return begin_operation(who, operation); },
        [this, operation] { return end_operation(operation); });
  }

  /// With the making of DestAddr and HandlerIP: send_cycles.
  [[nodiscard]] auto send(const mmachine::Sent& what) noexcept { return sending(what, send_cycles - 1, {}); }
  /// SEND alone, of registers that operations have made: `words` is the last of these.
  [[nodiscard]] auto send(const mmachine::Sent& what, Register words) noexcept {
    return sending(what, send_request_cycles, words);
  }

  /// Until a condition register is full.
  [[nodiscard]] auto full(unsigned condition) {
    std::ignore = full_.test(condition);
    return awaiting(
        [this, condition](std::coroutine_handle<> who) { return wait_until(who, For::condition, condition); },
        [] {});
  }
  /// MsgHead and MsgBody: of a thread in the slot of a priority's messages; the event queue's words: in that of events. Elsewhere, as in a
  /// handler's code that Fork begins as a thread, an Exception.
  [[nodiscard]] auto msg_head() { return reading(For::head); }
  [[nodiscard]] auto msg_body() { return reading(For::body); }
  [[nodiscard]] auto event_word() { return reading(For::event); }

  /// IGPRB: where an address is, and which entry says so.
  [[nodiscard]] auto probe_gtlb(std::uint64_t address) noexcept {
    return instruction(gtlb_cycles, [this, address] { return output().gtlb().translate(address); });
  }
  /// IGTRD and IGTWR: the system's. The latter may clear the flag of a miss.
  [[nodiscard]] auto read_gtlb(unsigned index) noexcept {
    return instruction(gtlb_cycles, [this, index] { return output_for_system().gtlb().read(index); });
  }
  [[nodiscard]] auto write_gtlb(unsigned index, const Gtlb::Entry& entry, bool clear_miss) noexcept {
    return instruction(gtlb_cycles, [this, index, entry, clear_miss] {
      output_for_system().gtlb().write(index, entry);
      if (clear_miss) clear_gtlb_miss();
    });
  }
  /// OMBC is one more: the system's.
  [[nodiscard]] auto give_back_buffer() noexcept {
    return instruction(1, [this] { output_for_system().give_back_buffer(); });
  }

 private:
  /// True: its program waits.
  bool wait(std::coroutine_handle<> who, For what, unsigned cycles, Cycle not_before = 0) noexcept;
  bool wait_until(std::coroutine_handle<> who, For what, unsigned which) noexcept;
  bool begin_operation(std::coroutine_handle<> who, const Operation& operation) noexcept;
  bool begin_send(std::coroutine_handle<> who, const mmachine::Sent& what, unsigned cycles,
                  Register words) noexcept;
  Register end_operation(const Operation& operation) noexcept;
  void end_send();
  [[nodiscard]] std::optional<const char*> why_not(const mmachine::Sent& what) const noexcept;
  [[nodiscard]] bool is_there(For what) const noexcept;
  [[nodiscard]] Word read(For what);
  void go_on();
  void end() noexcept;
  [[nodiscard]] NetworkInput& input() const noexcept;
  [[nodiscard]] NetworkOutput& output() const noexcept;
  [[nodiscard]] NetworkOutput& output_for_system() const;
  void clear_gtlb_miss() const noexcept;
  void demand_slot_of(For what) const;

  Chip& chip_;
  const unsigned cluster_;
  const unsigned slot_;
  Privilege privilege_ = Privilege::user;
  Code code_;
  std::optional<Program> program_;
  std::coroutine_handle<> goes_on_;  // the innermost of its programs
  For waits_for_ = For::nothing;
  unsigned which_ = 0;    // condition
  unsigned cycles_ = 0;   // that it waits for
  unsigned left_ = 0;     // of these
  Cycle not_before_ = 0;  // operands are there
  mmachine::Sent sending_{};
  bool granted_ = false;
  std::optional<const char*> refused_;  // why it is not sent
  std::bitset<conditions> full_;
  InstructionStream stream_;
};

}  // namespace am::mmachine
