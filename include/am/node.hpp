// Node: one member of a job. Sends, polls, waits. The way of a short message starts in send_() below and ends in
// Node::poll (src/core/events/dispatch.cpp) of the receiver.
//
// A Node belongs to one thread: the one that am::start or am::run_threads gave it to. Every member is called by that
// thread only, and by the node's handlers, wherever they run; a checked build (AM_CHECKED) looks.
//
// Progress: poll, wait_until, barrier and the other collectives, and every send that waits. In the polling mode nothing
// else runs handlers. In the handler-thread and interrupt modes (am::Dispatch) they run at any time from the first of
// these calls on, except inside a library call or an am::CriticalSection; posted work always waits for one of these calls.
#pragma once

#include <am/error.hpp>
#include <am/handler.hpp>
#include <am/impl/check_send.hpp>
#include <am/impl/event_lock.hpp>
#include <am/impl/event_state.hpp>
#include <am/impl/link.hpp>
#include <am/impl/needed_peer.hpp>
#include <am/impl/out_message.hpp>
#include <am/impl/peer_segment.hpp>
#include <am/impl/ring.hpp>
#include <am/impl/same_build.hpp>
#include <am/impl/traffic.hpp>
#include <am/impl/type_tag.hpp>
#include <am/impl/waiter.hpp>
#include <am/message.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#pragma push_macro("Status")  // types.hpp
#undef Status

namespace am {

namespace core {
class Engine;
}
class CriticalSection;
class Draft;
class Incoming;
class MessagesKept;
class Registers;
namespace impl {
struct GlobalAccess;
struct LineAccess;

/// The node whose events run on this thread, where that is not the node's own (a handler thread); null elsewhere.
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern thread_local constinit Node* events_of_this_thread;

/// This thread is in the node, and its events are not, as long as one lives (impl::EventLock). Costs one test in the
/// polling mode. Nests. Where events run it does nothing: they are in already.
class Hold {
 public:
  explicit Hold(Node& node) noexcept;
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Node& node_;
};
}  // namespace impl

/// Nanoseconds on the clock that all nodes of a job share: the T1's `Count`. Zero when the job started. Nodes on one
/// machine read the same clock: they disagree by nothing but the time it takes to read it (some 20 ns). Other machines follow
/// the clock of node 0's, to within count_error(). Never goes back.
using Count = std::uint64_t;

/// Names a timelet that was asked for, to cancel it.
using TimeletId = std::uint64_t;

/// One member of a job: it sends, polls and waits.
class Node {
 public:
  explicit Node(std::unique_ptr<core::Engine> engine);
  ~Node();  ///< leaves the job: what was accepted is passed on first; see docs/contract.md, "Leaving"
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// This node's place in its job, from 0 on.
  [[nodiscard]] NodeId id() const noexcept { return id_; }
  /// How many nodes the job has.
  [[nodiscard]] NodeId size() const noexcept { return size_; }
  /// How handlers run here.
  [[nodiscard]] Dispatch dispatch() const noexcept { return dispatch_; }

  /// Whether this node has noticed that `peer` died or left the job. False for what is no node.
  [[nodiscard]] bool is_gone(NodeId peer) const noexcept;
  /// Whether nodes outnumber the processors that they share. Then a loop of polls that finds nothing does well to yield: the node
  /// that would answer may be waiting for this processor. (Waits do so by themselves.)
  [[nodiscard]] bool oversubscribed() const noexcept;

  // -- sending ------------------------------------------------------------------------------------------------------

