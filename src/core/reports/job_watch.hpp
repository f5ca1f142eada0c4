// Who of a job's nodes makes no progress, and what the whole job is doing: read out of the shared board, so that nothing
// depends on the node that is stuck. For a node's watchdog thread and amrun.
//
// Only looks (core/reports/onlooker.hpp): relaxed, racy by nature, never trusted. Takes no memory after it is made, and no
// lock. What a report says, and what it cannot know: docs/hangs.md.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/reports/onlooker.hpp"
#include "core/reports/recorder.hpp"
#include "core/reports/text_out.hpp"

namespace am::core {

/// Every node: what it waits for or runs, since when it waits, what lies in the queues into it and what is still free there,
/// its last events. Whole lines. Only nodes with a watchdog record what they run, and hand credit back at once.
void describe_job(TextOut& out, const Onlooker& job);
void describe_node(TextOut& out, const Onlooker& job, NodeId node);
/// What stands behind "node 3": " (pid 4711) has waited 12 ms in barrier", " has left the job".
void describe_state(TextOut& out, const Onlooker& job, NodeId node);
/// "handler x, for a message from node 2"; `name` is that of its handler, or empty.
void describe_event(TextOut& out, const RecordedEvent& event, std::string_view name);
/// What the node runs now, or ran when it died: the innermost event, or posted work.
[[nodiscard]] RecordedEvent running_event(const Onlooker& job, NodeId node) noexcept;
/// An event of the node's runs, or posted work; it ran when the node died.
[[nodiscard]] inline bool runs_something(const Onlooker& job, NodeId node) noexcept {
  return running_event(job, node).kind != RecordedEvent::Kind::none;
}
/// "handler x(am::Request&), for a message from node 2"; nothing, and false, when it runs none.
bool describe_running(TextOut& out, const Onlooker& job, NodeId node);

/// For the first who asks: a node's end is told of once. False when another has told of it.
[[nodiscard]] bool may_report_death(const host::Board& board, NodeId node) noexcept;

class JobWatch {
 public:
  JobWatch(const Onlooker& job, std::uint64_t patience_ns);

  /// How often look() is to be called.
  [[nodiscard]] std::uint64_t interval_ns() const noexcept { return patience_ns_ / 4 + 1; }
  /// Reports when a node has made no progress for `patience` (then when four times as long has passed, and so on): it has waited,
  /// or run one handler, for that long, or messages have waited for it, and nothing changed. Of all who watch a job one
  /// reports a node. Time in which nobody called look() does not count: this process was stopped, and so perhaps the job.
  /// `now_ns` is the job's (host::running_ns).
  void look(std::uint64_t now_ns, TextOut& out);

 private:
  struct Watched {
    std::uint64_t signature = 0;  // changes when it gets on
    std::uint64_t since_ns = 0;   // it is as it is
    std::uint64_t next_report_ns = 0;
    std::uint64_t stuck_ns = 0;  // at the last look
  };
  bool look_at(NodeId node, std::uint64_t now_ns) noexcept;
  void report(NodeId node, TextOut& out);
  [[nodiscard]] std::uint64_t signature_of(NodeId node) const noexcept;
  [[nodiscard]] bool is_stuck(NodeId node) const noexcept;
  [[nodiscard]] bool may_report(NodeId node, std::uint64_t signature, std::uint64_t after_ns) const noexcept;

  const Onlooker& job_;
  const host::Board& board_;
  const std::uint64_t patience_ns_;
  std::uint64_t looked_ns_ = 0;
  bool reported_ = false;  // a node, in this look
  std::vector<Watched> nodes_;
};

}  // namespace am::core
