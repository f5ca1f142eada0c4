// The watchdog of a node (AM_WATCHDOG, AM_WATCHDOG_SIGNAL): a thread that reports on the whole job, on stderr, when a node
// does not get on, or when this process gets the signal that was asked for. It needs nothing that a stuck node may hold.
//
// The nodes of a job all have one, and take turns: a hang is reported once, by whichever sees it first. Where amrun watches
// the job (amrun --watchdog) the nodes only record.
#pragma once

#include <semaphore.h>
#include <am/types.hpp>
#include <atomic>
#include <csignal>
#include <memory>

#include "core/own_thread.hpp"
#include "core/settings.hpp"
#include "transports/shm/segment.hpp"

namespace am::core {

class Watchdog {
 public:
  /// Whether these settings ask for one.
  [[nodiscard]] static bool is_wanted(const Settings& settings) noexcept {
    return settings.watchdog_ns != 0 || settings.watchdog_signal != 0;
  }
  /// Throws am::Error when the program handles the signal itself.
  Watchdog(const shm::Segment& segment, NodeId node, const Settings& settings);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void run();
  void report_hang(std::uint64_t patience_ns, const std::string& text) const;

  const shm::Segment& segment_;
  const NodeId node_;
  const std::uint64_t patience_ns_;
  const int signal_;
  std::atomic<bool> stop_{false};
  sem_t wake_;
  struct sigaction before_ {};
  std::unique_ptr<OwnThread> thread_;
};

}  // namespace am::core
