// A queue with a fixed number of places, against a deque.
#include "emulated_hw/kit/fifo.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "support/random.hpp"

namespace fifo_test {

TEST(Fifo, AgainstADeque) {
  test::Random random(test::seed());
  am::kit::Fifo<std::uint64_t, 6> fifo;
  std::deque<std::uint64_t> expected;
  for (int step = 0; step < 100'000; ++step) {
    if (random.one_in(2) && fifo.size() != 6) {
      const std::uint64_t item = random();
      fifo.push(item);
      expected.push_back(item);
    } else if (!fifo.empty()) {
      ASSERT_EQ(fifo.front(), expected.front());
      ASSERT_EQ(fifo.pop(), expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(fifo.size(), expected.size());
    ASSERT_EQ(fifo.empty(), expected.empty());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(fifo[i], expected[i]);
  }
}

}  // namespace fifo_test
