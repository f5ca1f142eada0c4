// Engine: what stands behind a Node. It owns the node's place in the job, its networks, its events and what waits to be
// sent; the public Node keeps only what the inline path of a short message touches.
//
// Its functions are spread by subject over files of their own:
//   engine.cpp, leaving.cpp        from the job to a node and back
//   messages/sending.cpp           sends that wait, drafts
//   messages/multicast.cpp         sends to groups and lists
//   events/dispatch.cpp            poll: what may run now, in which order, and why nothing deadlocks
//   events/unusual.cpp             packets that are not simply words for a handler
//   events/kept_messages.cpp       messages that the program keeps while it runs no handlers
//   events/agenda.cpp              timelets, the outlet, posted work, and what is to be done about deaths
//   events/pending.cpp             what waits, and what runs
//   events/waiting.cpp             spin, yield, sleep; deadlines; how the node is armed
//   forked_child.cpp               children of this process are not the node
// What can be stepped without a node is not here, but a part of it with tests of its own: Joining, JoinedNetworks, Sender,
// MulticastSender, Forwarding, Assembler, Membership, Relay, Attendant, Agenda, Recorder, DescriptorWatch.
// Used by whoever is in the node (impl::EventLock): its own thread, in a library call, or its events.
#pragma once

#include <am/events.hpp>
#include <am/node.hpp>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/events/agenda.hpp"
#include "core/events/glances.hpp"
#include "core/events/handler_table.hpp"
#include "core/events/kept_messages.hpp"
#include "core/job/job.hpp"
#include "core/membership/launcher_watch.hpp"
#include "core/membership/membership.hpp"
#include "core/membership/relay.hpp"
#include "core/memory/global_memory.hpp"
#include "core/messages/forwarding.hpp"
#include "core/messages/fragments.hpp"
#include "core/messages/joined_networks.hpp"
#include "core/messages/multicast_sender.hpp"
#include "core/messages/sender.hpp"
#include "core/modes/attendant.hpp"
#include "core/modes/event_memory.hpp"
#include "core/node/forked_child.hpp"
#include "core/node/joining.hpp"
#include "core/reports/fatal.hpp"
#include "core/reports/onlooker.hpp"
#include "core/reports/recorder.hpp"
#include "core/reports/undelivered.hpp"
#include "core/reports/watchdog.hpp"
#include "core/settings/settings.hpp"
#include "host/job_clock.hpp"
#include "transports/lookout.hpp"

namespace am::core {

class CollectiveState;
class Streams;

class Engine final : Sender::Owner, Attendant::Ward, Destinations {
 public:
  static constexpr std::size_t requests_per_poll = 64;
  static constexpr std::uint64_t timing_sample = 64;  ///< one run in so many is timed

  /// Joins: fills the node's card, waits for the others, checks that all run the same program. Throws am::Error.
  Engine(Job job, const Settings& settings);
  ~Engine() override;

  /// The Node that this engine stands behind; before anything else.
  void attach(Node& node);
  void leave() noexcept;
  /// Leaves because the program is about to end. Objects that are older than the node are destroyed after this, and may know it: its use ends
  /// the program, with a message (must_not_be_a_child); what only tells of the node and its job still does. On another thread than the
  /// node's, while that one goes on, it only says that the node cannot leave.
  void retire() noexcept;
  /// The program ends by an error, which it tells of itself: what it leaves undone is no news.
  void ends_badly() noexcept { ends_badly_ = true; }

  // sending (sending.cpp)
  Status send(const impl::OutMessage& message, bool wait);
  [[nodiscard]] Sender& sender() noexcept { return sender_; }
  void ring_doorbell(NodeId to, Priority priority) noexcept override { shm().ring_doorbell(to, priority); }
  /// A place for a draft. For a payload within one packet it is a slot: nothing else goes to that peer and priority until
  /// commit_draft or Sender::drop. For a longer one it is memory of the network, if that has any (else too_big), for commit_lent
  /// or to be given back to it.
  Transport::Slot claim_draft(const impl::OutMessage& message, std::size_t payload_bytes, bool wait);
  void commit_draft(const Transport::Slot& slot, const impl::OutMessage& message) noexcept;
  /// Once it answers ok, the memory is the network's.
  Status commit_lent(const Transport::Slot& lent, const impl::OutMessage& message, bool wait);
  Status multicast(const impl::OutMessage& message, std::span<const NodeId> members, bool wait);
  class OwnSend;  // own_send.hpp

