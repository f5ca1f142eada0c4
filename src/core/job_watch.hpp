// Who of a job's nodes does not get on, and what the whole job is doing: read out of the shared segment, so that nothing
// depends on the node that is stuck. For a node's watchdog thread, amrun and aminfo.
//
// Reads only what lies in the segment: relaxed, racy by nature, never trusted. One thread per object.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transports/shm/segment.hpp"

namespace am::core {

/// Every node: what it waits for or runs and since when, what lies in the rings into it and what is still free there, its
/// last events. Ends in a line end. Only nodes with a watchdog record what they run.
[[nodiscard]] std::string describe_job(const shm::Segment& segment);
/// "handler x(am::Request&), for a message from node 2", or empty when it runs none.
[[nodiscard]] std::string describe_running(const shm::Segment& segment, NodeId node);

class JobWatch {
 public:
  JobWatch(const shm::Segment& segment, std::uint64_t patience_ns);

  /// How often look() is to be called.
  [[nodiscard]] std::uint64_t interval_ns() const noexcept { return patience_ns_ / 4 + 1; }
  /// A report, when a node has not got on for `patience` (then when four times as long has passed): it has waited, or run
  /// one handler, for that long, or messages have waited for it, and nothing changed. `now_ns` is CLOCK_MONOTONIC.
  [[nodiscard]] std::optional<std::string> look(std::uint64_t now_ns);

 private:
  struct Watched {
    std::uint64_t signature = 0;  // changes when it gets on
    std::uint64_t since_ns = 0;   // it is as it is
    std::uint64_t next_report_ns = 0;
  };
  [[nodiscard]] bool is_stuck(NodeId node) const;

  const shm::Segment& segment_;
  const std::uint64_t patience_ns_;
  std::vector<Watched> nodes_;
};

}  // namespace am::core
