// The control network of the CM-5 live: a tree in memory that the nodes of a job share (von Eicken 1993, 3.2.3). Words are combined on their
// way up, and who comes to the top gives each node its result.
//
// A line for each child of a switch. It has places for many operations, each at its number modulo so many.
//   arrived, what, value, flags   by who comes from below: a node in its own line, or whoever found a switch complete in the one above it
//   over, agreed, result, found   at a node's line, by who spreads: whoever found the last switch complete; of a broadcast its root
// `arrived` and `over` are the operation's number, stored last: who reads them sees the rest, and all that those below did before.
//
// Nobody is forgotten. Who has written a line looks at its siblings. These accesses are sequentially consistent, so of two who do this at once
// the later one sees both, and goes on up. Both may: they write the same words. So a node that waits may go up its own way again, and does the
// work of one that was killed.
//   In the same way `over` is stored before `arrived` is looked at, and a node stores `arrived` before it looks at `over`: it finds its result,
// or is told.
//
// A place is used again when nobody needs it. Nodes may be ahead of others by broadcasts and reductions to a root; but of any `places` - 1 operations
// that follow each other, one at least is waited for by all until all have come. Whoever begins one after it knows that the others are through with
// those before.
//
// Nodes that do not agree are told so: `agreed` is 0 then.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

#include "emulated_hw/cm5/control_operation.hpp"
#include "emulated_hw/cm5/tree.hpp"
#include "emulated_hw/kit/live_carrier.hpp"

namespace am::cm5 {

class LiveControl {
 public:
  static constexpr unsigned places = 32;

  /// Whom it tells of results.
  class Nodes {
   public:
    /// A node that has taken part has its result now. By any thread, of any process.
    virtual void has_result(NodeNumber node) noexcept = 0;

   protected:
    ~Nodes() = default;
  };
  /// What a node gives, or what several give together.
  struct Part {
    kit::Word what = 0;  ///< ControlOperation::bits(); 0: several, that differ
    kit::Word value = 0;
    bool any = true;   ///< there is a value
    bool cut = false;  ///< in a scan: nothing of what is before goes on behind it
  };

  /// Of shared memory, for so many nodes.
  [[nodiscard]] static std::size_t bytes(NodeNumber nodes) noexcept {
    std::size_t lines = nodes;
    for (NodeNumber children = nodes; children > Tree::children; lines += children)
      children = switches_above(children);
    return places * lines * sizeof(Line);
  }
  /// `memory`: zeros, aligned to 64 bytes; as `nodes_to_tell`, it outlives this.
  LiveControl(NodeNumber nodes, std::byte* memory, Nodes& nodes_to_tell) noexcept
      : lines_(reinterpret_cast<Line*>(memory)), nodes_to_tell_(nodes_to_tell) {
    // The line above the last switch is nobody's.
    for (NodeNumber children = nodes; levels_ == 0 || children > 1; children = switches_above(children)) {
      children_[levels_] = children;
      first_[levels_++] = lines_of_all_;
      lines_of_all_ += children;
    }
  }

