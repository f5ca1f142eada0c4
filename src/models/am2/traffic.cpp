// AM-II's messages on their way, but for lines (lines.hpp): sent, and taken in by libam's handlers, which run them or put them into
// inboxes. The rules are at the head of state.hpp.
#include <am/draft.hpp>
#include <am/message.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include "models/am2/state.hpp"
#include "models/broken.hpp"
#include "models/sending.hpp"

namespace am::models::am2 {

namespace {

// -- libam's handlers: they send nothing but what needs no room to wait for, unless they run one of AM-II's

/// `parts`: what Message::read takes.
template <class Event, class... Parts>
void read_general(const Event& event, Message& message, std::uint64_t endpoints, std::uint64_t tag,
                  std::uint64_t head, const Parts&... parts) {
  message.from = event.from();
  message.to_endpoint = static_cast<std::uint32_t>(endpoints);
  message.from_endpoint = static_cast<std::uint32_t>(endpoints >> 32);
  message.tag = tag;
  message.head = Head::from(head);
  if (!message.read(parts...))
    broken(event.node().id(), "node ", event.from(), " sent what is no message of AM-II");
}

void request_came(Request& request, std::uint64_t endpoints, std::uint64_t tag, std::uint64_t head,
                  Payload payload) {
  Message message;
  read_general(request, message, endpoints, tag, head, payload);
  state_of(request.node()).arrived(message);
}

void reply_came(Reply& reply, std::uint64_t endpoints, std::uint64_t tag, std::uint64_t head,
                Payload payload) {
  Message message;
  message.came = Came::reply;
  read_general(reply, message, endpoints, tag, head, payload);
  State& state = state_of(reply.node());
  state.credit(message.to_endpoint, message.head.index, message.head.serial);
  state.arrived(message);
}

using Beside = std::array<std::uint64_t, most_beside_data>;

void data_request_came(Request& request, std::uint64_t endpoints, std::uint64_t tag, std::uint64_t head,
                       std::uint64_t a, std::uint64_t b, std::uint64_t c, Payload payload) {
  Message message;
  read_general(request, message, endpoints, tag, head, Beside{a, b, c}, payload);
  state_of(request.node()).arrived(message);
}

void data_reply_came(Reply& reply, std::uint64_t endpoints, std::uint64_t tag, std::uint64_t head,
                     std::uint64_t a, std::uint64_t b, std::uint64_t c, Payload payload) {
  Message message;
  message.came = Came::reply;
  read_general(reply, message, endpoints, tag, head, Beside{a, b, c}, payload);
  State& state = state_of(reply.node());
  state.credit(message.to_endpoint, message.head.index, message.head.serial);
  state.arrived(message);
}

/// A request's handler has sent no reply.
void answered(Reply& reply, std::uint32_t endpoint, std::uint32_t index, std::uint32_t serial) {
  state_of(reply.node()).credit(endpoint, index, serial);
}
/// A node that leaves need not wait for it: it is no message of the program.
const impl::InternalHandlers<answered> internal_handlers;

constexpr unsigned reply_bit = 16;

/// A request or reply that its receiver refused. `why`: status, whether it was a reply, the bytes of its data.
void came_back(Reply& reply, std::uint64_t endpoints, std::uint64_t tag, std::uint64_t head,
               std::uint64_t why, Payload payload) {
  const bool was_reply = (why >> reply_bit & 1) != 0;
  Message message;
  message.came = was_reply ? Came::returned_reply : Came::returned_request;
  read_general(reply, message, endpoints, tag, head, payload);
  message.status = static_cast<int>(why & 0xffff);
  message.bytes = why >> 32;
  State& state = state_of(reply.node());
  if (!was_reply) state.credit(message.to_endpoint, message.head.index, message.head.serial);
  state.arrived(message);
}

std::uint64_t why_word(const Message& message, int status) noexcept {
  return static_cast<std::uint64_t>(status) | std::uint64_t{!message.is_request()} << reply_bit |
         message.bytes << 32;
}

// -- sending: attempts, on the network of the handler -------------------------------------------------------------------------

template <auto H, class... A>
Status try_words(Node& node, NodeId to, A... arguments) {
  if constexpr (impl::Handler<H>::Traits::priority == Priority::low) {
    return node.try_request<H>(to, arguments...);
  } else {
    return node.try_reply_to<H>(to, arguments...);
  }
}

/// `words` follow the three that every message has. A short one goes as it stands; one with data is written where it is read.
template <auto H, class... Words>
Status try_general(Node& node, const Outgoing& message, Words... words) {
  const std::uint64_t endpoints = message.endpoints();
  const std::uint64_t tag = message.tag;
  const std::uint64_t head = message.head.word();
  const std::size_t bytes = message.payload_bytes();
  if (message.bytes == 0) {
    std::byte line[(3 + max_words) * 8];
    message.write(line);
    return try_words<H>(node, message.to, endpoints, tag, head, words..., Payload(line, bytes));
  }
  Draft draft = node.try_prepare<H>(message.to, bytes, endpoints, tag, head, words...);
  if (draft) message.write(draft.data().data());
  return draft.commit();
}

template <auto H>
Status try_data(Node& node, const Outgoing& m) {
  return try_words<H>(node, m.to, m.endpoints(), m.tag, m.head.word(), m.beside_data(0), m.beside_data(1),
                      m.beside_data(2), Payload(m.data, m.bytes));
}

Status try_reply(Node& node, const Outgoing& message) {
  return message.goes_beside_words() ? try_data<&data_reply_came>(node, message)
                                     : try_general<&reply_came>(node, message);
}

Status try_to_return(Node& node, const Message& message, int status) {
  return try_general<&came_back>(node, back_to_sender(message), why_word(message, status));
}

}  // namespace

/// A name that no node has comes back.
Status State::send_request(const Outgoing& message, bool try_only) {
  const auto attempt = [&] {
    return message.goes_beside_words() ? try_data<&data_request_came>(node, message)
                                       : try_general<&request_came>(node, message);
  };
  return try_only ? attempt() : wait_to_send(node, Priority::low, attempt);
}

Status State::send_reply(const Outgoing& message) {
  return wait_to_send(node, Priority::high, [&] { return try_reply(node, message); });
}

Outgoing back_to_sender(const Message& message) noexcept {
  Outgoing back;
  back.to = message.from;
  back.to_endpoint = message.from_endpoint;
  back.from_endpoint = message.to_endpoint;
  back.tag = message.tag;
  back.head = message.head;
  back.fields = message.fields;
  back.field_count = fields_of(message.head.kind, message.is_request());
  back.words = message.words.data();
  return back;
}

template <class F>
void State::answer_by(F attempt) {
  if (attempt() != Status::again) [[likely]]  // gone: nobody to answer
    return;
  const am2_bundle* const polled = std::exchange(polled_, nullptr);
  const std::exception_ptr thrown = send_surely(node, Priority::high, attempt);
  polled_ = polled;
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

void State::answer(const Token& token) {
  const std::uint32_t to = token.from_endpoint();
  const std::uint32_t index = token.index();
  const std::uint32_t serial = token.serial();
  if (token.from == node.id()) return credit(to, index, serial);
  answer_by([&] { return node.try_reply_to<&answered>(token.from, to, index, serial); });
}

void State::answer_get(am2_endpoint& endpoint, const Message& message) {
  Outgoing reply = back_to_sender(message);
  reply.fields = {message.fields[1]};
  reply.field_count = 1;
  reply.data = static_cast<const std::byte*>(endpoint.segment) + message.fields[0];
  reply.bytes = message.fields[2];
  count_sent(endpoint, reply, false);
  if (message.from == node.id()) return deliver_here(reply, Came::reply, endpoint.bundle);
  answer_by([&] { return try_reply(node, reply); });
}

void State::came_back_here(am2_endpoint& endpoint, const Outgoing& message, Came came, int status) {
  Message back(message, came, message.to);
  back.status = status;
  back.to_endpoint = endpoint.id;
  back.from_endpoint = message.to_endpoint;
  back.data = nullptr;
  let_wait(endpoint, back);
}

void State::return_message(const Message& message, int status) {
  if (message.from != node.id()) return answer_by([&] { return try_to_return(node, message, status); });
  am2_endpoint* const sender = find(message.from_endpoint);
  if (message.came == Came::request) credit(message.from_endpoint, message.head.index, message.head.serial);
  if (sender == nullptr) return;
  Outgoing sent = back_to_sender(message);
  sent.to_endpoint = message.to_endpoint;
  sent.bytes = message.bytes;
  came_back_here(*sender, sent, message.is_request() ? Came::returned_request : Came::returned_reply, status);
}

// -- arriving ---------------------------------------------------------------------------------------------------------------

void State::arrived(Message& message) {
  am2_endpoint* const endpoint = find(message.to_endpoint);
  if (endpoint != nullptr) [[likely]] {
    const bool now = endpoint->bundle == polled_ && running == nullptr && !endpoint->has_messages();
    if (now && may_run_in_a_handler(*endpoint, message)) return run_right(*endpoint, message);
    return let_wait(*endpoint, message);
  }
  if (message.came != Came::request && message.came != Came::reply)
    return;  // its sender is gone: nobody to tell
  const int status = message.came == Came::request ? EBADENDPOINT : EREPLYREJECTED;
  if (message.from == node.id() || try_to_return(node, message, status) == Status::again) {
    message.keep();
    strays_.push_back(std::move(message));
  }
}

/// That this node has sent to itself: only these have an order with one more. Others may have come while a send waited.
bool State::has_own_messages(const am2_endpoint& endpoint) const noexcept {
  const auto is_own = [&](const Message& message) { return message.from == node.id(); };
  return std::any_of(endpoint.batch.begin() + static_cast<std::ptrdiff_t>(endpoint.next),
                     endpoint.batch.end(), is_own) ||
         std::any_of(endpoint.inbox.begin(), endpoint.inbox.end(), is_own);
}

void State::deliver_here(const Outgoing& sent, Came came, const am2_bundle* open) {
  Message message(sent, came, node.id());
  if (came == Came::reply) credit(message.to_endpoint, message.head.index, message.head.serial);
  am2_endpoint* const endpoint = find(message.to_endpoint);
  if (endpoint == nullptr)
    return return_message(message, came == Came::request ? EBADENDPOINT : EREPLYREJECTED);
  if (endpoint->bundle == open && !has_own_messages(*endpoint)) return run(*endpoint, message);
  let_wait(*endpoint, message);
}

void State::let_wait(am2_endpoint& endpoint, Message& message) {
  message.keep();
  endpoint.inbox.push_back(std::move(message));
  ++waiting_;
}

void State::return_strays() {
  while (!strays_.empty()) {
    const Message message = std::move(strays_.back());
    strays_.pop_back();
    return_message(message, message.came == Came::request ? EBADENDPOINT : EREPLYREJECTED);
  }
}

void State::credit(std::uint32_t endpoint_id, std::uint32_t index, std::uint32_t serial) noexcept {
  if (am2_endpoint* const endpoint = find(endpoint_id)) credit(*endpoint, index, serial);
}

// -- what nobody polled for ---------------------------------------------------------------------------------------------------

State::~State() {
  if (here == this) here = nullptr;
  std::size_t count = 0;
  const Message* first = nullptr;
  const auto look_at = [&](const Message& message) {
    if (message.came != Came::request && message.came != Came::reply) return;
    if (count++ == 0) first = &message;
  };
  for (const auto& endpoint : endpoints_) {
    std::for_each(endpoint->batch.begin() + static_cast<std::ptrdiff_t>(endpoint->next),
                  endpoint->batch.end(), look_at);
    std::for_each(endpoint->inbox.begin(), endpoint->inbox.end(), look_at);
  }
  if (count == 0) return;
  say(node.id(), "left with ", count, count == 1 ? " message" : " messages",
      " of AM-II that no poll has run (the first from node ", first->from, " for handler ",
      first->head.handler, "): poll each bundle until what it is sent has come; AMX_SPMDExit does it");
}

}  // namespace am::models::am2
