// Which event runs now, and in which order.
//
// Source: T1 report, sections 3.4 and 3.5, appendix A.9 (order and nesting of events), A.2.6 (masks).
//
// Order. Replies first; then, one at a time and with a look at the replies before each, requests; a timelet only when no
// request waits; the outlet only when nothing else does. A poll runs a bounded number of them.
//
// Nesting. Computation may be interrupted by any event, a low event by a high one (only where it waits to send a reply; in
// the interrupt mode anywhere), a high event by nothing: two levels, no more. In polling mode an event runs only inside a
// library call; for the other modes see modes/attendant.hpp, which calls what stands here.
//
// Why nothing deadlocks. Call a message stuck when it is in a ring and is never taken out.
//  1. High rings drain: a high handler cannot wait (am::Reply has no waiting send, and a wait that gets here by a detour
//     ends the program). So it ends, and its ring's head is released. Every place that waits serves the high network:
//     the computation by poll(), a low handler by serve_high(). So, while a node is in the library, no high message to it
//     is stuck.
//  2. Low rings drain: a low handler can wait only for room in a high ring. By 1 that room comes if the receiver gets
//     into the library. So it ends, and its ring's head is released.
//  3. A multicast packet stays in its ring until the rings to whom this node passes it on have taken it (multicast.cpp), by the
//     network's own multicast all at once (multicast_sender.hpp). That makes one ring wait for others, but only for rings that
//     lead from a node to nodes of greater ids: no circle. Nor do several that are waited for at once hold each other up: none is
//     claimed before all have room, and what lies in one is taken out whatever the others do.
//  4. Memory for long payloads: a send waits for it only if some of it is under way on the very same link (Transport::claim),
//     and comes back with what is in that ring; else its payload goes in pieces.
//  5. Rows of pieces: a row holds its ring until all of it is sent. The receiver takes each piece out as it comes, into
//     memory; so by 1 or 2 the row ends. What its budget has no room for stays in its ring until another row of the same
//     priority ends; one row is always taken, so they end one after the other, while their senders are in the library. (A
//     whole one that is a multicast may have to be passed on first: as in 3, it waits for greater ids only.)
// What can still stand still: a node that never enters the library, or disables events for ever. The deadline of every
// wait reports it.
#include <am/error.hpp>
#include <string>

#include "core/events/levels.hpp"
#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"
#include "core/reports/job_watch.hpp"
#include "core/streams/streams.hpp"