  /// Sends a request to H on node `to` (may be this node). Waits while the low network is full, polling meanwhile, so
  /// handlers may run. Returns ok, or unreachable / too_big; throws am::Error for an unknown node. For the
  /// computation only: a handler uses what its message object offers.
  ///
  /// `args`, here and in every send: one for each parameter of H behind its message, the payload last. Each becomes the
  /// parameter by itself, and no number a narrower one: an integer becomes one of the same width or a wider one (the sign is
  /// not looked at: -1 becomes the largest) or a floating-point number no narrower (which rounds large ones); a floating-point
  /// number never an integer, a double no float, a number no bool. (7 is an int: for a std::uint8_t write std::uint8_t{7}.)
  /// Anything else does not compile, and the first error says what to write.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status request(NodeId to, A&&... args) {
    return send_<H, F, Priority::low, true>(to, std::forward<A>(args)...);
  }
  /// In no order with others: request<h>(am::unordered(to), ...). So for every send whose first argument is a node.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status request(UnorderedTo to, A&&... args) {
    return send_<H, F, Priority::low, true>(to, std::forward<A>(args)...);
  }
  /// The T1's failable send: never waits, runs no handler. From anywhere on this node's thread.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_request(NodeId to, A&&... args) {
    return send_<H, F, Priority::low, false>(to, std::forward<A>(args)...);
  }
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_request(UnorderedTo to, A&&... args) {
    return send_<H, F, Priority::low, false>(to, std::forward<A>(args)...);
  }
  /// Sends to reply handler H on the high network. Waits while it is full; from a low handler, only high events run
  /// meanwhile.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status reply_to(NodeId to, A&&... args) {
    return send_<H, F, Priority::high, true>(to, std::forward<A>(args)...);
  }
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status reply_to(UnorderedTo to, A&&... args) {
    return send_<H, F, Priority::high, true>(to, std::forward<A>(args)...);
  }
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_reply_to(NodeId to, A&&... args) {
    return send_<H, F, Priority::high, false>(to, std::forward<A>(args)...);
  }
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_reply_to(UnorderedTo to, A&&... args) {
    return send_<H, F, Priority::high, false>(to, std::forward<A>(args)...);
  }

  /// A message whose payload the caller writes where it will be read: prepare, fill draft.data(), draft.commit().
  /// Waits for room as request and reply_to do; H takes `args` and an am::Payload. See am/draft.hpp.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Draft prepare(NodeId to, std::size_t bytes, A&&... args);
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Draft try_prepare(NodeId to, std::size_t bytes, A&&... args);
  // Do not compile.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status prepare(UnorderedTo /*to*/, const A&... /*args*/) {
    return goes_in_order_<F>();
  }
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status try_prepare(UnorderedTo /*to*/, const A&... /*args*/) {
    return goes_in_order_<F>();
  }

  /// Sends a request or reply handler's message to every member of `group` once, or, where the answer is `again`, to
  /// none. An empty group is ok. Waits and throws as request and reply_to do. See am/multicast.hpp.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status multicast(const Group& group, A&&... args);
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_multicast(const Group& group, A&&... args);
  /// The same for a list, for which no group was made: any contiguous range of node numbers, in any order. Who is on it twice gets
  /// the message once.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status multicast(std::span<const NodeId> members, A&&... args);
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_multicast(std::span<const NodeId> members, A&&... args);
  // Do not compile.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status multicast(UnorderedTo /*to*/, const A&... /*args*/) {
    return goes_in_order_<F>();
  }
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status try_multicast(UnorderedTo /*to*/, const A&... /*args*/) {
    return goes_in_order_<F>();
  }

  // -- progress and waiting -----------------------------------------------------------------------------------------

  /// Moves data, then runs waiting events in the order of the contract: every reply, a bounded number of requests,
  /// timelets, the outlet; then posted work. Returns how many ran. Not from a handler.
  std::size_t poll();

  /// The part of a poll that a low handler may do: runs waiting replies, and nothing else. Returns how many ran. For interfaces
  /// whose request handlers wait for replies (CMAM's): whatever such a handler waits for must come on the high network, and this
  /// node takes no request meanwhile. From a high handler it runs nothing. A loop of vain ones in a handler has the reports and
  /// the deadline of a wait.
  std::size_t poll_replies();

  /// Polls until pred() holds. Where it holds at once there is no poll: in the polling mode no handler runs, and posted work
  /// does not. Spins, then yields, then sleeps; a message wakes it. What only a remote put changes is seen within 16 ms at
  /// worst. In every mode pred() is atomic with respect to handlers, and whatever they wrote before it became true is
  /// visible afterwards.
  template <std::predicate P>
  void wait_until(P&& pred) {
    const impl::Hold hold(*this);
    if (!pred()) wait_("wait_until", pred);
  }

  /// The same for what only node `needed` can bring about; nothing there: any other node. Throws am::Error when that node died
  /// or left and pred() does not hold all the same; for any node, when one died. (The plain one would wait for ever where the
  /// program survives deaths.)
  template <std::predicate P>
  void wait_until(P&& pred, std::optional<NodeId> needed) {
    const impl::Hold hold(*this);
    if (pred()) return;
    impl::NeededPeer peer(*this, needed);
    bool holds = false;
    auto ends = [&] { return (holds = pred()) || peer.is_missing(); };
    wait_("wait_until", ends);
    if (!holds) peer.give_up();
  }

  /// Returns when every node of the job has entered. Polls meanwhile. Everything that this node wrote before with put
  /// is visible to all nodes afterwards; messages may still be on their way. Throws what a handler or post threw meanwhile
  /// when the barrier is complete, and am::Error when a node that it needs is gone, or when it is called by a post that
  /// runs inside another barrier or collective of this node.
  void barrier();

  /// Runs f(node) in this node's computation, in one of the next polls, in order. Allocates. From anywhere on this
  /// node's thread.
  void post(std::function<void(Node&)> f);

  // -- the program's own object -------------------------------------------------------------------------------------

  /// Attaches the object that handlers reach by state<T>() and whose member functions may be handlers. One at a time. Not owned: it
  /// has to live while a message for it may come, and a barrier does not wait for messages on their way. Attach, then barrier, then
  /// send: so no message comes before its object is attached.
  template <class T>
  void attach(T& state) noexcept {
    const impl::Hold hold(*this);
    state_ = &state;
    state_type_ = impl::type_tag<T>;
  }
  /// The attached object. Attaching another type, or none, is a broken program: ends it with a message.
  template <class T>
  [[nodiscard]] T& state() const noexcept {
    if (!state_type_.is(impl::type_tag<T>)) [[unlikely]]
      wrong_state_();
    return *static_cast<T*>(state_);
  }

  /// The T that belongs to this node: made by T(Node&) at the first call, destroyed with the node, when it has left its job. For
  /// libraries on top of libam that keep something for each node: each has a type of its own, beside the program's one object.
  /// Also from the node's handlers; in the interrupt mode there only when it was made before.
  template <class T>
  [[nodiscard]] T& own();

  // -- events: see am/events.hpp ------------------------------------------------------------------------------------

  [[nodiscard]] Count count() const noexcept;  ///< now
  /// By how much count() may differ from node 0's: 0 on its machine; elsewhere half the time that a question to it takes, when one was
  /// answered last, and up to 400 ns for each millisecond since. (So it holds while the clocks drift apart by less than 200 ppm.)
  [[nodiscard]] Count count_error() const noexcept;
  /// Runs f as a low event at `when` or, in polling, at the first poll after it. Several may wait. In the other modes a
  /// timer of the library brings it: docs/dispatch.md tells how exactly.
  TimeletId on_timelet(Count when, std::function<void(LowEvent&)> f);
  /// False when it has run already.
  bool cancel_timelet(TimeletId id) noexcept;
  /// Runs f as a low event whenever both networks can accept a message and nothing else waits, until replaced by {} or
  /// masked. f should try to send, or disable itself; otherwise it is called in every poll.
  void on_outlet(std::function<void(LowEvent&)> f);
  /// The default handler, for the program's messages that arrive while active messages are disabled. (Those of libam's own
  /// operations, such as put to this node, run as ever.)
  void on_default(std::function<void(Incoming&)> f);
  void enable_active_messages(bool enabled) noexcept {
    change_events_([=](impl::EventState& events) { events.ame = enabled; });
  }
  void enable_event(Event kind, bool enabled) noexcept {
    change_events_([=](impl::EventState& events) { events.mask(kind, enabled); });
  }
  /// LPEE: whether low events may run at all. For the computation only (A.2.5).
  void enable_low_events(bool enabled) noexcept {
    change_events_([=](impl::EventState& events) { events.lpee = enabled; });
  }
  /// Called in the computation, in a poll, when another node was found dead. Setting it means that this node means to
  /// survive; without it the first death ends this node, with a message.
  void on_peer_death(std::function<void(Node&, NodeId)> f);

  // -- for the layers above -----------------------------------------------------------------------------------------

  /// From now on this node polls, whatever mode it was started in: its events run inside calls that make progress, on its own
  /// thread, and dispatch() says so. For interfaces whose programs expect that (GAM, AM-II). From the computation. Throws what an
  /// event has thrown and nobody has been told of. In the polling mode it does nothing.
  void poll_only();

  /// What of this node runs on the calling thread. For libraries on top of libam whose calls mean different things in
  /// handlers: those have it from the node, and need not keep it themselves around each handler.
  [[nodiscard]] Level level() const noexcept {
    return dispatch_ == Dispatch::poll || runs_events_here_() ? events_.level : Level::computation;
  }

  /// For libam alone.
  [[nodiscard]] core::Engine& engine() noexcept { return *engine_; }

 private:
  friend class CriticalSection;
  friend class Draft;
  friend class MessagesKept;
  friend class Registers;
  friend class core::Engine;
  friend struct impl::GlobalAccess;
  friend struct impl::LineAccess;
  friend class impl::Hold;

  /// `where`: a NodeId, or an UnorderedTo.
  template <auto H, class F, Priority P, bool wait, class To, class... A>
  Status send_(To where, A&&... args);
  template <class F>
  static consteval Status goes_in_order_() {
    static_assert(
        impl::never<F>,
        "libam: drafts and multicasts go in order: am::unordered is for request, reply_to and their "
        "try_ forms");
    return Status::again;
  }
  template <auto H, class F, class Traits, class... A>
  impl::OutMessage pack_(NodeId to, A&&... args);

  /// Hands over a packet that this link's ring has claimed, with its words and payload filled in.
  void publish_(NodeId to, Priority priority, impl::Packet& packet, impl::Header header,
                std::size_t payload_bytes) noexcept;
  /// Everything but free lines: words where a payload lay before, unknown node, first contact, full network, a link that is held,
  /// payloads over 1 KiB, other transports.
  Status send_slowly_(const impl::OutMessage& message, bool wait);
  Status multicast_(const impl::OutMessage& message, std::span<const NodeId> members, bool wait);
  void ring_doorbell_(NodeId to, Priority priority) noexcept;
  /// Polls until pred() holds, and once at least. `what` is a literal, for reports.
  template <class P>
  void wait_(const char* what, P& pred) {
    impl::Waiter waiter = begin_wait_(what);
    do {
      waiter.polled(poll() != 0);
    } while (!pred());
  }
  impl::Waiter begin_wait_(const char* what);
  [[noreturn]] void wrong_state_() const noexcept;
  void keep_owned_(const impl::TypeTag& type, std::shared_ptr<void> object);
  /// What may run has changed: whoever runs the events looks again.
  template <class F>
  void change_events_(F change) noexcept {
    const impl::Hold hold(*this);
    change(events_);
    if (shared_) lock_.want_attention();
  }
  void enter_() noexcept {
    if (impl::events_of_this_thread != this && depth_++ == 0) lock_.enter();
  }
  void leave_() noexcept {
    if (impl::events_of_this_thread != this && --depth_ == 0 && lock_.leave()) [[unlikely]]
      attend_();
  }
  void attend_() noexcept;
  /// Whether what events_ says of the running event is about the calling thread. A handler thread says so; the node's own
  /// thread runs events inside a Hold, or is interrupted by them.
  [[nodiscard]] bool runs_events_here_() const noexcept {
    return dispatch_ == Dispatch::interrupt || impl::events_of_this_thread == this || depth_ != 0;
  }
  /// AM_CHECKED: ends the program at a send from where it is not allowed.
  void check_use_(Priority priority, bool wait);

  NodeId id_ = 0;
  NodeId size_ = 0;
  Dispatch dispatch_ = Dispatch::poll;
  bool shared_ = false;      // events may run beside the computation, or preempt it: lock_ tells them apart
  std::uint32_t depth_ = 0;  // Holds of this node's thread; lock_ is entered by the first
  impl::Producer* rings_ = nullptr;        // by link; not connected = every claim fails
  impl::Traffic* traffic_ = nullptr;       // likewise
  impl::PeerSegment* segments_ = nullptr;  // by node; empty until first used (am/global.hpp)
  impl::EventState events_;
  void* state_ = nullptr;
  impl::TypeTag state_type_{};
  impl::EventLock lock_;
  struct Owned {
    impl::TypeTag type;
    std::shared_ptr<void> object;
  };
  std::vector<Owned> owned_;  // few: one for each library that is used; outlives the engine
  std::unique_ptr<core::Engine> engine_;
};