  // events (dispatch.cpp, pending.cpp)
  std::size_t poll();
  std::size_t poll_replies();
  /// What a low handler that waits may let run: high events, nothing else.
  std::size_t serve_high();
  /// Runs the handler that the message names, on the level that is entered already. Also for the default handler, which may
  /// want that.
  void run_handler(const impl::Arrival& message);
  /// Takes in what has come, where it has to be fetched, so that pending() knows of it. Runs nothing.
  void look_into_networks() noexcept;
  [[nodiscard]] bool pending(Event kind) noexcept;
  [[nodiscard]] bool may_run(Event kind) const noexcept { return node_->events_.may_run(kind); }

  /// As am::MessagesKept says. Nests.
  void keep_messages(bool keep) noexcept;
  /// From here on nothing runs beside the computation.
  void poll_only();
  /// Events beside the computation.
  [[nodiscard]] Attendant& attendant() noexcept { return attendant_; }
  /// Puts `f` in the place of a function that may be running.
  template <class A>
  void replace(Shared<A>& place, std::function<void(A&)> f) {
    Shared<A> made;
    if (f) {
      made = std::allocate_shared<std::function<void(A&)>>(
          std::pmr::polymorphic_allocator<std::function<void(A&)>>(memory_for_events_.get()), std::move(f));
    }
    std::swap(place, made);
    if (made) attendant_.discard(std::move(made));
  }

  // waiting (waiting.cpp)
  [[nodiscard]] Glances& glances() noexcept { return glances_; }
  /// Sleeps until something that is wanted may have come, a send that was answered `again` may succeed, there is news on the
  /// board, or `until`, a Count. May return early for no reason.
  void sleep(Count until, Transport::Wanted wanted) noexcept;
  void wait(const std::function<bool()>& pred, const char* what);
  /// What may not run here now, as a word for the node's card (card_words.hpp).
  [[nodiscard]] std::uint32_t held_off() const noexcept;
  /// There is something for the end of a poll: a row, or what RemotePuts::push sends.
  void more_waits_to_be_sent() noexcept;
  /// Ends the program when a handler, or a forked child, calls what waits for others (barrier.cpp).
  void must_compute(const char* operation) const;

  // forked children (forked_child.cpp)
  /// In a forked child: takes the node away from it.
  void disown() noexcept;
  /// Ends one that uses it all the same; and a program that does when the node has left.
  void must_not_be_a_child() const noexcept {
    if (disowned_) [[unlikely]]
      end_stranger();
  }

  /// Takes note of who has gone (Membership::look), and closes the links to them.
  void look_after_peers(bool thoroughly);
  /// `source` did what no node of this library does. Ends this node, where it is on the same host: they share memory, so there
  /// is nothing left to rely on. One on another host counts as lost, and whatever comes from it is dropped from now on.
  template <class... T>
  void distrust(NodeId source, const T&... how) {
    if (board().is_here(source)) broken(job_.id, how...);
    if (cut_off_[source]) return;
    cut_off_[source] = true;
    forwarding_.forget(source);
    say_last(job_.id, how..., "; it is on another host (", board().card(source).host,
             ") and counts as lost from now on");
    relay_.lost(source);
  }
  [[nodiscard]] const Membership& membership() const noexcept { return membership_; }
  [[nodiscard]] Relay& relay() noexcept { return relay_; }

