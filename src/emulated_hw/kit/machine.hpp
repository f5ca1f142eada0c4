// How a machine under the clock runs: cycle after cycle, until something holds, or until it cannot go on.
//
// It cannot go on when nothing has moved in its network for `patience` cycles, and one of these is so:
//   - All nodes sleep: nothing will ever happen again.
//   - Messages are under way, and no node is in a step of more than `patience` cycles: a deadlock, or nodes that take nothing.
//   - No message has been under way for 100 times `patience`. Programs have gone on by small steps, as one does that looks for an answer
//     in a loop.
// So nodes that compute do not count as standing still, where they say so by a step of more than `patience` cycles, or are given more of it.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/grid.hpp"

namespace am::kit {

class Machine {
 public:
  Machine(const Machine&) = delete;  // its parts refer to it
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] virtual Cycle now() const noexcept = 0;
  /// One cycle. What has nothing to do is left out. `order`: if given, all nodes, in the order in which they are stepped.
  virtual void step(std::span<const NodeNumber> order = {}) = 0;
  /// Who waits for whom (kit/waits.hpp): the circle, a line for each message that waits, and for each node that a message waits for, or
  /// that still has a program.
  [[nodiscard]] virtual std::string who_waits() const = 0;

  /// Until pred() holds: true. Or until the machine cannot go on: false, and who_waits() tells.
  template <class Pred>
  bool run_until(Pred pred, Cycle patience = 10'000) {
    busy_at_ = now();
    for (; !pred(); step()) {
      if (now() - busy_at_ > patience && cannot_go_on(patience)) return false;
    }
    return true;
  }
  /// The same, and where run_until() would say false throws std::runtime_error: what has not moved for how long, and who waits for whom.
  template <class Pred>
  void run_or_throw(Pred pred, Cycle patience = 10'000) {
    if (!run_until(pred, patience)) throw_who_waits();
  }

 protected:
  /// `name` begins what it throws. It is a literal.
  explicit Machine(const char* name) noexcept : name_(name) {}
  ~Machine() = default;

 private:
  // What it asks of its network and nodes, when it may be that it cannot go on.

  /// Cycles since anything has last moved in the network.
  [[nodiscard]] virtual Cycle still_for() const = 0;
  [[nodiscard]] virtual bool messages_are_under_way() const = 0;
  /// No node has anything to do, now or later, unless a message comes.
  [[nodiscard]] virtual bool all_sleep() const = 0;
  /// A node is in something that takes longer than so many cycles, and is sure to come to its end.
  [[nodiscard]] virtual bool is_busy_for(Cycle cycles) const = 0;

  [[nodiscard]] bool cannot_go_on(Cycle patience) {
    constexpr Cycle while_programs_run = 100;  // times as long
    const Cycle quiet = std::min(now() - busy_at_, still_for());
    if (quiet <= patience) return false;
    if (all_sleep()) return true;
    if (!messages_are_under_way() && quiet <= while_programs_run * patience) return false;
    if (!is_busy_for(patience)) return true;
    busy_at_ = now();
    return false;
  }
  [[noreturn]] void throw_who_waits() const {
    throw std::runtime_error(
        std::string(name_) +
        (messages_are_under_way() ? ": nothing has moved for " : ": no message has been under way for ") +
        std::to_string(still_for()) + " cycles:\n" + who_waits());
  }

  const char* name_;
  Cycle busy_at_ = 0;  // when the run began, or a node was last known to compute
};

}  // namespace am::kit