/// The node that this thread belongs to, or whose events run on it; null where there is none.
[[nodiscard]] Node* this_node() noexcept;

inline impl::Hold::Hold(Node& node) noexcept : node_(node) {
  if (node.shared_) [[unlikely]]
    node.enter_();
}
inline impl::Hold::~Hold() {
  if (node_.shared_) [[unlikely]]
    node_.leave_();
}

template <class T>
T& Node::own() {
  const impl::Hold hold(*this);
  for (const Owned& owned : owned_) {
    if (owned.type.is(impl::type_tag<T>)) return *static_cast<T*>(owned.object.get());
  }
  auto made = std::make_shared<T>(*this);
  T& object = *made;
  keep_owned_(impl::type_tag<T>, std::move(made));
  return object;
}

// -- the way out ----------------------------------------------------------------------------------------------------

namespace impl {

constexpr NodeId node_of(NodeId to) noexcept { return to; }
constexpr NodeId node_of(UnorderedTo where) noexcept { return where.to; }

/// Puts the arguments of a send into words, without the payload.
template <class Traits, class... A>
void pack_words(std::uint64_t* words, A&&... args) noexcept {
  auto all = std::forward_as_tuple(args...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    Traits::Packed::pack(
        words, static_cast<const std::tuple_element_t<I, typename Traits::Parameters>&>(std::get<I>(all))...);
  }
  (std::make_index_sequence<Traits::arity>{});
}

/// The payload of a send: its last argument, if the handler takes one.
template <class Traits, class... A>
Payload payload_of_send(A&... args) noexcept {
  if constexpr (Traits::has_payload) {
    return Payload(std::get<sizeof...(A) - 1>(std::tie(args...)));
  } else {
    return {};
  }
}

}  // namespace impl

