// The queue of timelets by itself: the order of their times, and taking them out again.
#include "core/events/timelets.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/random.hpp"

namespace am::core::timelets_test {

using Id = std::uint64_t;

void nothing(LowEvent&) {}

TEST(Timelets, ComeByTheirTimesThenByTheOrderOfAskingAndNotWhenCancelled) {
  test::Random random(test::seed());
  Timelets timelets;
  std::map<Id, std::uint64_t> waiting;
  for (int i = 0; i < 20'000; ++i) {
    switch (random.below(3)) {
      case 0: {
        const std::uint64_t when = random.below(i < 10'000 ? 1000 : 10);
        waiting[timelets.add(when, &nothing)] = when;
        break;
      }
      case 1: {  // any number: mostly one that waits no more, or never did
        const Id id = random.below(waiting.empty() ? 10 : waiting.rbegin()->first + 2);
        ASSERT_EQ(static_cast<bool>(timelets.cancel(id)), waiting.erase(id) != 0);
        break;
      }
      default: {
        const auto earlier = [](const auto& a, const auto& b) { return a.second < b.second; };
        const auto first = std::ranges::min_element(waiting, earlier);
        ASSERT_EQ(timelets.empty(), first == waiting.end());
        if (first == waiting.end()) break;
        ASSERT_EQ(timelets.next(), first->second);
        ASSERT_TRUE(timelets.take());
        ASSERT_FALSE(timelets.cancel(first->first)) << "this very one was taken";
        waiting.erase(first);
      }
    }
  }
}

TEST(Timelets, ClearForgetsAll) {
  Timelets timelets;
  const Id id = timelets.add(1, &nothing);
  timelets.clear();
  EXPECT_TRUE(timelets.empty());
  EXPECT_FALSE(timelets.cancel(id));
}

// A queue that looks through all that wait needs hours for this.
TEST(Timelets, CancellingOneOfVeryManyIsNoDearerThanAsking) {
  constexpr std::size_t many = 200'000;
  Timelets timelets;
  std::vector<Id> ids;
  for (std::size_t i = 0; i < many; ++i) ids.push_back(timelets.add(many - i, &nothing));
  for (const Id id : ids) ASSERT_TRUE(timelets.cancel(id));
  EXPECT_TRUE(timelets.empty());
}

}  // namespace am::core::timelets_test
