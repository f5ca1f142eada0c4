// The order in which parts are stepped within a cycle cannot be seen (C-2): the same run in the order of their numbers, and in a new order in
// each cycle.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <vector>

#include "support/random.hpp"

namespace test {

/// run(next), where next() gives the order of a cycle, comes out the same; of no parts: there is no order to be given.
template <class Run>
void expect_the_same_in_any_order(std::size_t parts, int times, Run run) {
  Random random(seed());
  const auto in = [&](std::size_t ordered) {
    std::vector<std::uint32_t> order(ordered);
    std::iota(order.begin(), order.end(), 0u);
    return run([&]() -> std::span<const std::uint32_t> {
      for (std::size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[random.below(left)]);
      return order;
    });
  };
  const auto in_order = in(0);
  for (int i = 0; i < times; ++i) ASSERT_EQ(in(parts), in_order) << i;
}

}  // namespace test
