// The fence that locks rely on, where Linux forgets a processor (host/heavy_fence.hpp): store and load against store, fence
// and load, on a processor on which a thread of this process has just ended. With the kernel's global command in place of the
// private one up to half of the rounds fail there.
#include "host/heavy_fence.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace am::host::heavy_fence_test {

std::vector<int> allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) processors.push_back(cpu);
  return processors;
}

void move_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  sched_setaffinity(0, sizeof one, &one);
}

struct alignas(64) Word {
  std::atomic<std::uint32_t> value{0};
};

void put_out_of_caches([[maybe_unused]] Word& line) {
#if defined(__x86_64__)
  __builtin_ia32_clflush(&line);
#endif
}

/// What two threads do to each other, round by round. Neither may miss the other.
class StoreAndLoad {
 public:
  /// On this thread and one on `cpu`. In how many rounds both missed the other.
  std::uint32_t missed(std::uint32_t rounds, int cpu) {
    std::atomic<bool> there{false};
    std::thread light([&] {
      move_to(cpu);
      there.store(true);
      for (std::uint32_t round = 1; round <= rounds; ++round) light_side(round);
    });
    while (!there.load()) std::this_thread::yield();
    std::uint32_t missed = 0;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (heavy_side_misses(round)) ++missed;
    }
    light.join();
    return missed;
  }

 private:
  /// Its store has to wait: others before it write lines that are in no cache.
  void light_side(std::uint32_t round) {
    while (turn_.value.load(std::memory_order_acquire) != round) {
    }
    for (Word& line : lines_) put_out_of_caches(line);
    for (Word& line : lines_) line.value.store(round, std::memory_order_relaxed);
    light_.value.store(round, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    light_missed_ = heavy_.value.load(std::memory_order_relaxed) != round;
    done_.value.store(round, std::memory_order_release);
  }
  bool heavy_side_misses(std::uint32_t round) {
    turn_.value.store(round, std::memory_order_release);
    for (volatile std::uint32_t pause = round * 37 % 400; pause != 0;) pause = pause - 1;
    heavy_.value.store(round, std::memory_order_relaxed);
    process_fence();
    const bool heavy_missed = light_.value.load(std::memory_order_relaxed) != round;
    while (done_.value.load(std::memory_order_acquire) != round) {
    }
    return heavy_missed && light_missed_;
  }
  Word light_, heavy_, turn_, done_;
  std::array<Word, 24> lines_;
  bool light_missed_ = false;  // released by done_
};

TEST(ProcessFence, ReachesAProcessorOnWhichAThreadHasEnded) {
  const std::vector<int> processors = allowed_processors();
  if (processors.size() < 2) GTEST_SKIP() << "two threads at a time take two processors";
  if (!heavy_fence_works()) GTEST_SKIP() << "no membarrier: nobody relies on it";
  std::uint32_t missed = 0;
  std::thread([&] {  // not this one: it would stay where it is put
    move_to(processors[0]);
    for (int time = 0; time < 20; ++time) {
      std::thread([&] { move_to(processors[1]); }).join();
      missed += StoreAndLoad().missed(500, processors[1]);
    }
  })
      .join();
  EXPECT_EQ(missed, 0u);
}

}  // namespace am::host::heavy_fence_test
