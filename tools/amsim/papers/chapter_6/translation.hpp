// How a message's virtual address becomes a node: by the GTLB beside the injection, for nothing, or by a lookup in a table of four
// entries in memory (SWX).
//
// The thesis does not print the lookup. This one: the table's address, its entry's mask, tag and mapping, the comparison of a GTLB
// (3.3.1), and the node's place from page, extents and base. As a subroutine it makes room for its registers where the message and the
// program leave too few (6.5.3): these are stored before and loaded after.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.1, 4.2.2, 6.4, 6.5.3.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "amsim/papers/chapter_6/interface_model.hpp"
#include "amsim/papers/chapter_6/parameters.hpp"
#include "emulated_hw/mmachine/instruction_stream.hpp"

namespace amsim::chapter_6 {

/// The lookup that finds its address in the table's first entry, an operation at a time: so that a program may place it between its own.
class Lookup {
 public:
  explicit Lookup(Register its_address) noexcept { registers_[address] = its_address; }

  /// False: it was complete before.
  bool step(InstructionStream& thread) noexcept {
    if (done_ == steps.size()) return false;
    const Step& next = steps[done_++];
    registers_[next.result] = thread.issue(
        {.unit = next.unit, .reads = {registers_[next.a], registers_[next.b]}, .latency = next.latency});
    return true;
  }
  /// The last step was the comparison, whose result decides the branch out of the search.
  [[nodiscard]] bool just_found() const noexcept { return done_ == steps_to_find; }
  [[nodiscard]] Register found() const noexcept { return registers_[matches]; }
  [[nodiscard]] Register node() const noexcept { return registers_[place]; }

 private:
  enum Name : std::uint8_t { none, address, table, mask, tag, mapping, matches, page, x, y, place, names };
  struct Step {
    Name result;
    Name a;
    Name b;
    Unit unit;
    Cycle latency;
  };
  static constexpr unsigned steps_to_find = 6;
  static constexpr std::array<Step, 14> steps{{
      {table, none, none, Unit::memu, 1},
      {mask, table, none, Unit::memu, load_cycles},
      {tag, table, none, Unit::memu, load_cycles},
      {mapping, table, none, Unit::memu, load_cycles},
      {matches, address, mask, Unit::any_integer, 1},
      {matches, matches, tag, Unit::any_integer, 1},
      {page, address, mapping, Unit::any_integer, 1},
      {x, page, mapping, Unit::any_integer, 1},
      {y, page, mapping, Unit::any_integer, 1},
      {x, x, none, Unit::any_integer, 1},
      {y, y, none, Unit::any_integer, 1},
      {x, x, mapping, Unit::any_integer, 1},
      {y, y, mapping, Unit::any_integer, 1},
      {place, x, y, Unit::any_integer, 1},
  }};

  std::array<Register, names> registers_{};
  unsigned done_ = 0;
};

class AddressTranslation {
 public:
  /// `missed_entries`: that a lookup looks at before the one that matches.
  explicit AddressTranslation(Translation how, unsigned missed_entries = 0) noexcept
      : how_(how), missed_entries_(missed_entries) {}

  [[nodiscard]] bool in_software() const noexcept { return how_ == Translation::software; }
  /// What the injection is given: the address itself, or the node that a call of the lookup found. `live` registers hold the message.
  Register translate(InstructionStream& thread, Register address, unsigned live) const noexcept {
    if (!in_software()) return address;
    Register frame = address;
    for (unsigned i = 0; i < spilled(live); ++i) {
      frame = thread.issue(op::lea(frame));
      thread.issue(op::store(frame, {}));
    }
    Register last = call(thread, address);
    for (unsigned i = 0; i < spilled(live); ++i) {
      frame = thread.issue(op::lea(frame));
      last.ready = std::max(last.ready, thread.issue(op::load(frame)).ready);
    }
    return last;
  }
  /// What entries cost that were looked at before.
  void miss(InstructionStream& thread) const noexcept {
    if (missed_entries_ > 0)
      thread.spend(missed_entries_ * missed_entry_cycles, missed_entries_ * missed_entry_slots);
  }
  /// How many registers a call has to spill.
  [[nodiscard]] static constexpr unsigned spilled(unsigned live) noexcept {
    const unsigned wanted = live + held_registers + lookup_registers;
    return wanted > integer_registers ? wanted - integer_registers : 0;
  }

 private:
  [[nodiscard]] Register call(InstructionStream& thread, Register address) const noexcept {
    Lookup lookup(thread.issue(op::move(address)));
    thread.jump();
    miss(thread);
    while (lookup.step(thread)) {
      if (lookup.just_found()) thread.jump(lookup.found());  // out of the search
    }
    thread.jump();
    return thread.issue(op::move(lookup.node()));
  }

  Translation how_;
  unsigned missed_entries_;
};

}  // namespace amsim::chapter_6