namespace am::core {

namespace {
constexpr std::size_t replies_per_look = 256;
/// A packet lent by the network: given back, or left where it is, also when a handler throws.
template <class Net>
class Borrowed {
 public:
  Borrowed(Net& network, const Transport::View& view) noexcept : network_(network), view_(view) {}
  ~Borrowed() {
    if (deferred) {
      network_.defer(view_);
    } else {
      network_.release(view_);
    }
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  bool deferred = false;

 private:
  Net& network_;
  const Transport::View& view_;
};

/// Gives a packet back: what a network may be told of one that is a line and nothing else, and of any other.
struct Line {
  static void release(shm::ShmTransport& network, const Transport::View& view) noexcept {
    network.release_line(view.source, view.priority);
  }
  static void release(Transport& network, const Transport::View& view) noexcept { network.release(view); }
};
struct Whole {
  static void release(auto& network, const Transport::View& view) noexcept { network.release(view); }
};

/// For high handlers, which nothing preempts.
struct Nothing {
  Nothing(Attendant& /*attendant*/, bool /*yes*/) noexcept {}
};

/// The payload of a packet that is words and a payload, and nothing else; else empty.
Payload payload_at_hand(const shm::ShmTransport& network, const Transport::View& view) noexcept {
  if (!view.head.is_words_and_payload()) return {};
  return network.payload_of(view).value_or(Payload{});
}
Payload payload_at_hand(const Transport& /*network*/, const Transport::View& /*view*/) noexcept {
  return {};  // the network says where it is
}

}  // namespace

/// Which of its neighbour's queues a packet is in (Transport::View::lane). Shared memory has one at each priority, and nothing is
/// handed on.
template <class Net>
struct Engine::Lane {
  std::uint32_t lane;
  [[nodiscard]] std::uint32_t number() const noexcept { return lane; }
};
template <>
struct Engine::Lane<shm::ShmTransport> {
  explicit Lane(std::uint32_t /*lane*/) noexcept {}
  [[nodiscard]] static std::uint32_t number() noexcept { return 0; }
};

/// Until its end, also by an exception.
struct Engine::Look {
  Engine& engine;
  ~Look() { engine.end_look(); }
};

/// Where an exception leaves an event, while that still stands on the card.
void Engine::event_threw() const noexcept { came_out_of(job_.id, running_event(onlooker_, job_.id)); }

std::size_t Engine::poll() {
#ifdef AM_CHECKED
  must_be_owner();
#endif
  if (!plain_) [[unlikely]]
    return mixed_ ? poll_with_others_calm() : poll_with_events_held_off();
  if (node_->events_.level != impl::Level::computation) [[unlikely]]
    return poll_in_handler();
  const std::size_t ran = poll_shared_memory();
  if (something_else_) [[unlikely]]
    return ran + do_something_else();
  return ran;
}

/// Shared memory alone, as long as the other networks have nothing to do but to be looked at, and that is not due.
std::size_t Engine::poll_with_others_calm() {
  const bool otherwise = something_else_ || node_->events_.level != impl::Level::computation;
  if (otherwise || !networks_.others_are_calm() || glances_.is_due()) return poll_with_events_held_off();
  std::size_t ran = poll_shared_memory();
  if (ran == 0 && !something_else_) [[likely]]
    return 0;
  glances_.ran(ran);
  if (something_else_) ran += do_something_else();
  if (!networks_.others_are_calm()) network().flush();  // what handlers have sent there
  return ran;
}

/// The same in the other modes, and over other networks.
std::size_t Engine::poll_with_events_held_off() {
  must_not_be_a_child();
  const impl::Hold hold(*node_);
  if (node_->events_.level != impl::Level::computation) return poll_in_handler();
  const Look look{*this};
  if (node_->shared_) {
    attendant_.throw_kept();
    attendant_.begin();
    attendant_.drop_discarded();
  }
  std::size_t ran = kept_wait() ? run_kept() : 0;
  if (ran < requests_per_poll) ran += networks_.only_shm() ? poll_shared_memory_aside() : poll_network();
  if (something_else_) ran += do_something_else();
  return ran;
}

std::size_t Engine::poll_shared_memory_aside() { return poll_shared_memory(); }

/// Most polls find nothing: they look at the busy rings and three words, and that is all.
[[gnu::always_inline]] inline std::size_t Engine::poll_shared_memory() {
  if ((++polls_ & 63) == 0) [[unlikely]]
    look_around();
  std::size_t ran = 0;
  const impl::EventState& events = node_->events_;
  if (const Transport::View first = shm().look(Priority::high)) {
    if (events.is_usual() || events.may_run(Event::high_message)) ran = run_high_from(shm(), first);
  }
  if (const Transport::View first = shm().look(Priority::low)) {
    if (events.is_usual() || events.may_run(Event::low_message)) ran += run_low_from(shm(), first);
  }
  if (something_else_) [[unlikely]]
    ran += run_rare_events(shm(), ran);
  if (ran == 0) shm().use_idle_moment();
  return ran;
}

/// Not in the child of an event that has forked, and returned in both: it has its parent's sockets.
void Engine::progress() noexcept {
  must_not_be_a_child();
  network().progress();
}

/// Whether to look at the high network: between two requests, or while a handler waits. Takes note of what came.
inline bool Engine::high_waits(shm::ShmTransport& network) noexcept {
  return static_cast<bool>(network.look(Priority::high));
}

bool Engine::high_waits(Transport& network) noexcept {
  progress();
  return !network.is_empty();
}

std::size_t Engine::poll_network() {
  if ((++polls_ & 1023) == 0) look_after_peers(false);
  progress();
  std::size_t ran = 0;
  if (!network().is_empty()) {
    ran = run_high(network());
    ran += run_low(network());
  }
  if (something_else_) ran += run_rare_events(network(), ran);
  must_not_be_a_child();  // as in progress()
  return ran;
}

/// What may run now: everything in the computation, high events in a low handler.
std::size_t Engine::run_events() noexcept {
  try {
    if (node_->events_.level == impl::Level::low) {
      const std::size_t ran = serve_high();
      if (ran != 0) vain_polls_ = {};  // what a handler polls for may come this way
      return ran;
    }
    if (node_->events_.level == impl::Level::high) return 0;
    look_after_peers(false);
    const std::size_t pushed = !sender_.idle() && sender_.push() ? 1 : 0;
    std::size_t ran = kept_wait() ? run_kept() : 0;
    if (ran < requests_per_poll) ran += networks_.only_shm() ? poll_shared_memory_aside() : poll_network();
    must_not_be_a_child();  // an event that forked has returned in both
    memory_.remote().push_what_is_due();
    network().flush();
    return pushed + ran;
  } catch (...) {
    attendant_.keep_thrown();
    return 1;
  }
}

/// What one poll in 64 does besides.
void Engine::look_around() {
  shm().look_after_quiet_rings();
  if ((polls_ & 1023) == 0) look_after_peers(false);
}

/// What a handler polls for may be an event that cannot run while it does: then it polls for ever. That is told of, and ends,
/// as every wait.
std::size_t Engine::poll_in_handler() {
#ifdef AM_CHECKED
  broken(job_.id, "poll inside handler ", running_handler(),
         ": events do not nest by hand (post the work instead)");
#else
  return serve_high_in_handler();
#endif
}

std::size_t Engine::poll_replies() {
#ifdef AM_CHECKED
  must_be_owner();
#endif
  must_not_be_a_child();
  const impl::Hold hold(*node_);
  if (node_->events_.level != impl::Level::computation) return serve_high_in_handler();
  const Look look{*this};
  const std::size_t ran = serve_high();
  // Who polls for a reply, or for room, may wait for one that has gone.
  if (ran == 0 && (++polls_ & 1023) == 0) look_after_peers(true);
  return ran;
}

std::size_t Engine::serve_high_in_handler() {
  const impl::Level level = node_->events_.level;
  const std::size_t ran = level == impl::Level::low ? serve_high() : 0;
  const VainPolls::Run run{level, handled_[level == impl::Level::high ? 1 : 0], polls_};
  if (ran != 0 || run != vain_polls_.run) {
    vain_polls_ = {run, {}};
  } else {
    look_after_peers(
        true);  // what it polls for, or has no room, may never come: a reply to one that has gone
    vain_polls_.patience.try_again(*this,
                                   "polls that run nothing, as events do not nest (post the work instead)");
  }
  return ran;
}

/// What few nodes have: long messages under way, posted work. (Timelets and the outlet are events: run_rare_events.)
std::size_t Engine::do_something_else() {
  must_not_be_a_child();  // an event that forked has returned in both
  std::size_t did = sender_.push() ? 1 : 0;
  did += tell_of_deaths();
  did += run_posts();
  did += streams_->look_again();
  RemoteMemory& memory = memory_.remote();
  memory.push();
  something_else_ = !sender_.idle() || !agenda_.empty() || memory.any() || streams_->wants_looks();
  return did;
}

std::size_t Engine::serve_high() {
  if (!sender_.idle()) sender_.push();  // what the handler waits to send may have to wait behind one
  const std::size_t kept = kept_wait() ? run_kept_replies() : 0;
  if (networks_.only_shm()) return kept + (high_waits(shm()) ? run_high(shm()) : 0);
  return kept + (high_waits(network()) ? run_high(network()) : 0);
}

template <Priority P>
[[gnu::always_inline]] inline void Engine::run_handler(impl::Header head, const impl::Packet& packet,
                                                       NodeId from, Payload payload, bool multicast) {
  const impl::HandlerId id = head.handler();
  if (id >= handlers_.size() || handlers_[id].priority != P) [[unlikely]]
    return unknown_handler(id, from);
  handled_.set(P, packet);
  using Message = std::conditional_t<P == Priority::low, Request, Reply>;
  Message message(*node_, from, multicast);
  std::atomic<std::uint64_t>& runs = handler_counts_[id].runs;
  const std::uint64_t before = runs.load(std::memory_order_relaxed);
  if ((before & unobserved_) != 0) [[likely]] {
    runs.store(before + 1, std::memory_order_relaxed);
    try {
      handlers_[id].run(&message, packet, payload);
    } catch (...) {
      event_threw();
      throw;
    }
  } else {
    run_observed<P>(&message, packet, payload,
                    RecordedEvent::of_message(P, id, from, head.words() * 8 + payload.size()));
  }
}

/// A handler that is recorded, or timed, or that interrupts may come into.
template <Priority P>
void Engine::run_observed(void* message, const impl::Packet& packet, Payload payload,
                          const RecordedEvent& event) {
  const HandlerTable::Row& handler = handlers_[event.handler];
  host::HandlerCounts& counts = handler_counts_[event.handler];
  const bool timed = counts.runs.load(std::memory_order_relaxed) % timing_sample == 0;
  impl::count(counts.runs);
  const Recorder::Running running(recorder_, level_of(P), event);
  try {
    [[maybe_unused]] std::conditional_t<P == Priority::low, Attendant::Interruptible, Nothing> interruptible(
        attendant_, !handler.internal);
    const Count began = timed ? now() : 0;
    handler.run(message, packet, payload);
    if (timed) {
      impl::count(counts.sampled_ns, now() - began);
      impl::count(counts.sampled_runs);
    }
  } catch (...) {
    event_threw();
    throw;
  }
}

/// Runs what a packet asks for and gives its place back, or leaves it where it is for now. Most are words for a handler, and
/// only those are run here: what others need would have to be saved meanwhile, and is stored before the handler's reply,
/// which a processor hands out behind all earlier stores. For that reason packets are handed on by their parts, too.
template <Priority P, class Net>
[[gnu::always_inline]] inline Engine::Handled Engine::handle(Net& network, const Transport::View& view) {
  const auto& [packet, head, source, priority, number] = view;
  const Lane<Net> lane{number};
  if (!head.is_words()) return handle_with_payload<P>(network, packet, head, source, lane);
  const bool multicast = head.has(impl::flag::multicast);
  NodeId from = source;
  if (multicast) {
    from = impl::read_once(packet->origin);
    if (!may_be_multicast<P>(head.handler(), from)) [[unlikely]]
      return handle_unusual<P>(network, packet, head, source, lane);
  }
  if (!node_->events_.ame || is_cut_off(network, source)) [[unlikely]]
    return handle_unusual<P>(network, packet, head, source, lane);
  run_and_release<P, Line>(network, packet, head, from, multicast, source, lane, {});
  return Handled::ran;
}

/// The same for a packet with words and a payload, or with anything else.
template <Priority P, class Net>
Engine::Handled Engine::handle_with_payload(Net& network, const impl::Packet* packet, impl::Header head,
                                            NodeId source, Lane<Net> lane) {
  const Payload payload = payload_at_hand(network, Transport::View{packet, head, source, P, lane.number()});
  if (payload.empty() || !node_->events_.ame) return handle_unusual<P>(network, packet, head, source, lane);
  handled_payload_[static_cast<std::size_t>(P)] = payload.size();
  run_and_release<P, Whole>(network, packet, head, source, false, source, lane, payload);
  return Handled::ran;
}

template <Priority P, class What, class Net>
[[gnu::always_inline]] inline void Engine::run_and_release(Net& network, const impl::Packet* packet,
                                                           impl::Header head, NodeId from, bool multicast,
                                                           NodeId source, Lane<Net> lane, Payload payload) {
  try {
    run_handler<P>(head, *packet, from, payload, multicast);
  } catch (...) {
    count_received(source, P, head.words() * 8 + payload.size());
    What::release(network, Transport::View{packet, head, source, P, lane.number()});
    throw;
  }
  count_received(source, P, head.words() * 8 + payload.size());
  What::release(network, Transport::View{packet, head, source, P, lane.number()});
}

template <Priority P, class Net>
Engine::Handled Engine::handle_unusual(Net& network, const impl::Packet* packet, impl::Header head,
                                       NodeId source, Lane<Net> lane) {
  const Transport::View view{packet, head, source, P, lane.number()};
  Borrowed<Net> borrowed(network, view);
  const auto take = [&] { return is_cut_off(network, source) ? Handled::taken : take_unusual(view); };
  const Handled handled = left_ ? in_leaving(view, take) : take();
  borrowed.deferred = handled == Handled::deferred;
  return handled;
}

/// The end of the fixed order of A.9: timelets when no message waits, the outlet when no timelet does either. `ran` is
/// what this poll has run already.
template <class Net>
std::size_t Engine::run_rare_events(Net& network, std::size_t ran_before) {
  if (ran_before >= requests_per_poll) return 0;
  std::size_t ran = 0;
  while (agenda_.outlet || timelet_due()) {
    must_not_be_a_child();  // an event that forked has returned in both
    network
        .progress();  // what the events so far have sent to this node, from whichever neighbour, goes first
    const std::size_t before = ran;
    ran += run_high(network);
    ran += run_low(network);
    if (ran >= requests_per_poll) return ran;
    if (ran != before) continue;
    if (run_timelet()) {
      ++ran;
    } else {
      return ran + (run_outlet() ? 1 : 0);
    }
  }
  return ran;
}

/// Replies, which may run now, at one stretch on the high level: EE is cleared before the first and set after the last.
template <class Net>
[[gnu::always_inline]] inline std::size_t Engine::run_high_from(Net& network, Transport::View view) {
  const impl::EventState& events = node_->events_;
  const HighLevel level(*this);
  std::size_t ran = 0;
  do {
    if (handle<Priority::high>(network, view) != Handled::deferred) ++ran;
    if (ran == replies_per_look || !events.masked_in(Event::high_message)) break;
    view = network.receive(Priority::high);
  } while (view);
  return ran;
}

/// Requests, which may run now, up to the bound of a poll, at one stretch on the low level: LPEE is cleared before the first
/// and set after the last. A piece of a long payload counts as one.
template <class Net>
[[gnu::always_inline]] inline std::size_t Engine::run_low_from(Net& network, Transport::View view) {
  impl::EventState& events = node_->events_;
  const LowLevel level(*this);
  std::size_t ran = 0;
  do {
    // After a deferred one no new round begins, which would bring it again at once.
    if (handle<Priority::low>(network, view) != Handled::deferred) {
      ++ran;
      handled_.clear(Priority::low);
      events.next_low();
      if (high_waits(network)) run_high(network);
      // The handler may have masked or disabled what comes next.
      if (ran == requests_per_poll || !events.ee || !events.masked_in(Event::low_message)) break;
    }
    view = network.receive(Priority::low);
  } while (view);
  return ran;
}

template <class Net>
std::size_t Engine::run_high(Net& network) {
  if (!node_->events_.may_run(Event::high_message)) return 0;
  const Transport::View first = network.receive(Priority::high);
  return first ? run_high_from(network, first) : 0;
}

template <class Net>
std::size_t Engine::run_low(Net& network) {
  if (!node_->events_.may_run(Event::low_message)) return 0;
  const Transport::View first = network.receive(Priority::low);
  return first ? run_low_from(network, first) : 0;
}

void Engine::run_handler(const impl::Arrival& message) {
  const bool multicast = message.head.has(impl::flag::multicast);
  if (message.priority == Priority::low) {
    run_handler<Priority::low>(message.head, *message.packet, message.from, message.payload, multicast);
  } else {
    run_handler<Priority::high>(message.head, *message.packet, message.from, message.payload, multicast);
  }
}

}  // namespace am::core
