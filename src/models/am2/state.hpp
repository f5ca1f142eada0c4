// What a node has of AM-II: bundles, endpoints, and the messages that wait for them. One for each node (Node::own), so nodes of one
// process share nothing.
//
// How AM-II's rules stand on libam's contract:
//  - An AM-II request is a libam request, a reply and whatever else answers a request is a libam reply. Where a bundle is polled,
//    and no handler runs, and nothing waits for the endpoint, its handler runs inside libam's. What comes at other times waits in
//    the inbox of its endpoint until its bundle is polled. So handlers run one at a time and in order, a bundle that is not polled runs
//    none, AM_WaitSema sees a message without running it, and a reply that must wait for room runs no AM-II handler.
//  - What a node sends to itself does not go through the network. In the same bundle it runs before the call returns, a reply to
//    oneself inside the request handler: the one case in which a handler runs inside another. In another bundle it waits.
//  - Memory is bounded by credits: a translation entry has at most `window` requests unanswered; the next one waits, and polls its
//    bundle. Every request is answered by exactly one message: the handler's reply, where it sent none an empty one (`answered`), or
//    the request itself, come back. A node thus holds at most `window` messages for each entry that points to it.
//  - A message is judged when it is run: tag, handler, place in the segment. What is refused goes back to its sender, whose handler
//    0 gets it when that one polls. Of a request that libam could not send (`unreachable`) the sender's own handler 0 is told likewise.
//  - The node polls in every mode (Node::poll_only).
//
// Names: an endpoint's is its node and a number that is never used again there, but for known ones, whose number is the port.
//
// The node's own thread only.
#pragma once

#include <am/am2.h>
#include <am/node.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/am2/message.hpp"
#include "models/polling.hpp"

namespace am::models::am2 {
class State;
}

struct am2_bundle {
  am::models::am2::State* state;
  bool alive = true;
  int event_mask = AM_NOEVENTS;
  std::vector<am2_endpoint*> endpoints{};
};

namespace am::models::am2 {

class State;

inline constexpr int handlers_per_endpoint = 256;
inline constexpr int fewest_translations = 256;
inline constexpr int most_translations = 1 << 20;
inline constexpr std::uint32_t default_window = 32;
inline constexpr std::uint32_t largest_window = 1024;

struct Translation {
  Line line{};  ///< the way of those that go as lines; none to this node itself
  en_t name{};
  tag_t tag = AM_NONE;
  std::uint32_t serial = 0;       ///< of this mapping: answers to requests of an earlier one are not counted
  std::uint32_t outstanding = 0;  ///< requests that were not answered yet
  bool used = false;
};

/// What a token points to: where the message comes from whose handler runs.
struct Token {
  am2_endpoint* endpoint;  ///< null: handler 0 is told of one that came back
  const Message* message;  ///< null where it came as a line
  Line line;
  tag_t tag;
  NodeId from;
  Came came;
  bool may_reply;

  [[nodiscard]] std::uint32_t from_endpoint() const noexcept {
    return message != nullptr ? message->from_endpoint : line.from();
  }
  [[nodiscard]] std::uint32_t index() const noexcept {
    return message != nullptr ? message->head.index : line.index();
  }
  [[nodiscard]] std::uint32_t serial() const noexcept {
    return message != nullptr ? message->head.serial : line.serial();
  }
};

}  // namespace am::models::am2

/// Freed ones stay, without their tables, so that a stale handle is an error and no more.
struct am2_endpoint {
  am2_endpoint(am::models::am2::State& its_state, std::uint32_t its_id) : state(&its_state), id(its_id) {}

  am::models::am2::State* state;
  am2_bundle* bundle = nullptr;  ///< null: freed
  std::uint32_t id;
  std::uint32_t window = am::models::am2::default_window;
  std::uint32_t since_poll = 0;  ///< requests since the last one that has polled, and this one
  tag_t tag = AM_NONE;
  std::vector<am2_handler_fn_t> handlers{};
  std::vector<am::models::am2::Translation> translations{};
  AMX_preHandlerCallback_t before_handler = nullptr;
  AMX_postHandlerCallback_t after_handler = nullptr;
  amx_stats_t stats{};
  void* segment = nullptr;
  std::size_t segment_bytes = 0;
  std::vector<am::models::am2::Message> inbox{};
  std::vector<am::models::am2::Message> batch{};  ///< taken from the inbox; run up to `next`
  std::size_t next = 0;

  [[nodiscard]] bool has_messages() const noexcept { return next < batch.size() || !inbox.empty(); }
  /// Whether a request with that tag is for it.
  [[nodiscard]] bool takes(tag_t its_tag) const noexcept {
    return tag == AM_ALL || (tag != AM_NONE && tag == its_tag);
  }
  /// The function that handles messages for this number. Null: the program has set none, or callbacks run beside it.
  [[nodiscard]] am2_handler_fn_t plain_handler(std::uint8_t number) const noexcept {
    const bool plain = number != 0 && before_handler == nullptr && after_handler == nullptr;
    return plain ? handlers[number] : nullptr;
  }
};

