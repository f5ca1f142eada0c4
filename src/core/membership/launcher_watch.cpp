#include "core/membership/launcher_watch.hpp"

#include <cstdlib>
#include <ctime>

#include "core/reports/fatal.hpp"
#include "host/clock.hpp"

namespace am::core {

namespace {

constexpr std::uint64_t interval_ns = 500'000'000;

}  // namespace

LauncherWatch::LauncherWatch(const host::Board& board, NodeId node)
    : board_(board),
      node_(node),
      thread_(
          "am launcher", [this] { run(); }, "start the node without a wrapper") {}

LauncherWatch::~LauncherWatch() {
  stop_.store(true, std::memory_order_relaxed);  // published by the next line
  sem_post(&wake_.semaphore);
}

void LauncherWatch::run() noexcept {
  while (!stop_.load(std::memory_order_relaxed)) {
    if (board_.launcher_has_ended()) end_with_launcher(board_, node_);
    const timespec until = host::timespec_of(host::monotonic_ns() + interval_ns);
    sem_clockwait(&wake_.semaphore, CLOCK_MONOTONIC, &until);
  }
}

void end_with_launcher(const host::Board& board, NodeId node) noexcept {
  host::JobHeader& job = board.job();
  if (job.launcher_end_told.exchange(1, std::memory_order_relaxed) == 0)
    give_up(node, "amrun (pid ", job.launcher, ") has ended; ending with it, as all nodes of the job do");
  std::_Exit(1);
}

}  // namespace am::core
