// A set of nodes, as bits: those that have something to do. Whoever steps nodes goes through such a set, so that all others cost nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated_hw/kit/grid.hpp"

namespace am::kit {

class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(NodeNumber nodes) : words_((nodes + 63) / 64) {}

  void put(NodeNumber node) noexcept { words_[node / 64] |= std::uint64_t{1} << node % 64; }
  void erase(NodeNumber node) noexcept { words_[node / 64] &= ~(std::uint64_t{1} << node % 64); }
  void clear() noexcept { std::ranges::fill(words_, 0); }
  [[nodiscard]] bool empty() const noexcept {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
  }

  /// Calls f(node) for each, in the order of their numbers. f may take out the one that it is called for, and put in others, which are
  /// called now or not.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1)
        f(static_cast<NodeNumber>(word * 64 + static_cast<unsigned>(std::countr_zero(left))));
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// A way to put one node into a set for somebody who knows neither: a wire.
class NodeBell {
 public:
  NodeBell() = default;  ///< leads nowhere
  NodeBell(NodeSet& set, NodeNumber node) noexcept : set_(&set), node_(node) {}
  void ring() const noexcept {
    if (set_ != nullptr) set_->put(node_);
  }

 private:
  NodeSet* set_ = nullptr;
  NodeNumber node_ = 0;
};

}  // namespace am::kit