  [[nodiscard]] const Job& job() const noexcept { return job_; }
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] Node& node() noexcept { return *node_; }
  [[nodiscard]] const host::Board& board() const noexcept { return job_.memory->board(); }
  [[nodiscard]] host::NodeCard& card() const noexcept { return board().card(job_.id); }
  [[nodiscard]] const Onlooker& onlooker() const noexcept { return onlooker_; }
  [[nodiscard]] Transport& network() noexcept { return networks_.all(); }
  [[nodiscard]] const NetworkOfPeers& networks() const noexcept { return chosen_; }
  [[nodiscard]] GlobalMemory& memory() noexcept { return memory_; }
  [[nodiscard]] CollectiveState& collectives() noexcept { return *collectives_; }
  [[nodiscard]] Streams& streams() noexcept { return *streams_; }
  /// They have something to do in polls.
  void streams_want_looks() noexcept { something_else_ = true; }
  [[nodiscard]] const HandlerTable& table() const noexcept { return table_; }
  [[nodiscard]] std::pmr::memory_resource* memory_for_events() noexcept { return memory_for_events_.get(); }
  /// More nodes than cores to run them on: then spinning only keeps others from running.
  [[nodiscard]] bool oversubscribed() const noexcept { return oversubscribed_; }
  [[nodiscard]] Count now() const noexcept { return clock_.now(); }
  [[nodiscard]] const host::JobClock& clock() const noexcept { return clock_; }
  [[nodiscard]] std::string_view running_handler() const noexcept;
  /// The message whose handler runs: no packet in the computation and in other events.
  struct Handling {
    const impl::Packet* packet = nullptr;
    std::size_t payload_bytes = 0;
  };
  [[nodiscard]] Handling handled() const noexcept;
  [[nodiscard]] CompareRegister& compare_register() noexcept { return agenda_.compare; }

  // what the program asked for
  TimeletId add_timelet(Count when, Timelets::Function f);
  bool cancel_timelet(TimeletId id);
  void set_outlet(std::function<void(LowEvent&)> f);
  void post(std::function<void(Node&)> f);
  [[nodiscard]] const Agenda& agenda() const noexcept { return agenda_; }
  void set_default_handler(std::function<void(Incoming&)> f) {
    replace(agenda_.default_handler, std::move(f));
  }
  void set_on_peer_death(std::function<void(Node&, NodeId)> f);

 private:
  friend class ::am::Node;

  enum class Handled { ran, taken, deferred };
  class LowLevel;  // events/levels.hpp
  class HighLevel;

  [[nodiscard]] shm::ShmTransport& shm() noexcept { return networks_.shm(); }
  void watch_launcher();
  void run_no_more_handlers() noexcept;
  [[nodiscard]] bool leaves_in_order() const noexcept;
  Status wait_to_send(const impl::OutMessage& message);
  Status send_row(const impl::OutMessage& message);
  Status send_to_all(const impl::OutMessage& message, std::span<const NodeId> members, bool wait);
  template <class F>
  Status wait_for_room(Priority priority, F attempt);
  template <class F>
  Status try_until_room(Priority priority, F attempt);
  void must_be_owner() const;
  void must_not_wait(Priority priority) const;
  void room_is_wanted() noexcept override;
  void row_begins() noexcept override;

