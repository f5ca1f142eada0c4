#include "results/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <stdexcept>

namespace results::results_statistics_test {

// 1 to `count`, in some order.
std::vector<double> shuffled(int count) {
  std::vector<double> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), 1);
  std::shuffle(samples.begin(), samples.end(), std::mt19937(7));
  return samples;
}

TEST(Percentile, IsTheLeastThatSoManyAreNoGreaterThan) {
  struct Row {
    int count;
    int part;
    double expected;
  };
  for (const auto& [count, part, expected] : {
           Row{100, 99, 99},
           Row{100, 50, 50},
           Row{100, 1, 1},
           Row{1000, 99, 990},
           Row{200, 99, 198},
           Row{101, 99, 100},  // rounded up, of 99.99
           Row{3, 50, 2},
           Row{3, 1, 1},
           Row{99, 100, 99},
       })
    EXPECT_EQ(percentile(shuffled(count), part), expected) << part << " of " << count;
  for (int count = 1; count < 100; ++count)
    EXPECT_EQ(percentile(shuffled(count), 99), count) << "the greatest of fewer than a hundred";
}

TEST(Percentile, OfNothingIsAnError) {
  EXPECT_THROW(percentile({}, 99), std::logic_error);
  EXPECT_THROW(percentile({1}, 0), std::logic_error);
  EXPECT_THROW(percentile({1}, 101), std::logic_error);
}

TEST(Spread, IsTheMiddleAndTheHighEnd) {
  const Spread spread = spread_of(shuffled(200));
  EXPECT_EQ(spread.median, 100);
  EXPECT_EQ(spread.p99, 198);
  EXPECT_EQ(spread.longest, 200);
  const Figures expected{{"send_ns", 100}, {"send_p99_ns", 198}, {"send_longest_ns", 200}};
  EXPECT_EQ(figures_of("send", spread), expected);
}

TEST(Summary, IsLeastMedianAndGreatest) {
  const Summary odd = summarize({3, 1, 2});
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.max, 3);
  EXPECT_EQ(summarize({4, 1, 2, 3}).median, 2.5);
  EXPECT_THROW(summarize({}), std::logic_error);
}

TEST(Ratios, AreFormedRepetitionByRepetition) {
  EXPECT_EQ(ratios({2, 9}, {1, 3}), (std::vector<double>{2, 3}));
  EXPECT_THROW(ratios({1, 2}, {1}), std::logic_error);
}

TEST(Statistics, CountsAreWrittenWithoutDecimals) {
  EXPECT_EQ(counted(0), "0");
  EXPECT_EQ(counted(240'640), "240640");
  EXPECT_EQ(counted(-3), "-3");
  EXPECT_EQ(counted(0.4), rounded(0.4));
  EXPECT_EQ(counted(5.25), rounded(5.25));
}

}  // namespace results::results_statistics_test
