// What is to come in the next cycles: delay lines, and who is to be stepped when. What is put into a later cycle cannot be seen in this one,
// so the order within a cycle does not matter; and a cycle for which there is nothing costs a look at an empty list.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/node_set.hpp"

namespace am::kit {

/// Of things that are on their way for less than `horizon` cycles.
template <class T>
class DelayLine {
 public:
  explicit DelayLine(Cycle horizon) : slots_(std::bit_ceil(horizon)), mask_(slots_.size() - 1) {}

  void put(Cycle when, const T& what) { slots_[when & mask_].push_back(what); }
  /// Calls f(what) for each that comes now, in each cycle once. f puts into later cycles only.
  template <class F>
  void take(Cycle now, F f) {
    std::vector<T>& here = slots_[now & mask_];
    for (const T& what : here) f(what);
    here.clear();
  }

 private:
  std::vector<std::vector<T>> slots_;
  std::size_t mask_;
};

/// Who is to be stepped in which of the next `horizon` cycles, once in each.
class Calendar {
 public:
  Calendar(NodeNumber parts, Cycle horizon)
      : slots_(std::bit_ceil(horizon), Slot{NodeSet(parts)}), mask_(slots_.size() - 1) {}

  void put(Cycle when, NodeNumber part) noexcept {
    Slot& slot = slots_[when & mask_];
    slot.parts.put(part);
    slot.any = true;
  }
  /// Calls f(part) for each that is to be stepped now, in the order of numbers. f puts into later cycles only.
  template <class F>
  void take(Cycle now, F f) {
    Slot& here = slots_[now & mask_];
    if (!here.any) return;
    here.parts.for_each(f);
    here.parts.clear();
    here.any = false;
  }
  /// Nobody is to be stepped now: somebody else does it.
  void clear(Cycle now) {
    take(now, [](NodeNumber) {});
  }

 private:
  struct Slot {
    NodeSet parts;
    bool any = false;
  };
  std::vector<Slot> slots_;
  std::size_t mask_;
};

}  // namespace am::kit
