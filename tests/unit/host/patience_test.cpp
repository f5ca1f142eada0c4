// How a wait ends and reports, and the words for it.
#include "host/patience.hpp"

#include <gmock/gmock.h>

#include <climits>
#include <thread>

#include "support/patience.hpp"

namespace am::host::patience_test {

using namespace testing;

using test::ms;
using test::Reports;
constexpr std::uint64_t hour_ns = 3'600'000 * ms;

TEST(Wait, EndsWhenItsTimeIsOverAndNotBefore) {
  const Patience little = test::patience(5 * ms);
  const Wait waiting(little);
  while (!waiting.is_over()) std::this_thread::yield();
  EXPECT_GE(waiting.so_far_ns(), 5 * ms);
  EXPECT_THAT(waiting.left_ms(), AllOf(Ge(0), Le(1)));
  EXPECT_THAT(waiting.left_ms(100), AllOf(Ge(0), Le(1)));
  const Patience much = test::patience(hour_ns);
  EXPECT_FALSE(Wait(much).is_over());
}

TEST(Wait, HasNoEndWithoutATimeout) {
  const Patience endless{};
  const Wait waiting(endless);
  EXPECT_FALSE(waiting.is_over());
  EXPECT_EQ(waiting.left_ms(), -1);
  EXPECT_EQ(waiting.left_ms(100), 100);
}

TEST(Wait, ReportsOnce) {
  Reports reports;
  const Patience soon = reports.patience(0);
  Wait waiting(soon);
  while (waiting.so_far_ns() < 1) std::this_thread::yield();
  int asked = 0;
  for (int i = 0; i < 3; ++i) {
    waiting.remind([&] {
      ++asked;
      return std::string("node 7 to join");
    });
  }
  EXPECT_EQ(asked, 1);
  EXPECT_THAT(reports.texts(), ElementsAre(MatchesRegex("waits for node 7 to join since [0-9.]+ s")));
}

TEST(Wait, DoesNotReportTooEarlyOrWhereNobodyListens) {
  Reports reports;
  const auto nobody = [] {
    ADD_FAILURE() << "asked whom it waits for";
    return std::string();
  };
  const Patience late = reports.patience(0, hour_ns);
  Wait(late).remind(nobody);
  const Patience never = reports.patience(0, 0);
  Wait(never).remind(nobody);
  const Patience deaf{.timeout_ns = 0, .report_after_ns = 1, .report = nullptr};
  Wait waiting(deaf);
  while (waiting.so_far_ns() < 1) std::this_thread::yield();
  waiting.remind(nobody);
  EXPECT_EQ(waiting.left_ms(), -1) << "there is no report to wake up for";
  EXPECT_TRUE(reports.texts().empty());
}

TEST(Wait, LeavesTimeUntilTheReportAndThenUntilTheEnd) {
  Reports reports;
  const Patience both = reports.patience(2 * hour_ns, hour_ns);
  EXPECT_THAT(Wait(both).left_ms(), AllOf(Ge(3'000'000), Le(3'600'001))) << "the report";
  EXPECT_EQ(Wait(both).left_ms(50), 50);
  const Patience reported = reports.patience(2 * hour_ns);
  Wait waiting(reported);
  while (reports.texts().empty()) waiting.remind([] { return std::string("somebody"); });
  EXPECT_THAT(waiting.left_ms(), AllOf(Ge(3'600'001), Le(7'200'001))) << "the end";
}

/// Poll takes a negative number for ever, and 0 for not at all: it would spin until the end.
TEST(Wait, LeavesWhatPollUnderstands) {
  for (const std::uint64_t timeout_ns : {hour_ns * 24 * 365, UINT64_MAX - 1, UINT64_MAX / 2}) {
    const Patience much = test::patience(timeout_ns);
    EXPECT_EQ(Wait(much).left_ms(), INT_MAX);
    EXPECT_EQ(Wait(much).left_ms(7), 7);
  }
}

TEST(InSeconds, SaysTenthsBelowASecond) {
  EXPECT_EQ(in_seconds(0), "0.0 s");
  EXPECT_EQ(in_seconds(99 * ms), "0.0 s");
  EXPECT_EQ(in_seconds(200 * ms), "0.2 s");
  EXPECT_EQ(in_seconds(1000 * ms - 1), "0.9 s");
  EXPECT_EQ(in_seconds(1000 * ms), "1 s");
  EXPECT_EQ(in_seconds(12'900 * ms), "12 s");
  EXPECT_EQ(in_seconds(UINT64_MAX), "18446744073 s");
}

TEST(NameNodes, NamesAFewAndCountsTheRest) {
  const auto names = [](const std::vector<NodeId>& nodes) { return name_nodes(nodes); };
  EXPECT_EQ(names({3}), "node 3");
  EXPECT_EQ(names({1, 7}), "nodes 1 and 7");
  EXPECT_EQ(names({1, 2, 7}), "nodes 1, 2 and 7");
  EXPECT_EQ(names({1, 2, 3, 4, 5, 6, 7, 8, 9}), "nodes 1, 2, 3, 4, 5, 6, 7, 8 and 9");
  EXPECT_EQ(names({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), "nodes 1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
}

}  // namespace am::host::patience_test
