// Engine: what stands behind a Node. It owns the node's place in the job, its networks, its events and what waits to be
// sent; the public Node keeps only what the inline path of a short message touches.
//
// Its functions are spread by event over files of their own:
//   node.cpp      joining and leaving
//   sending.cpp   sends that found no line at once, drafts
//   dispatch.cpp  poll: what may run now, in which order, and why nothing deadlocks
//   pending.cpp   what waits, and what runs
//   multicast.cpp forwarding along the tree of a group
//   liveness.cpp  peers that died or left
//   waiting.cpp   spin, yield, sleep; deadlines
// Used by the node's own thread only.
#pragma once

#include <am/events.hpp>
#include <am/node.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/fragments.hpp"
#include "core/global_memory.hpp"
#include "core/handler_table.hpp"
#include "core/job/job.hpp"
#include "core/settings.hpp"
#include "core/timelets.hpp"
#include "transports/shm/shm_transport.hpp"

namespace am::core {

class CollectiveState;

class Engine {
 public:
  /// Joins: fills the node's card, waits for the others, checks that all run the same program. Throws am::Error.
  Engine(Job job, const Settings& settings);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The Node that this engine stands behind; before anything else.
  void attach(Node& node);
  void leave() noexcept;

  // sending (sending.cpp)
  Status send(const impl::OutMessage& message, bool wait);
  Status try_send(const impl::OutMessage& message) noexcept;
  void ring_doorbell(NodeId to, Priority priority) noexcept { shm_.ring_doorbell(to, priority); }
  /// A place for a draft: like try_send or send, but the packet stays with the caller, and its ring reserved, until
  /// commit_draft or drop_draft.
  Transport::Slot claim_draft(NodeId to, Priority priority, std::size_t payload_bytes, bool wait);
  void commit_draft(const Transport::Slot& slot, impl::Header header) noexcept;
  void drop_draft(const Transport::Slot& slot) noexcept;
  Status multicast(const impl::OutMessage& message, std::span<const NodeId> members, bool wait);

  // events (dispatch.cpp, pending.cpp)
  std::size_t poll();
  /// What a low handler that waits may let run: high events, nothing else.
  std::size_t serve_high();
  /// Runs a handler with `packet`, on the level that is entered already. Also for the default handler, which may run the
  /// handler that a message named.
  void run_handler(impl::HandlerId id, const impl::Packet& packet, Payload payload, Priority priority);
  [[nodiscard]] bool available(Priority priority) noexcept;
  [[nodiscard]] bool pending(Event kind) noexcept;
  [[nodiscard]] bool may_run(Event kind) const noexcept { return node_->events_.may_run(kind); }

  // waiting (waiting.cpp)
  void wait(const std::function<bool()>& pred, const char* what);
  /// Ends the program when a handler calls what waits for others (barrier.cpp).
  void must_compute(const char* operation) const;

  // liveness (liveness.cpp)
  void look_after_peers(bool thoroughly);
  [[nodiscard]] bool is_gone(NodeId peer) const noexcept { return gone_[peer]; }
  [[nodiscard]] bool any_peer_gone() const noexcept { return deaths_seen_ != 0; }

  [[nodiscard]] const Job& job() const noexcept { return job_; }
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] Node& node() noexcept { return *node_; }
  [[nodiscard]] shm::Segment& segment() noexcept { return *job_.segment; }
  [[nodiscard]] shm::NodeCard& card() noexcept { return job_.segment->card(job_.id); }
  [[nodiscard]] Transport& network() noexcept { return *network_; }
  /// No decorator around shared memory: rings and segments are reached without asking it.
  [[nodiscard]] bool direct() const noexcept { return direct_; }
  [[nodiscard]] GlobalMemory& memory() noexcept { return memory_; }
  [[nodiscard]] CollectiveState& collectives() noexcept { return *collectives_; }
  [[nodiscard]] const HandlerTable& table() const noexcept { return table_; }
  /// More nodes than cores to run them on: then spinning only keeps others from running.
  [[nodiscard]] bool oversubscribed() const noexcept { return oversubscribed_; }
  [[nodiscard]] Count now() const noexcept { return shm::monotonic_ns() - epoch_ns_; }
  [[nodiscard]] std::string_view running_handler() const noexcept;
  /// The message whose handler runs: no packet in the computation and in other events.
  struct Handling {
    const impl::Packet* packet = nullptr;
    std::size_t payload_bytes = 0;
  };
  [[nodiscard]] Handling handled() const noexcept;
  /// The T1's timec and timeh, which are one timelet among the others (registers.cpp).
  struct CompareRegister {
    Count when = 0;
    TimeletId timelet = 0;
    std::function<void(LowEvent&)> handler;
  };
  [[nodiscard]] CompareRegister& compare_register() noexcept { return compare_register_; }

