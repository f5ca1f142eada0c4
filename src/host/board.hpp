// The board of a host: what its nodes tell each other about themselves and their job. A header for the job, and for every
// node a card, a life lock, the counters of its messages and handlers.
//
// There is a card for every node of the job. Those of nodes on other hosts are mirrors: their facts were copied when the job
// began, their standing follows (core/membership/relay.hpp), and the rest of them stays empty.
//
// A view: the memory behind it is host::Memory's. Only lock-free atomics and trivially copyable values lie here, and no
// pointer that means something to others: processes map it at different addresses. Any thread.
#pragma once

#include <am/types.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "host/layout.hpp"

namespace am::host {

inline constexpr std::uint64_t magic = 0x6765736d61'62696cULL;  // "libamseg" as little-endian bytes
inline constexpr std::size_t recent_events = 32;
inline constexpr std::int32_t unknown_end = -1;  ///< no wait status is that

/// Where a node stands in its job.
enum class Standing : std::uint32_t { absent, joined, left, dead };

/// A CountLine (count_line.hpp) in shared memory (job_clock.hpp).
struct SharedCountLine {
  std::atomic<std::uint64_t> from_ns;
  std::atomic<std::uint64_t> count;
  std::atomic<std::int64_t> rate;
  std::atomic<std::int64_t> catch_up;
  std::atomic<std::uint64_t> for_ns;
  std::atomic<std::uint64_t> error_ns;
};

/// One page at the beginning.
struct JobHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t nodes;
  std::uint64_t bytes;  ///< of the whole file
  std::atomic<std::uint64_t>
      epoch_ns;  ///< CLOCK_MONOTONIC when the job began: Count is zero there. Written while nodes join
  std::uint32_t this_host;               ///< which of the job's hosts this is, from 0
  std::int32_t launcher;                 ///< pid of amrun; 0: the nodes were started by something else
  std::uint64_t launcher_pid_namespace;  ///< where it is that (pid_namespace.hpp)
  std::uint32_t cpu_quota;         ///< processors that the container grants, as node 0 sees it; 0: no limit
  std::uint32_t launcher_watches;  ///< 1: amrun is the job's watchdog
  std::uint64_t cpus[16];  ///< the processors that the job may use, as a cpu_set_t; none: nobody knows
  std::atomic<std::uint64_t>
      asked_ns;                     ///< CLOCK_MONOTONIC when a node was last asked for a report by a signal
  std::atomic<std::int32_t> asked;  ///< its process
  std::atomic<std::uint32_t> launcher_end_told;  ///< 1: a node has said that amrun ended

  // What tells this job from others, and its nodes from strangers, where networks lead to other hosts (transports/trust).
  std::byte name[16];  ///< no secret
  std::byte key[32];   ///< random; known to the job's processes only

  std::atomic<std::uint64_t> said[8];     ///< what a node has said for all (core/reports/once.hpp)
  std::atomic<std::uint64_t> standstill;  ///< how long the job stood still (standstill.hpp)

  // Where the first host's clock is another one (job_clock.hpp).
  alignas(
      line) std::atomic<std::uint32_t> count_lines;  ///< so far; the last ones are at their numbers modulo 4
  SharedCountLine count_line[4];

  alignas(line) std::atomic<
      std::uint32_t> departures;           ///< nodes marked dead or left so far: one load tells of any news
  std::atomic<std::uint32_t> first_death;  ///< the first node that was marked as dead, and 1; 0: none was
  std::atomic<std::uint32_t> joined;       ///< nodes that have filled in their card

  // The barrier of all nodes (core/together/barrier.cpp): each knows which number of arrivals opens it.
  alignas(
      line) std::atomic<std::uint32_t> barrier_arrived;  ///< of this host, since the job began, modulo 2^32
  alignas(line) std::atomic<std::uint32_t> barrier_sleepers;  ///< nodes that may be asleep in the barrier
  std::atomic<std::uint32_t> barrier_opened;  ///< between hosts: the number of arrivals that are let through
};
static_assert(sizeof(JobHeader) <= page_bytes);

