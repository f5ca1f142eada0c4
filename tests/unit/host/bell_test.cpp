// The bell of a node: who sets it, who rings it, and that no ring is lost. Every interleaving is explored in
// core/together/barrier_model_test.cpp and transports/shm/doorbell_model_test.cpp.
#include "host/bell.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "host/clock.hpp"
#include "host/heavy_fence.hpp"
#include "host/memory.hpp"

namespace am::host::bell_test {

constexpr std::uint64_t for_ever = UINT64_MAX / 2;  // one who sleeps on this hangs the test

class BellTest : public testing::Test {
 protected:
  std::shared_ptr<Memory> memory_ = Memory::create(2);
  const Board& board_ = memory_->board();
  Bell bell_{board_, 1};
};

TEST_F(BellTest, RingsOnceForAsManyAsRing) {
  EXPECT_FALSE(bell_.is_set());
  wake(board_, 1);
  bell_.set(Alarm::sleeper);
  EXPECT_TRUE(bell_.is_set()) << "who rang before it was set is not remembered";
  wake(board_, 0);
  EXPECT_TRUE(bell_.is_set()) << "another node's";
  wake(board_, 1);
  EXPECT_FALSE(bell_.is_set());
  bell_.sleep(for_ever);  // it has rung
  bell_.set(Alarm::sleeper);
  bell_.clear();
  EXPECT_FALSE(bell_.is_set());
}

TEST_F(BellTest, SleepsUntilItsTime) {
  constexpr std::uint64_t nap_ns = 5'000'000;
  bell_.set(Alarm::sleeper);
  const std::uint64_t until = monotonic_ns() + nap_ns;
  bell_.sleep(until);
  EXPECT_TRUE(monotonic_ns() >= until || !heavy_fence_works());
  bell_.sleep(0);
}

TEST_F(BellTest, ANudgeIsNewsOnceHoweverManyThereWere) {
  EXPECT_FALSE(bell_.nudged());
  nudge(board_, 1);
  nudge(board_, 1);
  nudge(board_, 0);
  EXPECT_TRUE(bell_.nudged());
  EXPECT_FALSE(bell_.nudged());
}

TEST_F(BellTest, AHandlerThreadsBellIsRungForItsNode) {
  const std::uint32_t before = board_.card(1).thread_bell.load();
  bell_.set(Alarm::thread);
  wake(board_, 1);
  wake(board_, 1);
  EXPECT_EQ(board_.card(1).thread_bell.load(), before + 1);
}

/// News that is written before the nudge is seen by who was nudged, and no nudge is slept over.
TEST_F(BellTest, LosesNoNudge) {
  constexpr std::uint32_t rounds = 20'000;
  std::atomic<std::uint32_t> news{0}, seen{0};
  std::thread other([&] {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      news.store(round, std::memory_order_relaxed);
      nudge(board_, 1);
      while (seen.load(std::memory_order_relaxed) != round) std::this_thread::yield();
    }
  });
  while (seen.load(std::memory_order_relaxed) != rounds) {
    bell_.set(Alarm::sleeper);
    heavy_fence();
    if (!bell_.nudged()) bell_.sleep(for_ever);  // hangs if it sleeps over one
    bell_.clear();
    seen.store(news.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  other.join();
}

}  // namespace am::host::bell_test