  std::size_t poll_with_others_calm();
  std::size_t poll_with_events_held_off();
  std::size_t poll_in_handler();
  std::size_t serve_high_in_handler();
  std::size_t do_something_else();
  std::size_t poll_shared_memory();
  [[gnu::noinline]] std::size_t poll_shared_memory_aside();
  std::size_t poll_network();
  void progress() noexcept;
  [[nodiscard]] static bool high_waits(shm::ShmTransport& network) noexcept;
  [[nodiscard]] bool high_waits(Transport& network) noexcept;
  void look_around();
  template <class Net>
  std::size_t run_rare_events(Net& network, std::size_t ran_before);
  template <class Net>
  [[gnu::always_inline]] std::size_t run_high_from(Net& network, Transport::View view);
  template <class Net>
  [[gnu::always_inline]] std::size_t run_low_from(Net& network, Transport::View view);
  template <class Net>
  [[gnu::noinline]] std::size_t run_high(Net& network);
  template <class Net>
  [[gnu::noinline]] std::size_t run_low(Net& network);
  [[nodiscard]] bool message_waits(Priority priority) noexcept;
  [[nodiscard]] bool timelet_due() const noexcept {
    return !agenda_.timelets.empty() && agenda_.timelets.next() <= now();
  }
  template <class F>
  void run_rare_event(RecordedEvent which, const F& f);
  bool run_timelet();
  bool run_outlet();
  std::size_t tell_of_deaths();
  std::size_t run_posts();
  template <class Net>
  struct Lane;  // dispatch.cpp
  template <Priority P, class Net>
  Handled handle(Net& network, const Transport::View& view);
  template <Priority P, class What, class Net>
  void run_and_release(Net& network, const impl::Packet* packet, impl::Header head, NodeId from,
                       bool multicast, NodeId source, Lane<Net> lane, Payload payload);
  template <Priority P, class Net>
  [[gnu::noinline]] Handled handle_with_payload(Net& network, const impl::Packet* packet, impl::Header head,
                                                NodeId source, Lane<Net> lane);
  /// What else says to be a multicast is its source's fault, whatever origin it names. libam's own handlers get none.
  template <Priority P>
  [[nodiscard]] bool may_be_multicast(impl::HandlerId id, NodeId origin) const noexcept {
    return origin < job_.size && id < handlers_.size() && handlers_[id].priority == P &&
           !handlers_[id].internal;
  }
  template <Priority P, class Net>
  [[gnu::noinline]] Handled handle_unusual(Net& network, const impl::Packet* packet, impl::Header head,
                                           NodeId source, Lane<Net> lane);
  template <Priority P>
  [[gnu::noinline]] void run_observed(void* message, const impl::Packet& packet, Payload payload,
                                      const RecordedEvent& event);
  template <Priority P>
  void run_handler(impl::Header head, const impl::Packet& packet, NodeId from, Payload payload,
                   bool multicast);
  /// Only nodes of other hosts are ever cut off.
  [[nodiscard]] bool is_cut_off(const shm::ShmTransport& /*network*/, NodeId /*source*/) const noexcept {
    return false;
  }
  [[nodiscard]] bool is_cut_off(const Transport& /*network*/, NodeId source) const noexcept {
    return !cut_off_.empty() && cut_off_[source];
  }
  void count_received(NodeId source, Priority priority, std::uint64_t bytes) noexcept {
    impl::Traffic& traffic = node_->traffic_[impl::link_index(source, priority)];
    impl::count(traffic.received_messages);
    impl::count(traffic.received_bytes, bytes);
  }
  Handled take_unusual(const Transport::View& view);
  /// A leaving node takes of each peer what was under way when it began to; what is sent since stays in the network, or a node that is flooded
  /// would not leave.
  template <class Take>
  Handled in_leaving(const Transport::View& view, Take take) {
    std::uint64_t& taken = taken_in_leaving_[view.source];
    if (is_all_that_was_there(taken)) return Handled::deferred;
    const Handled handled = take();
    const bool has_payload = view.head.has(impl::flag::payload);
    if (handled != Handled::deferred)
      taken += impl::line_bytes + (has_payload ? impl::read_once(view.packet->payload_bytes) : 0);
    return handled;
  }
  /// No network has more of a peer's bytes under way, a line counted for each message: rings and chunks of shared memory have room for a
  /// little more than 5 MiB of both priorities, the windows of the others for less.
  static bool is_all_that_was_there(std::uint64_t taken) noexcept { return taken >= std::uint64_t{6} << 20; }
  void run_default_handler(const impl::Arrival& message);
  void run_handler_or_default(const impl::Arrival& message);
  // kept_messages.cpp
  void keep(const impl::Arrival& message) noexcept;
  [[nodiscard]] bool kept_wait() const noexcept { return keeping_ == 0 && !kept_.empty(); }
  void run_kept(Priority priority);
  std::size_t run_kept_replies();
  std::size_t run_kept();
  void drop_kept() noexcept;
  void choose_way() noexcept;
  void unknown_handler(impl::HandlerId id, NodeId source);
  Handled add_piece(const Transport::View& view, Payload piece);
  /// Drops a packet that its sender cannot have meant; does not return where that is on this host.
  Handled corrupt(const Transport::View& view, const char* how);
  /// Of puts, gets and streams, whose handlers see that the data are there; where these still run.
  [[nodiscard]] std::byte* destination(const Coming& message) noexcept override;
  void moved(const MemoryReach::Move& move, Payload fetched) noexcept override {
    if (!left_) memory_.remote().moved(move, fetched);
  }
  // as the attendant's ward (waiting.cpp; run_events: dispatch.cpp)
  void events_begin() override;
  std::size_t run_events() noexcept override;
  [[nodiscard]] bool more_waits(Lookout& lookout, std::size_t ran) noexcept override;
  [[nodiscard]] bool arm(host::Alarm alarm) noexcept override { return arm(alarm, wanted()); }
  void disarm() noexcept override;
  [[nodiscard]] bool computes() const noexcept override {
    return node_->events_.level == impl::Level::computation;
  }
  [[nodiscard]] Count next_due() noexcept override;
  [[nodiscard]] bool outlet_may_run() noexcept override {
    return agenda_.outlet && may_run(Event::outlet) && sender_.available(Priority::low) &&
           sender_.available(Priority::high);
  }
  void look_after_peers() noexcept override;

