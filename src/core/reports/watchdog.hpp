// The watchdog of a node (AM_WATCHDOG, AM_WATCHDOG_SIGNAL): reports on the whole job, on stderr, when a node does not get
// on, or when this process gets the signal that was asked for.
//
// A process has one thread for all its watchdogs, from the first to the last. When it reports it needs nothing that a stuck
// node may hold: no malloc, no stdio, no lock but the one under which nodes begin and end to be watched. The processes of a
// job all watch it; of each standstill one reports (JobWatch). Where amrun watches the job (amrun --watchdog) the nodes
// only record.
#pragma once

#include <am/types.hpp>
#include <cstdint>

#include "core/reports/job_watch.hpp"
#include "core/settings/settings.hpp"

namespace am::core {

class Watchdog {
 public:
  /// Whether these settings ask for one.
  [[nodiscard]] static bool is_wanted(const Settings& settings) noexcept {
    return settings.watchdog_ns != 0 || settings.watchdog_signal != 0;
  }
  /// Throws am::Error when the signal is not to be had, or the system gives no thread.
  Watchdog(const Onlooker& job, NodeId node, const Settings& settings);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  friend class WatchdogThread;

  const Onlooker& job_;
  const NodeId node_;
  const int signal_;
  const bool looks_;  // for hangs
  JobWatch watch_;
  std::uint64_t due_ns_ = 0;
  Watchdog* next_ = nullptr;  // of this process
};

}  // namespace am::core
