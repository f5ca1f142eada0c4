#include "limits/futex_limit.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "clock.hpp"
#include "gap.hpp"

namespace ambench {

namespace {

constexpr double spin_ns = 60e3;  // docs/rationale.md, 10: spins for some 40 us, yields, then sleeps

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("the limit of this machine could not be measured: " + what + ": " +
                           std::strerror(errno));
}

}  // namespace

struct FutexPair::Shared {
  alignas(128) std::atomic<std::uint32_t> wakes;
  alignas(128) std::atomic<std::uint64_t> woken;  // when, in ticks
  std::atomic<std::uint32_t> times;
};

FutexPair::FutexPair() : file_(memfd_create("ambench futex", MFD_CLOEXEC)) {
  if (file_ < 0 || ftruncate(file_, sizeof(Shared)) != 0) fail("no shared memory");
  map();
}

FutexPair::FutexPair(int process, int the_other)
    : file_(open(("/proc/" + std::to_string(process) + "/fd/" + std::to_string(the_other)).c_str(),
                 O_RDWR | O_CLOEXEC)) {
  if (file_ < 0) fail("the other node's memory cannot be opened");
  map();
}

FutexPair::~FutexPair() {
  munmap(shared_, sizeof(Shared));
  close(file_);
}

void FutexPair::map() {
  void* const start = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (start == MAP_FAILED) fail("no shared memory");
  shared_ = std::launder(static_cast<Shared*>(start));
}

std::uint64_t FutexPair::wake() {
  const std::uint32_t next = shared_->wakes.load(std::memory_order_relaxed) + 1;
  const std::uint64_t sent = ticks();
  shared_->wakes.store(next, std::memory_order_release);
  syscall(SYS_futex, &shared_->wakes, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  while (shared_->times.load(std::memory_order_acquire) != next) {
  }
  return shared_->woken.load(std::memory_order_relaxed) - sent;
}

void FutexPair::be_woken(int times, bool timed) {
  constexpr timespec limit{0, 4'000'000};  // a node's first sleep
  std::uint32_t before = shared_->times.load(std::memory_order_relaxed);
  Gap spinning(spin_ns, spin_ns);
  for (int time = 0; time < times; ++time, ++before) {
    spinning.pause(spin_pause);
    while (shared_->wakes.load(std::memory_order_acquire) == before)
      syscall(SYS_futex, &shared_->wakes, FUTEX_WAIT, before, timed ? &limit : nullptr, nullptr, 0);
    shared_->woken.store(ticks(), std::memory_order_relaxed);  // published by the next line
    shared_->times.store(before + 1, std::memory_order_release);
  }
}

}  // namespace ambench