/// What does not change once a node has joined; copied to the other hosts then.
struct NodeFacts {
  std::int32_t pid;
  std::int32_t tid;                  ///< of its own thread
  std::uint64_t pid_namespace;       ///< where they are that (pid_namespace.hpp)
  std::uint32_t child_of_launcher;   ///< 1: amrun waits for it, and so is the first to know how it ended
  std::int32_t signal;               ///< that interrupts it; 0 unless it is in the interrupt mode
  std::uint32_t has_handler_thread;  ///< 1: is in the handler-thread mode
  std::uint32_t on_host;             ///< which of the job's hosts, from 0; known before it joins
  std::uint32_t handlers;
  std::uint64_t clock;  ///< a hash of which CLOCK_MONOTONIC it has (kernel_id); 0: the system does not tell
  std::uint64_t epoch_ns;       ///< JobHeader's, of its host
  std::uint64_t fingerprint;    ///< of the handler table
  std::uint64_t segment_bytes;  ///< of the user segment
  char program[256];            ///< path of the executable
  char host[64];
  char address[256];       ///< where it takes connections from other nodes, if one of its networks does
  std::uint64_t cpus[16];  ///< the processors it may run on, as a cpu_set_t
};
static_assert(std::is_trivially_copyable_v<NodeFacts>);

/// What a node tells the others about itself: one page.
struct NodeCard : NodeFacts {
  alignas(line) std::atomic<std::uint32_t> standing;  ///< Standing
  std::atomic<std::int32_t>
      wait_status;  ///< how it ended, as from waitpid, once its launcher has said so; unknown_end
                    ///< before, and 0 where it left by itself
  std::atomic<std::uint32_t> survives;    ///< 1: means to go on when another node dies
  std::atomic<std::uint32_t> ended_with;  ///< the node because of whose death it ends, and 1; 0: it does not
  std::atomic<std::uint32_t> barriers;    ///< that it has arrived at, modulo 2^32

  // How it is told that there is something for it (host/bell.hpp).
  alignas(line) std::atomic<std::uint32_t> alarm;  ///< host::Alarm; a sleeper sleeps on it (futex)
  std::atomic<std::uint32_t> nudges;               ///< news on the board so far
  std::atomic<std::uint32_t> thread_bell;          ///< counts the rings of the handler thread

  // Written by the owner now and then, read by reports.
  alignas(line) std::atomic<std::uint64_t> waiting_since_ns;  ///< Count; 0 while it does not wait
  std::atomic<std::uint64_t> waiting_for[8];                  ///< text, ended by a zero byte
  std::atomic<std::uint32_t> waits_for;   ///< the node that alone can end the wait, and 1; 0: none is known
  std::atomic<std::uint32_t> held_off;    ///< what may not run while it waits (core/reports/card_words.hpp)
  std::atomic<std::uint64_t> interrupts;  ///< signals that have come in the interrupt mode
  std::atomic<std::uint64_t> refused_accesses;  ///< through guarded pointers

  // What the owner runs (core/reports/recorder.hpp). From here to `running` always, the rest while there is a watchdog.
  alignas(line) std::atomic<std::uint64_t> handled
      [2];  ///< by priority: the packet whose handler runs, where its owner sees it (HandledMessages)
  std::uint64_t mapped_at;                           ///< where the owner has mapped the packets of its rings
  std::atomic<std::uint64_t> running[3];             ///< what else runs, by level (Recorder); 0: nothing
  std::atomic<std::uint64_t> events;                 ///< begun so far
  std::atomic<std::uint64_t> recent[recent_events];  ///< the last ones: number n at n % recent_events
  std::atomic<std::uint64_t> reported;               ///< the last report of a hang or death (JobWatch)
};
static_assert(sizeof(NodeCard) <= page_bytes);

