// The order in which parts are stepped within a cycle cannot be seen (C-2): the same run in the order of their numbers, and in a new order in
// each cycle.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace test {

class Orders {
 public:
  /// Of so many parts; of none: there is no order to be given.
  explicit Orders(std::size_t parts) : order_(parts) { std::iota(order_.begin(), order_.end(), 0u); }
  /// Of the next cycle.
  [[nodiscard]] std::span<const std::uint32_t> next(Random& random) {
    for (std::size_t left = order_.size(); left > 1; --left)
      std::swap(order_[left - 1], order_[random.below(left)]);
    return order_;
  }

 private:
  std::vector<std::uint32_t> order_;
};

/// run(next), where next() gives the order of a cycle, comes out the same.
template <class Run>
void expect_the_same_in_any_order(std::size_t parts, int times, Run run) {
  Random random(seed());
  const auto in = [&](std::size_t ordered) {
    Orders orders(ordered);
    return run([&] { return orders.next(random); });
  };
  const auto in_order = in(0);
  for (int i = 0; i < times; ++i) ASSERT_EQ(in(parts), in_order) << i;
}

}  // namespace test
