// What lies where in a job's shared segment. The segment is one sparse file without a name: every place follows from
// the number of nodes, so nothing is allocated and nobody has to ask; a page costs memory only once it is touched.
//
//   JobHeader | LifeLock per node, and the launcher's | NodeCard per node | doorbells per node | connections per node |
//   traffic per node | handler counts per node | handler names |
//   PairBlock per (receiver, sender) | user segment per node, 1 TiB apart
//
// Only offsets, lock-free atomics and trivially copyable values lie here: the segment is mapped at different addresses
// by different processes.
#pragma once

#include <am/impl/ring.hpp>
#include <am/impl/traffic.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/alarm.hpp"
#include "transports/shm/life_lock.hpp"

namespace am::shm {

inline constexpr std::uint64_t magic = 0x6765736d61'62696cULL;  // "libamseg" as little-endian bytes
inline constexpr std::uint32_t version = 4;
inline constexpr std::uint32_t max_nodes = 4096;  // 64 summary bits of 64 doorbells each
inline constexpr std::size_t max_handlers = 4096;
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t user_stride = std::size_t{1} << 40;
inline constexpr std::size_t line = impl::line_bytes;

inline constexpr std::int32_t unknown_end = -1;  ///< no wait status is that

/// Where a node stands in its job.
enum class Standing : std::uint32_t { absent, joined, left, dead };

/// One page at the beginning of the segment.
struct JobHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t nodes;
  std::uint64_t bytes;                   ///< of the whole file
  std::uint64_t epoch_ns;                ///< CLOCK_MONOTONIC when the job began: Count is zero there
  std::int32_t launcher;                 ///< pid of amrun; 0: the nodes were started by something else
  std::uint64_t launcher_pid_namespace;  ///< where it is that (pid_namespace.hpp)
  std::uint32_t cpu_quota;         ///< processors that the container grants, as node 0 sees it; 0: no limit
  std::uint32_t launcher_watches;  ///< 1: amrun is the job's watchdog
  std::uint64_t cpus[16];  ///< the processors that the job may use, as a cpu_set_t; none: nobody knows
  std::atomic<std::uint64_t>
      asked_ns;                     ///< CLOCK_MONOTONIC when a node was last asked for a report by a signal
  std::atomic<std::int32_t> asked;  ///< its process
  std::atomic<std::uint32_t> launcher_end_told;  ///< 1: a node has said that amrun ended

  std::atomic<std::uint64_t> said[8];  ///< what a node has said for all (core/once.hpp)

  alignas(line)
      std::atomic<std::uint32_t> deaths;  ///< nodes marked dead or left so far: one load tells of any news
  std::atomic<std::uint32_t> joined;      ///< nodes that have filled in their card

  // The barrier of all nodes (core/barrier.cpp): each knows which number of arrivals opens it.
  alignas(line) std::atomic<std::uint32_t> barrier_arrived;   ///< since the job began, modulo 2^32
  alignas(line) std::atomic<std::uint32_t> barrier_sleepers;  ///< nodes that may be asleep in the barrier
};
static_assert(sizeof(JobHeader) <= page_bytes);

inline constexpr std::size_t recent_events = 32;

/// What a node tells the others about itself: one page.
struct NodeCard {
  alignas(line) std::atomic<std::uint32_t> standing;  ///< Standing
  std::int32_t pid;
  std::int32_t tid;                  ///< of its own thread
  std::uint64_t pid_namespace;       ///< where they are that (pid_namespace.hpp)
  std::uint32_t child_of_launcher;   ///< 1: amrun waits for it, and so is the first to know how it ended
  std::int32_t signal;               ///< that interrupts it; 0 unless it is in the interrupt mode
  std::uint32_t has_handler_thread;  ///< 1: is in the handler-thread mode
  std::atomic<std::int32_t>
      wait_status;  ///< of a dead node, as from waitpid; unknown_end unless its launcher said it
  std::atomic<std::uint32_t> survives;  ///< 1: means to go on when another node dies
  std::uint64_t fingerprint;            ///< of the handler table
  std::uint64_t segment_bytes;          ///< of the user segment
  std::uint32_t handlers;
  char program[256];  ///< path of the executable
  char host[64];
  std::uint64_t cpus[16];  ///< the processors it may run on, as a cpu_set_t

  // Written by senders, read by the owner in every poll.
  alignas(
      line) std::atomic<std::uint64_t> doorbell_summary[2];  ///< by priority: which doorbell words have news
  std::atomic<std::uint32_t> alarm;                          ///< am::Alarm; a sleeper sleeps on it (futex)
  std::atomic<std::uint32_t> thread_bell;                    ///< counts the rings of the handler thread

  // Written by the owner now and then, read by reports.
  alignas(line) std::atomic<std::uint64_t> waiting_since_ns;  ///< Count; 0 while it does not wait
  std::atomic<std::uint64_t> waiting_for[8];                  ///< text, ended by a zero byte
  std::atomic<std::uint32_t> held_off;    ///< what may not run while it waits (core/card_words.hpp)
  std::atomic<std::uint64_t> interrupts;  ///< signals that have come in the interrupt mode