/// Of builds of libam that may have nodes in one job: the same number, from what they mean by the facts that hosts copy (`meaning`, which
/// is counted up when that changes), where each fact lies, and how long the rest is.
consteval std::uint32_t version_of_board() noexcept {
  constexpr std::size_t meaning = 16;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::size_t part : {meaning,
                                 sizeof(JobHeader),
                                 sizeof(NodeCard),
                                 sizeof(NodeFacts),
                                 offsetof(NodeFacts, pid),
                                 offsetof(NodeFacts, tid),
                                 offsetof(NodeFacts, pid_namespace),
                                 offsetof(NodeFacts, child_of_launcher),
                                 offsetof(NodeFacts, signal),
                                 offsetof(NodeFacts, has_handler_thread),
                                 offsetof(NodeFacts, on_host),
                                 offsetof(NodeFacts, handlers),
                                 offsetof(NodeFacts, clock),
                                 offsetof(NodeFacts, epoch_ns),
                                 offsetof(NodeFacts, fingerprint),
                                 offsetof(NodeFacts, segment_bytes),
                                 offsetof(NodeFacts, program),
                                 offsetof(NodeFacts, host),
                                 offsetof(NodeFacts, address),
                                 offsetof(NodeFacts, cpus)})
    hash = (hash ^ part) * 0x100000001b3;
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}
inline constexpr std::uint32_t version = version_of_board();

struct HandlerCounts {
  std::atomic<std::uint64_t> runs;
  std::atomic<std::uint64_t> sampled_ns;  ///< time of the runs that were timed (one in 64)
  std::atomic<std::uint64_t> sampled_runs;
  std::uint64_t reserved;
};
static_assert(sizeof(HandlerCounts) == Layout::handler_counts_bytes);

/// The functions behind the handler numbers, for onlookers; the first node of the host writes them before it is marked as joined.
struct HandlerName {
  char text[120];
  std::uint64_t signature;  ///< a hash of it and of its parameters
};
static_assert(sizeof(HandlerName) == Layout::handler_name_bytes);

class Board {
 public:
  Board(std::byte* base, NodeId nodes) noexcept : base_(base), nodes_(nodes), layout_(nodes) {}

  [[nodiscard]] NodeId nodes() const noexcept { return nodes_; }
  [[nodiscard]] JobHeader& job() const noexcept { return *at<JobHeader>(0); }
  [[nodiscard]] NodeCard& card(NodeId node) const noexcept { return *at<NodeCard>(layout_.card(node)); }
  [[nodiscard]] LifeLock& life(NodeId node) const noexcept { return *at<LifeLock>(layout_.life(node)); }
  [[nodiscard]] LifeLock& launcher_life() const noexcept { return life(nodes_); }
  /// By peer and priority: [2 * peer + priority].
  [[nodiscard]] impl::Traffic* traffic(NodeId node) const noexcept {
    return at<impl::Traffic>(layout_.traffic(node));
  }
  [[nodiscard]] HandlerCounts* handler_counts(NodeId node) const noexcept {
    return at<HandlerCounts>(layout_.handler_counts(node));
  }
  [[nodiscard]] HandlerName& handler_name(std::size_t id) const noexcept {
    return at<HandlerName>(layout_.handler_names())[id];
  }

  /// Whether what both count about messages from one to the other has memory (Memory::commit_link, commit_traffic).
  [[nodiscard]] bool is_linked(NodeId from, NodeId to) const noexcept {
    return (links(from)[to / 64].load(std::memory_order_relaxed) >> (to % 64) & 1) != 0;
  }
  void set_linked(NodeId from, NodeId to) const noexcept {
    links(from)[to / 64].fetch_or(std::uint64_t{1} << (to % 64), std::memory_order_relaxed);
  }

  /// Whether a node runs on the host of this board.
  [[nodiscard]] bool is_here(NodeId node) const noexcept { return card(node).on_host == job().this_host; }
  [[nodiscard]] Standing standing(NodeId node) const noexcept {
    return static_cast<Standing>(card(node).standing.load(std::memory_order_acquire));
  }
  /// Whether the node's thread, which took its life lock before it joined, has neither ended nor left.
  [[nodiscard]] bool is_alive(NodeId node) const noexcept { return life(node).is_held(); }
  /// The same of the launcher that made the board: amrun. False where there is none.
  [[nodiscard]] bool launcher_has_ended() const noexcept {
    return job().launcher != 0 && !launcher_life().is_held();
  }

 private:
  [[nodiscard]] std::atomic<std::uint64_t>* links(NodeId node) const noexcept {
    return at<std::atomic<std::uint64_t>>(layout_.links(node));
  }
  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }

  std::byte* base_;
  NodeId nodes_;
  Layout layout_;
};

}  // namespace am::host