  [[nodiscard]] Transport::Wanted wanted() const noexcept {
    return {.high = may_run(Event::high_message), .low = may_run(Event::low_message)};
  }
  [[nodiscard]] bool arm(host::Alarm alarm, Transport::Wanted wanted) noexcept;
  /// Nobody has rung, and the node has not begun to look at more than it is told of.
  [[nodiscard]] bool still_armed() noexcept;
  /// Ends each look into the networks: sends what is due, and sees to what it took in and left waiting. That rings no more, so
  /// whoever is to run it, or to arm the node, looks. Rings of events that are held off are among these: whoever lets them run again
  /// looks at what is armed then.
  void end_look() noexcept {
    must_not_be_a_child();  // an exception may have come out of the handler that forked
    network().flush();
    if (!attendant_.thread_serves() && !still_armed()) attendant_.look_again();
  }
  struct Look;  // dispatch.cpp
  void event_threw() const noexcept;

  void withdraw() noexcept;
  [[nodiscard]] bool is_ended_by_a_stranger() const noexcept;
  [[noreturn]] void end_stranger() const noexcept;

  Job job_;
  const Settings settings_;
  EventMemory memory_for_events_;
  const HandlerTable& table_;
  const std::span<const HandlerTable::Row> handlers_;
  const host::JobClock clock_;
  Node* node_ = nullptr;
  host::HandlerCounts* handler_counts_;
  const Recorder recorder_;
  const Onlooker onlooker_;
  Membership membership_;
  Relay relay_;
  host::Bell bell_;
  const NetworkOfPeers chosen_;
  Joining joining_;
  JoinedNetworks networks_;
  bool plain_;  // shared memory alone, and polling
  bool mixed_;  // shared memory and other networks, and polling
  Glances glances_;
  const std::uint64_t
      unobserved_;  // a mask: runs of a handler whose number has some of these bits are not observed

  Sender sender_;
  MulticastSender multicasts_;
  Forwarding forwarding_;
  Assembler assembler_;
  std::vector<bool> cut_off_;       // nodes whose messages are dropped (distrust); empty in a job of one host
  bool told_of_no_memory_ = false;  // for a long payload
  Agenda agenda_;
  KeptMessages kept_;
  int keeping_ = 0;
  bool something_else_ = false;  // one question per poll: may the agenda or the sender have something?
  GlobalMemory memory_;
  std::unique_ptr<CollectiveState> collectives_;
  std::unique_ptr<Streams> streams_;

  const HandledMessages handled_;        // for reports and registers, too
  std::size_t handled_payload_[2] = {};  // of one that has a payload

  /// Polls of a handler that ran nothing, since it began or one did.
  struct VainPolls {
    struct Run {  // of the handler: there is none other like it in one poll of the computation
      impl::Level level = impl::Level::computation;
      const impl::Packet* packet = nullptr;
      std::uint32_t polls = 0;
      bool operator==(const Run&) const = default;
    } run;
    impl::Patience patience;
  };
  VainPolls vain_polls_;

  Attendant attendant_;

  std::optional<Watchdog> watchdog_;
  std::optional<LauncherWatch> launcher_watch_;
  std::optional<KeptFromChildren> kept_from_children_;

  std::uint32_t polls_ = 0;
  bool oversubscribed_ = false;
  bool left_ = false;
  std::vector<std::uint64_t> taken_in_leaving_{};  // bytes, by source
  /// This is a forked child, or the node is retired; then who has left, and by whom, was written before.
  std::atomic<bool> disowned_ = false;
  Undelivered undelivered_;
  bool ends_badly_ = false;
  std::thread::id owner_ = std::this_thread::get_id();
  std::thread::id retired_by_{};
};

}  // namespace am::core
