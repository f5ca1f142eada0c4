// EventLock with real threads: counters that only hold if it excludes. What order of accesses does it:
// event_lock_model_test.cpp.
#include <am/impl/event_lock.hpp>

#include <thread>

#include "support/job.hpp"

namespace event_lock_test {

using am::impl::EventLock;
using test::rounds;

TEST(EventLock, TellsWhoIsInside) {
  EventLock lock;
  EXPECT_FALSE(lock.thread_is_inside());
  lock.enter();
  EXPECT_TRUE(lock.thread_is_inside());
  EXPECT_FALSE(lock.try_enter_events());
  EXPECT_FALSE(lock.leave());
  ASSERT_TRUE(lock.try_enter_events());
  EXPECT_FALSE(lock.thread_is_inside());
  lock.leave_events();
  EXPECT_TRUE(lock.try_enter_events());
  lock.leave_events();
}

TEST(EventLock, TellsTheThreadThatAttentionIsWanted) {
  EventLock lock;
  EXPECT_FALSE(lock.ask_for_attention()) << "the thread is not inside";
  lock.enter();
  EXPECT_TRUE(lock.leave()) << "nobody took it";
  lock.enter();
  lock.take_attention();
  EXPECT_FALSE(lock.leave());
  for (int visit = 0; visit < 1000; ++visit) {  // biased meanwhile
    lock.enter();
    if (visit % 100 == 0) {
      EXPECT_TRUE(lock.ask_for_attention());
    }
    EXPECT_EQ(lock.leave(), visit % 100 == 0) << visit;
    if (visit % 100 != 0) continue;
    lock.enter();
    lock.take_attention();
    EXPECT_FALSE(lock.leave());
  }
}

/// What whoever is inside changes, in several steps.
struct Guarded {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t broken = 0;
  void change() noexcept {
    if (a != b) ++broken;
    ++a;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // two stores, whatever the compiler thinks
    ++b;
  }
};

// The events come in crowds and then not at all: so the lock becomes biased, and stops being so, many times.
TEST(EventLock, Excludes) {
  EventLock lock;
  Guarded guarded;
  std::atomic<bool> ended{false};
  std::uint64_t entered = 0;
  test::Random random(test::seed());
  std::thread events([&, random = test::Random(random())]() mutable {
    while (!ended.load(std::memory_order_relaxed)) {
      for (std::uint64_t crowd = 1 + random.below(20); crowd != 0; --crowd) {
        if (!lock.try_enter_events()) continue;
        guarded.change();
        ++entered;
        lock.leave_events();
      }
      for (volatile std::uint64_t pause = random.below(20'000); pause != 0;) pause = pause - 1;
    }
  });
  const std::uint64_t visits = rounds(2'000'000);
  for (std::uint64_t visit = 0; visit < visits; ++visit) {
    lock.enter();
    guarded.change();
    EXPECT_FALSE(lock.leave());
    if (random.one_in(100'000)) std::this_thread::yield();
  }
  ended.store(true, std::memory_order_relaxed);
  events.join();
  EXPECT_EQ(guarded.broken, 0u);
  EXPECT_EQ(guarded.a, visits + entered);
  EXPECT_EQ(guarded.b, visits + entered);
}

}  // namespace event_lock_test