template <auto H, class F, class Traits, class... A>
impl::OutMessage Node::pack_(NodeId to, A&&... args) {
  impl::OutMessage message;
  message.to = to;
  message.origin = id_;
  message.priority = Traits::priority;
  message.handler = impl::Handler<H>::id();
  message.words = static_cast<std::uint8_t>(Traits::Packed::words);
  impl::pack_words<Traits>(message.word, args...);
  message.payload = impl::payload_of_send<Traits>(args...);
  return message;
}

[[gnu::always_inline]] inline void Node::publish_(NodeId to, Priority priority, impl::Packet& packet,
                                                  impl::Header header, std::size_t payload_bytes) noexcept {
  const std::size_t index = impl::link_index(to, priority);
  impl::Producer& ring = rings_[index];
  packet.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  packet.origin = id_;
  ring.commit(&packet, header);
  impl::Traffic& traffic = traffic_[index];
  impl::count(traffic.sent_messages);
  impl::count(traffic.sent_bytes, header.words() * 8 + payload_bytes);
  events_.nicond = true;
  if (!ring.watched()) [[unlikely]]
    ring_doorbell_(to, priority);
}

template <auto H, class F, Priority P, bool wait, class To, class... A>
inline Status Node::send_(To where, A&&... args) {
  const NodeId to = impl::node_of(where);
  using Signature = typename impl::Handler<H>::Traits;
  static_assert(
      !Signature::sound || Signature::priority == P,
      "libam: request sends to handlers that take am::Request&, reply to those that take am::Reply&");
  using Traits = impl::SendTraits<Signature, A...>;
#ifdef AM_CHECKED
  check_use_(P, wait);
#endif
  constexpr std::size_t words = Traits::Packed::words;
  const Payload payload = impl::payload_of_send<Traits>(args...);
  if (to < size_ && payload.size() <= impl::packet_payload_bytes) [[likely]] {
    const std::size_t index = impl::link_index(to, P);
    impl::Producer& ring = rings_[index];
    const std::size_t lines = impl::payload_lines(words, payload.size());
    impl::Packet* packet = lines == 0 ? ring.claim_line() : nullptr;
    // Words alone go without a call on their way: then no registers are saved, whose stores would go out before the message.
    if constexpr (Signature::has_payload) {
      if (packet == nullptr) [[unlikely]]
        packet = ring.claim_unless_reserved(1 + lines);
    }
    if (packet != nullptr) [[likely]] {
      std::uint16_t flags = 0;
      if (!payload.empty()) {  // first: the receiver looks at the first line, and would fetch it in between
        std::memcpy(packet->payload(words, lines), payload.data(), payload.size());
        flags = impl::flag::payload;
      }
      impl::pack_words<Traits>(packet->words, args...);
      publish_(to, P, *packet, impl::Header::make(impl::Handler<H>::id(), words, lines, flags),
               payload.size());
      return Status::ok;
    }
  }
  impl::OutMessage message = pack_<H, F, Traits>(to, std::forward<A>(args)...);
  if constexpr (std::is_same_v<To, UnorderedTo>) message.unordered = true;
  return send_slowly_(message, wait);
}