  // What the owner runs (core/recorder.hpp). From here to `running` always, the rest while there is a watchdog.
  alignas(line) std::atomic<std::uint64_t> handled
      [2];  ///< by priority: the packet whose handler runs, where its owner sees it (HandledMessages)
  std::uint64_t mapped_at;                           ///< where the owner has mapped the segment
  std::atomic<std::uint64_t> running[3];             ///< what else runs, by level (Recorder); 0: nothing
  std::atomic<std::uint64_t> events;                 ///< begun so far
  std::atomic<std::uint64_t> recent[recent_events];  ///< the last ones: number n at n % recent_events
  std::atomic<std::uint64_t> reported;               ///< the last report of a hang or death (JobWatch)
};
static_assert(sizeof(NodeCard) <= page_bytes);

struct HandlerCounts {
  std::atomic<std::uint64_t> runs;
  std::atomic<std::uint64_t> sampled_ns;  ///< time of the runs that were timed (one in 64)
  std::atomic<std::uint64_t> sampled_runs;
  std::uint64_t reserved;
};

/// The functions behind the handler numbers, for onlookers; node 0 writes them before it is marked as joined.
struct HandlerName {
  char text[120];
  std::uint64_t signature;  ///< a hash of it and of its parameters
};

inline constexpr std::uint32_t low_lines = 170;
inline constexpr std::uint32_t high_lines = 64;

/// Both rings from one sender to one receiver: 15 KiB, so that both directions of a pair, and what is counted about it,
/// stay below 32.
struct PairBlock {
  impl::RingControl control[2];  ///< by priority
  impl::Packet low[low_lines];
  impl::Packet high[high_lines];
};
static_assert(sizeof(PairBlock) == 15 * 1024);
inline constexpr std::size_t pair_stride = sizeof(PairBlock);

class Layout {
 public:
  explicit constexpr Layout(std::uint32_t nodes) noexcept : nodes_(nodes) {}

  [[nodiscard]] constexpr std::size_t doorbell_words() const noexcept { return (nodes_ + 63) / 64; }

  /// The launcher's is that of node number `nodes`.
  [[nodiscard]] constexpr std::size_t life(std::uint32_t node) const noexcept {
    return page_bytes + node * sizeof(LifeLock);
  }
  [[nodiscard]] constexpr std::size_t card(std::uint32_t node) const noexcept {
    return to_page(life(nodes_ + 1)) + page_bytes * node;
  }
  [[nodiscard]] constexpr std::size_t doorbells(std::uint32_t node) const noexcept {
    return card(nodes_) + node * doorbell_stride();
  }
  /// A bit for each node that this one has rings to.
  [[nodiscard]] constexpr std::size_t connections(std::uint32_t node) const noexcept {
    return doorbells(nodes_) + node * to_line(doorbell_words() * 8);
  }
  [[nodiscard]] constexpr std::size_t traffic(std::uint32_t node) const noexcept {
    return to_page(connections(nodes_)) + node * traffic_stride();
  }
  [[nodiscard]] constexpr std::size_t handler_counts(std::uint32_t node) const noexcept {
    return traffic(nodes_) + node * to_page(max_handlers * sizeof(HandlerCounts));
  }
  [[nodiscard]] constexpr std::size_t handler_names() const noexcept { return handler_counts(nodes_); }
  [[nodiscard]] constexpr std::size_t pair(std::uint32_t receiver, std::uint32_t sender) const noexcept {
    const std::size_t names = to_page(max_handlers * sizeof(HandlerName));
    return handler_names() + names + (std::size_t{receiver} * nodes_ + sender) * pair_stride;
  }
  /// End of what every node maps; user segments are mapped one by one.
  [[nodiscard]] constexpr std::size_t common_bytes() const noexcept { return pair(nodes_, 0); }
  [[nodiscard]] constexpr std::size_t user(std::uint32_t node) const noexcept {
    return to_stride(common_bytes()) + std::size_t{node} * user_stride;
  }
  [[nodiscard]] constexpr std::size_t file_bytes() const noexcept { return user(nodes_); }

 private:
  static constexpr std::size_t to_page(std::size_t bytes) noexcept {
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
  }
  static constexpr std::size_t to_line(std::size_t bytes) noexcept {
    return (bytes + line - 1) / line * line;
  }
  static constexpr std::size_t to_stride(std::size_t bytes) noexcept {
    return (bytes + user_stride - 1) / user_stride * user_stride;
  }
  [[nodiscard]] constexpr std::size_t doorbell_stride() const noexcept {
    return to_line(2 * doorbell_words() * 8);
  }
  [[nodiscard]] constexpr std::size_t traffic_stride() const noexcept {
    return to_page(2 * std::size_t{nodes_} * sizeof(impl::Traffic));
  }

  std::uint32_t nodes_;
};

}  // namespace am::shm
