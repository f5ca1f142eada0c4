#include "limits/beside_limit.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "compute.hpp"
#include "gap.hpp"

namespace ambench {

namespace {

constexpr double time_ns = 40e6;

struct Shared {
  alignas(128) std::atomic<std::uint32_t> wakes;  // so many so far
  std::atomic<bool> done;
  alignas(128) std::atomic<std::uint64_t> woken;  // when, in ticks
  std::atomic<std::uint32_t> times;               // that it was; one at the start
};

Shared& in(std::byte* memory) { return *std::launder(reinterpret_cast<Shared*>(memory)); }

// sched_setattr(2), as libam does it for a handler thread.
void ask_for_short_turns() {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime_ns, deadline_ns, period_ns;
  } attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.runtime_ns = 100'000;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void be_woken(Shared& pair) {
  ask_for_short_turns();
  for (std::uint32_t before = 0;; ++before) {
    pair.woken.store(ticks(), std::memory_order_relaxed);  // published by the next line
    pair.times.store(before + 1, std::memory_order_release);
    while (pair.wakes.load(std::memory_order_acquire) == before)
      syscall(SYS_futex, &pair.wakes, FUTEX_WAIT, before, nullptr, nullptr, 0);
    if (pair.done.load(std::memory_order_relaxed)) return;
  }
}

void compute_beside(std::byte* memory) {
  Shared& pair = in(memory);
  std::thread sleeper([&pair] { be_woken(pair); });
  while (!pair.done.load(std::memory_order_relaxed)) compute(64);
  sleeper.join();
}

void wake(Shared& pair) {
  pair.wakes.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &pair.wakes, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

std::vector<double> wake_for_a_while(Shared& pair, Gap gap, std::size_t wakes) {
  while (pair.times.load(std::memory_order_acquire) == 0) spin_pause();
  std::vector<double> samples;
  for (const double end = now_ns() + time_ns; now_ns() < end || samples.size() < wakes;) {
    gap.pause(spin_pause);
    const std::uint32_t before = pair.times.load(std::memory_order_relaxed);
    const std::uint64_t sent = ticks();
    wake(pair);
    while (pair.times.load(std::memory_order_acquire) == before) {
    }
    samples.push_back(static_cast<double>(pair.woken.load(std::memory_order_relaxed) - sent) * ns_per_tick());
  }
  pair.done.store(true, std::memory_order_relaxed);  // published by the last wake
  wake(pair);
  return samples;
}

}  // namespace

Spread woken_beside_ns(CorePair cores, double least_gap_us, double most_gap_us, std::size_t wakes) {
  std::array<double, 3> figures{};
  run_pair(
      cores, sizeof(Shared), figures,
      [&](std::byte* memory, double* place) {
        const Gap gap(least_gap_us * 1e3, most_gap_us * 1e3);
        const Spread seen = spread_of(wake_for_a_while(in(memory), gap, wakes));
        place[0] = seen.median;
        place[1] = seen.p99;
        place[2] = seen.longest;
      },
      compute_beside);
  return {figures[0], figures[1], figures[2]};
}

}  // namespace ambench