// -- what the message objects may send --------------------------------------------------------------------------------

template <class T>
T& LowEvent::state() const noexcept {
  return node_->state<T>();
}
template <auto H, class F, class... A>
Status LowEvent::reply_to(NodeId to, A&&... args) const {
  return node_->reply_to<H>(to, std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status LowEvent::reply_to(UnorderedTo to, A&&... args) const {
  return node_->reply_to<H>(to, std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status LowEvent::try_reply_to(NodeId to, A&&... args) const {
  return node_->try_reply_to<H>(to, std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status LowEvent::try_reply_to(UnorderedTo to, A&&... args) const {
  return node_->try_reply_to<H>(to, std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status LowEvent::try_request(NodeId to, A&&... args) const {
  return node_->try_request<H>(to, std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status LowEvent::try_request(UnorderedTo to, A&&... args) const {
  return node_->try_request<H>(to, std::forward<A>(args)...);
}
inline void LowEvent::post(std::function<void(Node&)> f) const { node_->post(std::move(f)); }

template <auto H, class F, class... A>
Status Request::reply(A&&... args) const {
  return node_->reply_to<H>(from(), std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status Request::try_reply(A&&... args) const {
  return node_->try_reply_to<H>(from(), std::forward<A>(args)...);
}

template <class T>
T& Reply::state() const noexcept {
  return node_->state<T>();
}
template <auto H, class F, class... A>
Status Reply::try_reply_to(NodeId to, A&&... args) const {
  return node_->try_reply_to<H>(to, std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status Reply::try_reply_to(UnorderedTo to, A&&... args) const {
  return node_->try_reply_to<H>(to, std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status Reply::try_request(NodeId to, A&&... args) const {
  return node_->try_request<H>(to, std::forward<A>(args)...);
}
template <auto H, class F, class... A>
Status Reply::try_request(UnorderedTo to, A&&... args) const {
  return node_->try_request<H>(to, std::forward<A>(args)...);
}
inline void Reply::post(std::function<void(Node&)> f) const { node_->post(std::move(f)); }

}  // namespace am

#pragma pop_macro("Status")