  /// By the node itself, in the order of numbers, from 1 on. `pause` is called before each access (tests).
  template <class Pause = kit::NoPause>
  void take_part(NodeNumber node, kit::Word number, const Part& part,
                 Pause pause = {}) noexcept(noexcept(pause())) {
    publish(line(number, 0, node), number, part, pause);
    const ControlOperation operation = ControlOperation::of(part.what);
    if (operation.kind == ControlOperation::Kind::broadcast && operation.root == node)
      spread(number, part, pause);
    carry(node, number, pause);
  }
  /// Goes on up from a node that has taken part, as far as there is somebody to go on for.
  template <class Pause = kit::NoPause>
  void carry(NodeNumber node, kit::Word number, Pause pause = {}) noexcept(noexcept(pause())) {
    NodeNumber child = node;
    for (unsigned level = 0;; ++level) {
      Part all;
      if (!gather(number, level, child / Tree::children, all, pause)) return;
      if (level + 1 == levels_) {
        // A broadcast's root has told all already, unless they do not agree.
        if (ControlOperation::of(all.what).kind != ControlOperation::Kind::broadcast)
          spread(number, all, pause);
        return;
      }
      child /= Tree::children;
      publish(line(number, level + 1, child), number, all, pause);
    }
  }
  /// Of an operation that it has taken part in and that is over: of a scan what the nodes before it gave.
  [[nodiscard]] std::optional<Part> result(NodeNumber node, kit::Word number) const noexcept {
    const Line& its = line(number, 0, node);
    if (its.over.load(std::memory_order_seq_cst) != number)
      return std::nullopt;  // acquires what conclude() released
    return Part{its.agreed.load(std::memory_order_acquire), its.result.load(std::memory_order_relaxed),
                (its.found.load(std::memory_order_relaxed) & any_flag) != 0};
  }
  /// What a node has given in an operation, if it has taken part.
  [[nodiscard]] std::optional<kit::Word> what_of(NodeNumber node, kit::Word number) const noexcept {
    const Line& its = line(number, 0, node);
    if (its.arrived.load(std::memory_order_seq_cst) != number)
      return std::nullopt;  // acquires what publish() released
    return its.what.load(std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Line {
    std::atomic<kit::Word> arrived, what, value, flags;
    std::atomic<kit::Word> over, agreed, result, found;
  };
  static constexpr unsigned most_levels = 5;
  static constexpr kit::Word any_flag = 1;
  static constexpr kit::Word cut_flag = 2;

  static constexpr NodeNumber switches_above(NodeNumber children) noexcept {
    return (children + Tree::children - 1) / Tree::children;
  }
  [[nodiscard]] NodeNumber nodes() const noexcept { return children_[0]; }
  [[nodiscard]] Line& line(kit::Word number, unsigned level, NodeNumber child) const noexcept {
    return lines_[number % places * lines_of_all_ + first_[level] + child];
  }
  /// In the direction of a scan.
  [[nodiscard]] static Part joined(const Part& before, const Part& behind) noexcept {
    if (before.what != behind.what) return {.what = 0};
    if (behind.cut || !before.any) return {behind.what, behind.value, behind.any, before.cut || behind.cut};
    if (!behind.any) return before;
    const Combiner combiner = ControlOperation::of(before.what).combiner;
    return {before.what, combined(combiner, before.value, behind.value), true, before.cut};
  }

  template <class Pause>
  static void store(std::atomic<kit::Word>& word, kit::Word value, std::memory_order order, Pause& pause) {
    pause();
    word.store(value, order);
  }
  /// What is relaxed is released by the number.
  template <class Pause>
  static void publish(Line& line, kit::Word number, const Part& part, Pause& pause) {
    using enum std::memory_order;
    store(line.what, part.what, relaxed, pause);
    store(line.value, part.value, relaxed, pause);
    store(line.flags, (part.any ? any_flag : 0) | (part.cut ? cut_flag : 0), relaxed, pause);
    store(line.arrived, number, seq_cst, pause);
  }
  [[nodiscard]] static Part part_in(const Line& line) noexcept {
    const kit::Word flags = line.flags.load(std::memory_order_relaxed);
    return {line.what.load(std::memory_order_relaxed), line.value.load(std::memory_order_relaxed),
            (flags & any_flag) != 0, (flags & cut_flag) != 0};
  }
  /// Of all children of a switch, if all have come.
  template <class Pause>
  [[nodiscard]] bool gather(kit::Word number, unsigned level, NodeNumber place, Part& all,
                            Pause& pause) const {
    const NodeNumber first = place * Tree::children;
    for (NodeNumber child = first; child < end_of(level, place); ++child) {
      pause();
      const Line& its = line(number, level, child);
      if (its.arrived.load(std::memory_order_seq_cst) != number)
        return false;  // acquires what publish() released
      const Part part = part_in(its);
      const bool descends = ControlOperation::of(part.what).descends;
      all = child == first ? part : descends ? joined(part, all) : joined(all, part);
    }
    return true;
  }
  [[nodiscard]] NodeNumber end_of(unsigned level, NodeNumber place) const noexcept {
    return std::min(children_[level], (place + 1) * Tree::children);
  }

  /// To all nodes: what comes of all; of a scan, what is before each. And tells those who have come, and wait.
  template <class Pause>
  void spread(kit::Word number, const Part& all, Pause& pause) {
    const ControlOperation operation = ControlOperation::of(all.what);
    const bool scans = operation.kind == ControlOperation::Kind::scan;
    Part before{.what = all.what, .any = false};
    for (NodeNumber i = 0; i < nodes(); ++i) {
      Line& its = line(number, 0, operation.descends ? nodes() - 1 - i : i);
      conclude(its, number, scans ? before : all, pause);
      if (scans) before = joined(before, part_in(its));
    }
    for (NodeNumber node = 0; node < nodes(); ++node) {
      if (!operation.is_awaited_by(node)) continue;
      pause();
      if (line(number, 0, node).arrived.load(std::memory_order_seq_cst) == number)
        nodes_to_tell_.has_result(node);
    }
  }
  /// Those who do not agree are told of that alone: who is told of a broadcast at the same time reads its value. Who has been told of one keeps
  /// that. `agreed` has the result with it, where another one has stored `over`.
  template <class Pause>
  static void conclude(Line& line, kit::Word number, const Part& part, Pause& pause) {
    using enum std::memory_order;
    if (part.what == 0) {
      pause();
      if (line.over.load(seq_cst) == number) return;
    } else {
      store(line.result, part.value, relaxed, pause);  // released by the number, as the next one
      store(line.found, part.any ? any_flag : 0, relaxed, pause);
    }
    store(line.agreed, part.what, release, pause);
    store(line.over, number, seq_cst, pause);
  }

  std::array<NodeNumber, most_levels> children_{};  // of the switches of a level, from the nodes on
  std::array<NodeNumber, most_levels> first_{};     // where their lines begin
  unsigned levels_ = 0;
  NodeNumber lines_of_all_ = 0;  // for one operation
  Line* lines_;
  Nodes& nodes_to_tell_;
};

}  // namespace am::cm5
