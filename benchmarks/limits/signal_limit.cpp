#include "limits/signal_limit.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <new>
#include <vector>

#include "compute.hpp"
#include "gap.hpp"
#include "timing.hpp"

namespace ambench {

namespace {

constexpr int interrupting = SIGURG;

struct Shared {
  alignas(128) std::atomic<std::uint64_t> started;  // when the handler began, in ticks
  std::atomic<std::uint64_t> handled;               // how many signals were
  alignas(128) std::atomic<int> target;             // its thread, when it is ready
  std::atomic<int> target_process;
  std::atomic<bool> done;
};

Shared* shared = nullptr;  // of this process, for its handler

void on_signal(int /*signal*/, siginfo_t* /*info*/, void* /*context*/) {
  const std::uint64_t now = ticks();
  shared->started.store(now, std::memory_order_relaxed);  // published by the next line
  shared->handled.store(shared->handled.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

Shared& in(std::byte* memory) { return *std::launder(reinterpret_cast<Shared*>(memory)); }

void be_interrupted(std::byte* memory) {
  shared = &in(memory);
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  sigaction(interrupting, &action, nullptr);
  shared->target_process.store(getpid(), std::memory_order_relaxed);  // published by the next line
  shared->target.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_release);
  while (!shared->done.load(std::memory_order_relaxed)) compute(64);
}

double interrupt(std::byte* memory) {
  Shared& pair = in(memory);
  int target = 0;
  while ((target = pair.target.load(std::memory_order_acquire)) == 0) spin_pause();
  const int process = pair.target_process.load(std::memory_order_relaxed);
  std::vector<double> samples;
  Gap gap(2e3, 6e3);
  for (const double end = now_ns() + min_time_ns; now_ns() < end || samples.empty();) {
    gap.pause(spin_pause);
    const std::uint64_t expected = samples.size() + 1;
    const std::uint64_t sent = ticks();
    syscall(SYS_tgkill, process, target, interrupting);
    while (pair.handled.load(std::memory_order_acquire) != expected) {
    }
    samples.push_back(static_cast<double>(pair.started.load(std::memory_order_relaxed) - sent));
  }
  pair.done.store(true, std::memory_order_relaxed);
  return median_of(std::move(samples)) * ns_per_tick();
}

}  // namespace

double signal_ns(CorePair cores) { return run_pair(cores, sizeof(Shared), interrupt, be_interrupted); }

}  // namespace ambench
