// A snapshot of what a node counted: always on, a few plain additions per message. AM_STATS=1 prints them when a node
// leaves, `aminfo --stats PID` shows those of a running job from outside.
//
// Called by the node's own thread. The snapshot is a plain value.
#pragma once

#include <am/node.hpp>
#include <am/types.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace am {

/// One node's traffic with one peer at one priority. A long message counts once, with all its bytes; a message of a
/// multicast counts at every link of its tree.
struct PeerCounters {
  NodeId peer = 0;
  Priority priority = Priority::low;
  std::uint64_t sent_messages = 0;
  std::uint64_t sent_bytes = 0;  ///< arguments and payload
  std::uint64_t again = 0;  ///< sends that were answered `again`, those that waiting sends repeated included
  std::uint64_t received_messages = 0;
  std::uint64_t received_bytes = 0;
};

/// One handler's runs on one node. One run in 64 is timed.
struct HandlerCounters {
  std::string name;        ///< the function as its program names it, up to 128 characters
  std::uint64_t runs = 0;  ///< those that have begun
  std::uint64_t sampled_runs = 0;
  std::uint64_t sampled_ns = 0;  ///< of the timed runs together

  /// Nanoseconds of a run, on average over those that were timed.
  [[nodiscard]] std::uint64_t ns_each() const noexcept {
    return sampled_runs == 0 ? 0 : sampled_ns / sampled_runs;
  }
};

/// What one node has counted.
struct Counters {
  NodeId node = 0;
  NodeId nodes = 0;  ///< of the job
  std::vector<PeerCounters>
      peers;  ///< only where something was sent, refused or received; by peer, then priority
  std::vector<HandlerCounters> handlers;  ///< only those that ran
  std::uint64_t interrupts = 0;           ///< signals that have come, in the interrupt mode
  std::uint64_t refused_accesses =
      0;  ///< to this node's memory, through guarded pointers (am/guarded_ptr.hpp)

  /// The counters of one peer at one priority: zeros where nothing was counted.
  [[nodiscard]] PeerCounters peer(NodeId id, Priority priority) const noexcept;
};

/// A snapshot of what this node has counted so far.
[[nodiscard]] Counters counters(Node& node);

}  // namespace am
