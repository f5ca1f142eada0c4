// CA-22b: "the cut-through approach outperforms both circuit switching and message switching (store-and-forward) when the communication paths are
// short, network utilization is relatively high, and messages are fairly small" (Byrd, Nakano and Delagi 1987, 1). What of it holds on CARE.
#include "amsim/care/switching.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "emulated_hw/care/zero_load_latency.hpp"

namespace amsim_care_switching_test {

using am::care::Switching;
using amsim::care::latency;
using amsim::care::Messages;

const am::kit::Grid grid{{8}, {8}};
// The draw of the table in docs/emulation.md. These are statistics: near saturation another draw may say the opposite.
constexpr std::uint64_t seed = 1;
constexpr unsigned for_ever = std::numeric_limits<unsigned>::max();
constexpr double saturated = std::numeric_limits<double>::infinity();

double by(const Messages& messages, const am::care::Options& options) {
  return latency(grid, messages, options).value_or(saturated);
}
// CARE's own: a front that has sought 16 times is stored.
double cut(const Messages& messages) { return by(messages, {}); }
double stored(const Messages& messages) { return by(messages, {.switching = Switching::stored}); }
double circuits(const Messages& messages) {
  return by(messages, {.seek_threshold = for_ever, .switching = Switching::circuits});
}

TEST(CareSwitching, CutThroughWinsWithSmallMessagesAndTheMoreTheHigherTheLoad) {
  for (const unsigned hops : {2u, 8u}) {
    const Messages low{hops, 16, 0.02, seed}, high{hops, 16, 0.1, seed};
    EXPECT_GT(circuits(low) / cut(low), 1.15);
    EXPECT_GT(circuits(high) / cut(high), 1.3);
    EXPECT_GT(stored(low) / cut(low), 1.8);
    EXPECT_GT(stored(high) / cut(high), 2.0);
    const Messages small{hops, 2, 0.1, seed};
    EXPECT_LT(cut(small), 20);
    EXPECT_GT(circuits(small) / cut(small), 2.5) << "circuits are held for longer than their words take";
  }
}

TEST(CareSwitching, LongPathsAreNoReasonAgainstIt) {
  const Messages near{2, 16, 0.02, seed}, far{8, 16, 0.02, seed};
  EXPECT_GT(circuits(far) / cut(far), 1.2 * circuits(near) / cut(near));
  EXPECT_GT(stored(far) / cut(far), 2 * stored(near) / cut(near));
}

TEST(CareSwitching, OverOneLinkItIsStoreAndForward) {
  for (const std::uint32_t words : {2u, 256u}) {
    const Messages near{1, words, 0.05, seed};
    EXPECT_EQ(cut(near), stored(near));
    EXPECT_LT(cut(near), circuits(near));
  }
}

TEST(CareSwitching, CircuitsWinWithLongMessagesBecauseCareStoresThoseThatWait) {
  const Messages low{4, 256, 0.01, seed}, high{4, 256, 0.15, seed};
  EXPECT_LT(circuits(low), 1.1 * cut(low));
  EXPECT_LT(circuits(high), cut(high));
  EXPECT_LT(by(high, {.seek_threshold = for_ever}), circuits(high))
      << "cut-through that waits, too, is faster";
}

TEST(CareSwitching, TakesTheSumOfThePartsWhereMessagesMeetNoOther) {
  const auto alone = latency(grid, {3, 10, 0.0001, seed}, {});
  ASSERT_TRUE(alone);
  EXPECT_NEAR(*alone, static_cast<double>(am::care::zero_load_latency(3, 10)), 0.1);
  EXPECT_THROW((void)latency(grid, {9, 1, 0.1}, {}), std::invalid_argument);
}

}  // namespace amsim_care_switching_test
