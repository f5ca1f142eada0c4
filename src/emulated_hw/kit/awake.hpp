// Which nodes of a machine are stepped: those that have something to do. The others sleep until their bell is rung, or until the cycle
// that they have named, and cost nothing.
#pragma once

#include <algorithm>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/node_set.hpp"

namespace am::kit {

class Awake {
 public:
  static constexpr Cycle never = ~Cycle{0};

  /// All are awake at first.
  explicit Awake(NodeNumber nodes) : set_(nodes), alarms_(nodes, never) {
    for (NodeNumber node = 0; node < nodes; ++node) set_.put(node);
  }
  Awake(const Awake&) = delete;  // bells refer to it
  Awake& operator=(const Awake&) = delete;

  /// What wakes a node.
  [[nodiscard]] NodeBell bell(NodeNumber node) noexcept { return {set_, node}; }
  /// Nothing changes there before `until`, unless its bell is rung.
  void sleeps(NodeNumber node, Cycle until = never) noexcept {
    set_.erase(node);
    alarms_[node] = until;
    first_alarm_ = std::min(first_alarm_, until);
  }
  /// Calls f(node) for each that is awake in the cycle `now`.
  template <class F>
  void for_each(Cycle now, F f) {
    if (now >= first_alarm_) wake_whose_time_has_come(now);
    set_.for_each(f);
  }
  /// All sleep.
  [[nodiscard]] bool empty() const noexcept { return set_.empty(); }

 private:
  void wake_whose_time_has_come(Cycle now) {
    first_alarm_ = never;
    for (NodeNumber node = 0; node < alarms_.size(); ++node) {
      if (alarms_[node] <= now) {
        set_.put(node);
        alarms_[node] = never;
      } else {
        first_alarm_ = std::min(first_alarm_, alarms_[node]);
      }
    }
  }

  NodeSet set_;
  std::vector<Cycle> alarms_;  // of those that sleep
  Cycle first_alarm_ = never;  // not after any of these
};

}  // namespace am::kit
