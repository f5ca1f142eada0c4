// What a node has of AM-II: bundles, endpoints, and the messages that wait for them. One for each node (Node::own), so nodes of one
// process share nothing.
//
// How AM-II's rules stand on libam's contract:
//  - An AM-II request is a libam request, a reply and whatever else answers a request is a libam reply. libam's handlers put what
//    comes into the inbox of its endpoint and do no more; AM-II's handlers run from there, in the computation, when the endpoint's
//    bundle is polled. So they run one at a time, a bundle that is not polled runs none, AM_WaitSema sees a message without running
//    it, and a reply that must wait for room polls libam and runs no AM-II handler.
//  - Memory is bounded by credits: a translation entry has at most `window` requests unanswered; the next one waits, and polls its
//    bundle. Every request is answered by exactly one message: the handler's reply, where it sent none an empty one (`answered`), or
//    the request itself, come back. A node thus holds at most `window` messages for each entry that points to it.
//  - A message is judged when it is run: tag, handler, place in the segment. What is refused goes back to its sender, whose handler
//    0 gets it when that one polls. Of a request that libam could not send (`unreachable`) the sender's own handler 0 is told likewise.
//  - In the thread and interrupt modes libam takes messages inside these calls only (models/polling.hpp).
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
  bool used = false;
  en_t name{};
  tag_t tag = AM_NONE;
  std::uint32_t serial = 0;       ///< of this mapping: answers to requests of an earlier one are not counted
  std::uint32_t outstanding = 0;  ///< requests that were not answered yet
};

/// What a token points to: the message whose handler runs.
struct Token {
  const Message* message;
  am2_endpoint* endpoint;
  bool may_reply;
};

}  // namespace am::models::am2

/// Freed ones stay, without their tables, so that a stale handle is an error and no more.
struct am2_endpoint {
  am2_endpoint(am::models::am2::State& its_state, std::uint32_t its_id) : state(&its_state), id(its_id) {}

  am::models::am2::State* state;
  std::uint32_t id;
  am2_bundle* bundle = nullptr;  ///< null: freed
  tag_t tag = AM_NONE;
  std::vector<am2_handler_fn_t> handlers{};
  std::vector<am::models::am2::Translation> translations{};
  void* segment = nullptr;
  std::size_t segment_bytes = 0;
  std::uint32_t window = am::models::am2::default_window;
  std::vector<am::models::am2::Message> inbox{};
  std::vector<am::models::am2::Message> batch{};  ///< taken from the inbox; run up to `next`
  std::size_t next = 0;

  [[nodiscard]] bool has_messages() const noexcept { return next < batch.size() || !inbox.empty(); }
};

namespace am::models::am2 {

class State {
 public:
  explicit State(Node& its_node) : node(its_node), entered_by(its_node.size()) {}
  /// When the node has left its job. Says what it was sent and no poll has run.
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // -- tables (tables.cpp)

  am2_bundle* new_bundle();
  am2_endpoint* new_endpoint(am2_bundle& bundle, std::uint32_t id);
  std::uint32_t new_id() noexcept { return next_id_++; }
  [[nodiscard]] am2_endpoint* find(std::uint32_t id) noexcept;
  void free_endpoint(am2_endpoint& endpoint);
  void free_bundle(am2_bundle& bundle);
  void free_all();
  std::uint32_t new_serial() noexcept { return next_serial_++ & 0xffffff; }

  // -- traffic (traffic.cpp)

  /// A message for an endpoint of this node; one for none of them goes back at the next poll.
  void arrived(Message&& message);
  void credit(std::uint32_t endpoint, std::uint32_t index, std::uint32_t serial) noexcept;
  /// Runs what has come for a bundle, once around.
  void poll(am2_bundle& bundle);
  /// The same for who does nothing else meanwhile.
  void poll_or_yield(am2_bundle& bundle);
  void run_messages(am2_bundle& bundle);
  /// Polls libam until pred() holds. AM-II's handlers do not run.
  template <class P>
  void wait(P&& pred) {
    polling(node, [&] { node.wait_until(pred); });
  }
  /// The same for what only node `needed` can bring about: am::Error when that one is gone.
  template <class P>
  void wait(P&& pred, NodeId needed) {
    polling(node, [&] { node.wait_until(pred, needed); });
  }
  /// Status as by libam; waits for room unless `try_only`.
  Status send_request(const Outgoing& message, bool try_only);
  Status send_reply(const Outgoing& message);
  /// What libam could not send, or AM-II does not: to handler 0 of its own endpoint.
  void came_back_here(am2_endpoint& endpoint, const Outgoing& message, Came came, int status);

  Node& node;
  int inits = 0;
  Token* running = nullptr;  ///< while a handler runs
  std::vector<std::unique_ptr<am2_bundle>> bundles;

  // -- AMX (spmd.cpp)

  std::uint64_t barriers = 0;             // that this node has entered
  std::vector<std::uint64_t> entered_by;  // how many each node has entered, at node 0
  std::uint64_t barrier_outs = 0;         // complete
  std::optional<NodeId> barrier_lacks;    // who is gone, so that the next one will never be
  void (*exit_callback)(int) = nullptr;

 private:
  void run(am2_endpoint& endpoint, Message& message);
  void run_request(am2_endpoint& endpoint, Message& message);
  void run_reply(am2_endpoint& endpoint, Message& message);
  void run_returned(am2_endpoint& endpoint, const Message& message);
  void answer_get(am2_endpoint& endpoint, const Message& message);
  /// Runs the handler; then a request that it did not answer is answered.
  void call(am2_endpoint& endpoint, Message& message, bool may_reply);
  /// 0, or why the message cannot be run.
  [[nodiscard]] int fault_of(const am2_endpoint& endpoint, const Message& message) const noexcept;
  void return_message(const Message& message, int status);
  void return_strays();
  template <auto H, class... Words>
  Status send(const Outgoing& message, bool try_only, Words... words);

  PollOrYield poll_;
  std::vector<std::unique_ptr<am2_endpoint>> endpoints_;
  std::unordered_map<std::uint32_t, am2_endpoint*> by_id_;
  std::vector<Message> strays_;
  std::uint32_t next_id_ = 1 << 16;  // below are the known ones
  std::uint32_t next_serial_ = 1;
};

}  // namespace am::models::am2