  // what the program asked for
  TimeletId add_timelet(Count when, Timelets::Function f) {
    something_else_ = true;
    return timelets_.add(when, std::move(f));
  }
  bool cancel_timelet(TimeletId id) noexcept { return timelets_.cancel(id); }
  [[nodiscard]] const Timelets& timelets() const noexcept { return timelets_; }
  void set_outlet(std::function<void(LowEvent&)> f) {
    something_else_ = true;
    outlet_ = std::move(f);
  }
  [[nodiscard]] bool has_outlet() const noexcept { return static_cast<bool>(outlet_); }
  void set_default_handler(std::function<void(Incoming&)> f) { default_handler_ = std::move(f); }
  void set_on_peer_death(std::function<void(Node&, NodeId)> f);
  void post(std::function<void(Node&)> f) {
    something_else_ = true;
    posts_.push_back(std::move(f));
  }

 private:
  friend class ::am::Node;

  enum class Handled { ran, taken, deferred };

  void join();
  void wait_for_all_to_join();
  void compare_programs() const;
  void run_no_more_handlers() noexcept;
  Status send_or_refuse(const impl::OutMessage& message, bool wait);
  Status send_row(const impl::OutMessage& message, bool wait);
  Status wait_for_room(Priority priority, const std::function<Status()>& attempt);
  void must_be_owner() const;
  void must_not_wait(Priority priority) const;
  Status send_lent_row(const impl::OutMessage& message);
  bool push_rows();
  void reserve(NodeId to, Priority priority, bool reserved);
  void reserve_line(NodeId to, Priority priority, bool reserved) noexcept;
  Status refused(NodeId to, Priority priority) noexcept;
  void count_sent(NodeId to, Priority priority, std::uint64_t bytes) noexcept;

  std::size_t poll_in_handler();
  std::size_t do_something_else();
  std::size_t poll_shared_memory();
  std::size_t poll_network();
  void look_around();
  template <class Net>
  std::size_t run_rare_events(Net& network, std::size_t ran_before);
  template <class Net>
  std::size_t run_high(Net& network);
  template <class Net>
  std::size_t run_low(Net& network);
  [[nodiscard]] bool message_waits(Priority priority) noexcept;
  [[nodiscard]] bool timelet_due() const noexcept { return !timelets_.empty() && timelets_.next() <= now(); }
  bool run_timelet();
  bool run_outlet();
  std::size_t tell_of_deaths();
  std::size_t run_posts();
  template <Priority P, class Net>
  Handled handle(Net& network, Transport::View view);
  template <Priority P>
  void run_handler(impl::HandlerId id, const impl::Packet& packet, Payload payload);
  void count_received(const Transport::View& view, Priority priority, std::uint64_t bytes) noexcept;
  Handled handle_unusual(const Transport::View& view);
  [[noreturn]] void unknown_handler(impl::HandlerId id, const impl::Packet& packet) const;
  [[nodiscard]] bool well_formed(const Transport::View& view) const noexcept;
  void check(const Transport::View& view, Assembler::Outcome outcome) const;
  [[noreturn]] void corrupt(const Transport::View& view, const char* how) const noexcept;
  /// Sends a multicast packet on to the subtrees below this node; false while one of them is full. Takes the member list
  /// off the payload.
  bool forward(const Transport::View& view, Payload& payload);
  void look_at_life_locks();
  void peer_is_gone(NodeId peer, bool died);

  Job job_;
  const Settings settings_;
  const HandlerTable& table_;
  const std::span<const HandlerTable::Row> handlers_;
  const std::uint64_t epoch_ns_;
  Node* node_ = nullptr;
  shm::HandlerCounts* handler_counts_;
  shm::ShmTransport shm_;
  std::unique_ptr<Transport> decorator_;  // the fault plan's, around shm_
  Transport* network_;
  const bool direct_;  // no decorator: the inline path writes the rings itself
  std::unique_ptr<impl::Producer[]> never_connected_;  // what Node's inline path sees when it is not direct

  Outgoing outgoing_;
  Assembler assembler_;
  Timelets timelets_;
  std::function<void(LowEvent&)> outlet_;
  std::function<void(Incoming&)> default_handler_;
  std::function<void(Node&, NodeId)> on_peer_death_;
  std::deque<std::function<void(Node&)>> posts_;
  bool posting_ = false;              // one of them runs
  std::deque<NodeId> untold_deaths_;  // for on_peer_death_
  bool something_else_ = false;       // one question per poll: may any of the above have something?
  GlobalMemory memory_;
  std::unique_ptr<CollectiveState> collectives_;

  struct Refused {
    bool active = false;
    NodeId to = 0;
  };
  Refused refused_[2];  // by priority: the last send that was answered `again`, until there is room

  std::unordered_map<std::uint64_t, std::size_t>
      forwarded_;  // deferred multicasts: how many subtrees have them
  std::vector<std::byte> multicast_buffer_;

  // The message whose handler runs, by priority, for reports and registers. The high one counts on the high level only.
  const impl::Packet* handled_[2] = {};
  std::size_t handled_payload_[2] = {};  // of a message that is not a short one
  CompareRegister compare_register_;
  std::uint32_t polls_ = 0;
  std::uint32_t deaths_seen_ = 0;
  std::uint64_t looked_after_ns_ = 0;
  NodeId looked_after_ = 0;     // the peer whose life lock is looked at next
  std::vector<bool> gone_;      // dead or left, as far as this node has noticed
  std::vector<bool> suspects_;  // under amrun: had no life lock at the last look
  bool oversubscribed_ = false;
  bool left_ = false;
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace am::core
