#include "limits/futex_limit.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "gap.hpp"
#include "timing.hpp"

namespace ambench {

namespace {

constexpr double spin_ns = 60e3;  // docs/contract.md, clause 10: spins for some 40 us, yields, then sleeps

struct Shared {
  alignas(128) std::atomic<std::uint32_t> word;
  alignas(128) std::atomic<std::uint64_t> woken;  // when, in ticks
  std::atomic<std::uint32_t> times;
};

Shared& in(std::byte* memory) { return *std::launder(reinterpret_cast<Shared*>(memory)); }

void be_woken(std::byte* memory, int times, bool timed) {
  constexpr timespec limit{0, 4'000'000};  // a node's first sleep
  Shared& pair = in(memory);
  Gap spinning(spin_ns, spin_ns);
  for (std::uint32_t before = 0; before != static_cast<std::uint32_t>(times); ++before) {
    spinning.pause(spin_pause);
    while (pair.word.load(std::memory_order_acquire) == before)
      syscall(SYS_futex, &pair.word, FUTEX_WAIT, before, timed ? &limit : nullptr, nullptr, 0);
    pair.woken.store(ticks(), std::memory_order_relaxed);  // published by the next line
    pair.times.store(before + 1, std::memory_order_release);
  }
}

double wake(std::byte* memory, double gap_ns, int times) {
  Shared& pair = in(memory);
  std::vector<double> samples;
  Gap gap(gap_ns, gap_ns);
  for (std::uint32_t next = 1; next <= static_cast<std::uint32_t>(times); ++next) {
    gap.pause(spin_pause);
    const std::uint64_t sent = ticks();
    pair.word.store(next, std::memory_order_release);
    syscall(SYS_futex, &pair.word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    while (pair.times.load(std::memory_order_acquire) != next) {
    }
    samples.push_back(static_cast<double>(pair.woken.load(std::memory_order_relaxed) - sent));
  }
  return median_of(std::move(samples)) * ns_per_tick();
}

}  // namespace

double futex_wake_ns(CorePair cores, double gap_ns, int times, bool timed) {
  return run_pair(
      cores, sizeof(Shared), [=](std::byte* memory) { return wake(memory, gap_ns, times); },
      [=](std::byte* memory) { be_woken(memory, times, timed); });
}

}  // namespace ambench