namespace am::models::am2 {

class State {
 public:
  explicit State(Node& its_node) : node(its_node), others(its_node), entered_by(its_node.size()) {}
  /// When the node has left its job. Says what it was sent and no poll has run.
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // -- tables (tables.cpp)

  am2_bundle* new_bundle();
  am2_endpoint* new_endpoint(am2_bundle& bundle, std::uint32_t id);
  std::uint32_t new_id() const noexcept { return first_endpoint + static_cast<std::uint32_t>(by_id_.size()); }
  [[nodiscard]] am2_endpoint* find(std::uint32_t id) noexcept;
  /// The one that a line goes to.
  [[nodiscard]] am2_endpoint* find(Line line) const noexcept {
    const std::size_t place = line.to() - first_endpoint;
    return place < by_id_.size() ? by_id_[place] : nullptr;
  }
  [[nodiscard]] am2_endpoint* find_known(std::uint32_t port) noexcept;
  void free_endpoint(am2_endpoint& endpoint);
  void free_bundle(am2_bundle& bundle);
  void free_all();
  std::uint32_t new_serial() noexcept { return next_serial_++ & 0xffffff; }

  // -- traffic (traffic.cpp)

  /// A message for an endpoint of this node, which runs now or waits; one for none of them goes back at the next poll.
  void arrived(Message& message);
  /// Whether a message that comes for that endpoint now may run at once.
  [[nodiscard]] bool runs_now(const am2_endpoint& endpoint) const noexcept {
    return endpoint.bundle == polled_ && running == nullptr && waiting_ == 0;
  }
  /// Calls handler(), which runs that message's; then a request that it did not answer is answered.
  template <class F>
  void run_with(Token& token, F&& handler);
  void credit(std::uint32_t endpoint, std::uint32_t index, std::uint32_t serial) noexcept;
  static void credit(am2_endpoint& endpoint, std::uint32_t index, std::uint32_t serial) noexcept;
  /// Runs what has come for a bundle, once around. How many events that were.
  std::size_t poll(am2_bundle& bundle);
  void run_messages(am2_bundle& bundle) {
    if (waiting_ != 0 || !strays_.empty()) [[unlikely]]
      run_waiting(bundle);
  }
  /// Polls until pred() holds; what comes for the bundle meanwhile runs, as far as it need not wait (run_messages).
  template <class P>
  void wait(const am2_bundle& bundle, P&& pred) {
    const Polled now(*this, bundle);
    node.wait_until(pred);
  }
  /// Status as by libam; waits for room unless `try_only`, and runs no AM-II handler meanwhile: where one of libam's throws, nothing was
  /// sent. To another node.
  Status send_request(const Outgoing& message, bool try_only);
  Status send_reply(const Outgoing& message);
  /// Whatever was sent by an endpoint, and has come to one: for AMX_GetEndpointStatistics.
  static void count_sent(am2_endpoint& endpoint, const Outgoing& message, bool request) noexcept;
  static void count_sent_line(am2_endpoint& endpoint, std::size_t words, bool request) noexcept;
  static void count_received(am2_endpoint& endpoint, const Message& message) noexcept;
  /// To this node: runs now, where its endpoint is in `open`, the bundle of the endpoint that sends it; else it waits.
  void deliver_here(const Outgoing& message, Came came, const am2_bundle* open);
  /// What libam could not send, or AM-II does not: to handler 0 of its own endpoint.
  void came_back_here(am2_endpoint& endpoint, const Outgoing& message, Came came, int status);

  Node& node;
  int inits = 0;
  Token* running = nullptr;  ///< while a handler runs
  LetOthersRun others;       ///< while the program polls in vain
  bool polled_since_request = false;
  std::vector<std::unique_ptr<am2_bundle>> bundles;

  // -- AMX (spmd.cpp)

  std::uint64_t barriers = 0;             // that this node has entered
  std::vector<std::uint64_t> entered_by;  // how many each node has entered, at node 0
  std::uint64_t barrier_outs = 0;         // complete
  std::optional<NodeId> barrier_lacks;    // who is gone, so that the next one will never be
  void (*exit_callback)(int) = nullptr;

 private:
  /// As long as one lives a bundle's handlers may run inside libam's.
  class Polled {
   public:
    Polled(State& state, const am2_bundle& bundle) noexcept : state_(state) { state.polled_ = &bundle; }
    ~Polled() { state_.polled_ = nullptr; }
    Polled(const Polled&) = delete;
    Polled& operator=(const Polled&) = delete;

   private:
    State& state_;
  };

  void run_waiting(am2_bundle& bundle);
  [[nodiscard]] bool has_own_messages(const am2_endpoint& endpoint) const noexcept;
  /// Until the endpoint's bundle is polled.
  void let_wait(am2_endpoint& endpoint, Message& message);
  void run(am2_endpoint& endpoint, const Message& message);
  /// One that was judged: it is as it should be.
  void run_right(am2_endpoint& endpoint, const Message& message);
  void run_returned(am2_endpoint& endpoint, const Message& message);
  void answer_get(am2_endpoint& endpoint, const Message& message);
  void call(am2_endpoint& endpoint, const Message& message, bool may_reply);
  static void call_handler(am2_endpoint& endpoint, Token& token, void* place);
  static void call_with_callbacks(const am2_endpoint& endpoint, Token& token, void* place,
                                  am2_handler_fn_t handler);
  /// Where the handler finds the data of its message.
  void* place_of(const am2_endpoint& endpoint, const Message& message);
  /// One of libam's answers goes by attempt() in any case. What is thrown while it waits for room leaves afterwards. Runs no AM-II handler.
  template <class F>
  void answer_by(F attempt);
  void answer(const Token& token);
  /// 0, or why the message cannot be run.
  [[nodiscard]] int fault_of(const am2_endpoint& endpoint, const Message& message) const noexcept;
  [[nodiscard]] bool may_run_in_a_handler(const am2_endpoint& endpoint,
                                          const Message& message) const noexcept;
  void return_message(const Message& message, int status);
  void return_strays();

  std::size_t waiting_ = 0;                        // messages in inboxes
  const am2_bundle* polled_ = nullptr;             // whose handlers may run now, inside libam's
  std::array<std::vector<std::byte>, 2> buffers_;  // of the medium request, and reply, that runs
  std::vector<std::unique_ptr<am2_endpoint>> endpoints_;
  std::vector<am2_endpoint*> by_id_;  // from first_endpoint on; null: freed
  std::unordered_map<std::uint32_t, am2_endpoint*> known_;
  std::vector<Message> strays_;
  std::uint32_t next_serial_ = 1;
};

/// This thread's, between its first AM_Init and its last AM_Terminate; null at other times.
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern thread_local constinit State* here;

constexpr std::size_t category_of(Kind kind) noexcept {
  return static_cast<std::size_t>(kind == Kind::get ? Kind::bulk : kind);
}

inline void State::count_sent(am2_endpoint& endpoint, const Outgoing& message, bool request) noexcept {
  const std::size_t category = category_of(message.head.kind);
  const std::uint64_t bytes = message.head.count * sizeof(am2_word_t) + message.bytes;
  amx_stats_t& stats = endpoint.stats;
  ++(request ? stats.RequestsSent : stats.RepliesSent)[category];
  (request ? stats.RequestDataBytesSent : stats.ReplyDataBytesSent)[category] += bytes;
}
inline void State::count_sent_line(am2_endpoint& endpoint, std::size_t words, bool request) noexcept {
  amx_stats_t& stats = endpoint.stats;
  ++(request ? stats.RequestsSent : stats.RepliesSent)[0];
  (request ? stats.RequestDataBytesSent : stats.ReplyDataBytesSent)[0] += words * sizeof(am2_word_t);
}
inline void State::count_received(am2_endpoint& endpoint, const Message& message) noexcept {
  amx_stats_t& stats = endpoint.stats;
  ++(message.is_request() ? stats.RequestsReceived : stats.RepliesReceived)[category_of(message.head.kind)];
}

/// The state of a node that runs one of libam's handlers.
inline State& state_of(Node& node) {
  State* const known = here;
  return known != nullptr && &known->node == &node ? *known : node.own<State>();
}

inline void State::credit(am2_endpoint& endpoint, std::uint32_t index, std::uint32_t serial) noexcept {
  if (index >= endpoint.translations.size()) return;
  Translation& translation = endpoint.translations[index];
  if (translation.serial == serial && translation.outstanding != 0) --translation.outstanding;
}

/// As long as one lives a handler runs. (A reply to oneself runs inside the handler that sends it.)
class Running {
 public:
  Running(Token*& running, Token& token) noexcept
      : running_(running), before_(std::exchange(running, &token)) {}
  ~Running() { running_ = before_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Token*& running_;
  Token* const before_;
};

template <class F>
[[gnu::always_inline]] inline void State::run_with(Token& token, F&& handler) {
  try {
    const Running now(running, token);
    handler();
  } catch (...) {
    if (token.may_reply) answer(token);
    throw;
  }
  if (token.may_reply) answer(token);
}

/// What goes back to where a message came from.
[[nodiscard]] Outgoing back_to_sender(const Message& message) noexcept;

inline am2_endpoint* State::find(std::uint32_t id) noexcept {
  const std::size_t place = std::size_t{id} - first_endpoint;  // of known ones: large
  return place < by_id_.size() ? by_id_[place] : find_known(id);
}

}  // namespace am::models::am2
