// AM-II's messages on their way: sent, put into inboxes by libam's handlers, run when their bundle is polled. The rules are at the
// head of state.hpp.
#include <am/draft.hpp>
#include <am/message.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "models/am2/invoke.hpp"
#include "models/am2/state.hpp"
#include "models/broken.hpp"
#include "models/polling.hpp"

namespace am::models::am2 {

namespace {

// -- libam's handlers: they take messages in, and send nothing but what needs no room to wait for

template <class Event>
Message message_of(const Event& event, Came came, std::uint64_t endpoints, std::uint64_t tag,
                   std::uint64_t head, Payload payload) {
  Message message;
  message.came = came;
  message.from = event.from();
  message.to_endpoint = static_cast<std::uint32_t>(endpoints);
  message.from_endpoint = static_cast<std::uint32_t>(endpoints >> 32);
  message.tag = tag;
  message.head = Head::from(head);
  if (!message.read(payload))
    broken(event.node().id(), "node ", event.from(), " sent what is no message of AM-II");
  return message;
}

void request_came(Request& request, std::uint64_t endpoints, std::uint64_t tag, std::uint64_t head,
                  Payload payload) {
  request.node().own<State>().arrived(message_of(request, Came::request, endpoints, tag, head, payload));
}

void reply_came(Reply& reply, std::uint64_t endpoints, std::uint64_t tag, std::uint64_t head,
                Payload payload) {
  State& state = reply.node().own<State>();
  Message message = message_of(reply, Came::reply, endpoints, tag, head, payload);
  state.credit(message.to_endpoint, message.head.index, message.head.serial);
  state.arrived(std::move(message));
}

/// A request's handler has sent no reply.
void answered(Reply& reply, std::uint32_t endpoint, std::uint32_t index, std::uint32_t serial) {
  reply.node().own<State>().credit(endpoint, index, serial);
}
/// A node that leaves need not wait for it: it is no message of the program.
const impl::InternalHandlers<answered> internal_handlers;

constexpr unsigned reply_bit = 16;

/// A request or reply that its receiver refused. `why`: status, whether it was a reply, the bytes of its data.
void came_back(Reply& reply, std::uint64_t endpoints, std::uint64_t tag, std::uint64_t head,
               std::uint64_t why, Payload payload) {
  State& state = reply.node().own<State>();
  const bool was_reply = (why >> reply_bit & 1) != 0;
  Message message = message_of(reply, was_reply ? Came::returned_reply : Came::returned_request, endpoints,
                               tag, head, payload);
  message.status = static_cast<int>(why & 0xffff);
  message.bytes = why >> 32;
  if (!was_reply) state.credit(message.to_endpoint, message.head.index, message.head.serial);
  state.arrived(std::move(message));
}

std::uint64_t why_word(const Message& message, int status) noexcept {
  return static_cast<std::uint64_t>(status) | std::uint64_t{!message.is_request()} << reply_bit |
         message.bytes << 32;
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

std::string_view name_of(int status) noexcept {
  switch (status) {
    case EBADARGS:
      return "EBADARGS";
    case EBADENTRY:
      return "EBADENTRY: its translation entry is not in use";
    case EBADTAG:
      return "EBADTAG: the endpoint has another tag";
    case EBADHANDLER:
      return "EBADHANDLER: the endpoint has no such handler";
    case EBADSEGOFF:
      return "EBADSEGOFF: it does not lie in the endpoint's segment";
    case EBADLENGTH:
      return "EBADLENGTH";
    case EBADENDPOINT:
      return "EBADENDPOINT: there is no such endpoint";
    case EUNREACHABLE:
      return "EUNREACHABLE: the node has left or died";
    case EREPLYREJECTED:
      return "EREPLYREJECTED: the endpoint that asked is gone";
    default:
      return "?";
  }
}

}  // namespace

// -- sending ----------------------------------------------------------------------------------------------------------------

/// `words` follow the three that every message has. A short one goes as it stands; one with data is written where it is read.
template <auto H, class... Words>
Status State::send(const Outgoing& message, bool try_only, Words... words) {
  const std::uint64_t endpoints = message.endpoints();
  const std::uint64_t tag = message.tag;
  const std::uint64_t head = message.head.word();
  Status status = Status::again;
  std::optional<Draft> draft;
  std::byte line[(3 + max_words) * 8];
  if (message.bytes == 0) message.write(line);
  const auto attempt = [&] {
    if (message.bytes == 0) {
      const Payload payload(line, message.payload_bytes());
      if constexpr (std::is_same_v<decltype(H), decltype(&request_came)>) {
        status = node.try_request<H>(message.to, endpoints, tag, head, words..., payload);
      } else {
        status = node.try_reply_to<H>(message.to, endpoints, tag, head, words..., payload);
      }
      return status != Status::again;
    }
    if (!draft) {
      draft.emplace(node.try_prepare<H>(message.to, message.payload_bytes(), endpoints, tag, head, words...));
      if (*draft) message.write(draft->data().data());
    }
    status = draft->status();
    if (status == Status::ok) {
      status = draft->commit();
    } else {
      draft.reset();
    }
    return status != Status::again;
  };
  if (!attempt() && !try_only) wait(attempt);
  return status;
}

Status State::send_request(const Outgoing& message, bool try_only) {
  return send<&request_came>(message, try_only);
}
Status State::send_reply(const Outgoing& message) { return send<&reply_came>(message, false); }

void State::came_back_here(am2_endpoint& endpoint, const Outgoing& message, Came came, int status) {
  Message back;
  back.came = came;
  back.status = status;
  back.from = message.to;
  back.to_endpoint = endpoint.id;
  back.from_endpoint = message.to_endpoint;
  back.tag = message.tag;
  back.head = message.head;
  std::copy_n(message.words, message.head.count, back.words.begin());
  back.bytes = message.bytes;
  endpoint.inbox.push_back(std::move(back));
}

// -- arriving ---------------------------------------------------------------------------------------------------------------

void State::arrived(Message&& message) {
  if (am2_endpoint* const endpoint = find(message.to_endpoint))
    return endpoint->inbox.push_back(std::move(message));
  if (message.came != Came::request && message.came != Came::reply)
    return;  // its sender is gone: nobody to tell
  const int status = message.came == Came::request ? EBADENDPOINT : EREPLYREJECTED;
  const Outgoing back = back_to_sender(message);
  if (send<&came_back>(back, true, why_word(message, status)) == Status::again)
    strays_.push_back(std::move(message));
}

void State::return_strays() {
  while (!strays_.empty()) {
    const Message message = std::move(strays_.back());
    strays_.pop_back();
    return_message(message, message.came == Came::request ? EBADENDPOINT : EREPLYREJECTED);
  }
}

void State::return_message(const Message& message, int status) {
  static_cast<void>(
      send<&came_back>(back_to_sender(message), false, why_word(message, status)));  // gone: nobody to tell
}

void State::credit(std::uint32_t endpoint_id, std::uint32_t index, std::uint32_t serial) noexcept {
  am2_endpoint* const endpoint = find(endpoint_id);
  if (endpoint == nullptr || index >= endpoint->translations.size()) return;
  Translation& translation = endpoint->translations[index];
  if (translation.serial == serial && translation.outstanding != 0) --translation.outstanding;
}

// -- what nobody polled for ---------------------------------------------------------------------------------------------------

State::~State() {
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

// -- running ----------------------------------------------------------------------------------------------------------------

void State::poll(am2_bundle& bundle) {
  polling(node, [&] { node.poll(); });
  run_messages(bundle);
}

void State::poll_or_yield(am2_bundle& bundle) {
  static_cast<void>(poll_(node));
  run_messages(bundle);
}

void State::run_messages(am2_bundle& bundle) {
  if (!strays_.empty()) return_strays();
  for (std::size_t i = 0; i < bundle.endpoints.size(); ++i) {  // a handler may add one
    am2_endpoint& endpoint = *bundle.endpoints[i];
    if (endpoint.next == endpoint.batch.size()) {
      endpoint.batch.clear();
      endpoint.next = 0;
      endpoint.batch.swap(endpoint.inbox);
    }
    while (endpoint.next < endpoint.batch.size()) run(endpoint, endpoint.batch[endpoint.next++]);
  }
}

void State::run(am2_endpoint& endpoint, Message& message) {
  switch (message.came) {
    case Came::request:
      return run_request(endpoint, message);
    case Came::reply:
      return run_reply(endpoint, message);
    case Came::returned_request:
    case Came::returned_reply:
      return run_returned(endpoint, message);
  }
}

int State::fault_of(const am2_endpoint& endpoint, const Message& message) const noexcept {
  const auto outside = [&](std::uint64_t offset, std::uint64_t bytes) {
    return bytes > endpoint.segment_bytes || offset > endpoint.segment_bytes - bytes;
  };
  const bool asks = message.came == Came::request;
  if (asks && endpoint.tag != AM_ALL && (endpoint.tag == AM_NONE || endpoint.tag != message.tag))
    return EBADTAG;
  if (asks && message.head.kind == Kind::get) {
    if (message.fields[2] > max_long) return EBADLENGTH;
    return outside(message.fields[0], message.fields[2]) ? EBADSEGOFF : 0;
  }
  if (message.head.handler == 0 || endpoint.handlers[message.head.handler] == nullptr) return EBADHANDLER;
  const bool to_segment = message.head.kind == Kind::bulk || message.head.kind == Kind::get;
  return to_segment && outside(message.fields[0], message.bytes) ? EBADSEGOFF : 0;
}

void State::run_request(am2_endpoint& endpoint, Message& message) {
  if (const int fault = fault_of(endpoint, message)) return return_message(message, fault);
  if (message.head.kind == Kind::get) return answer_get(endpoint, message);
  call(endpoint, message, true);
}

void State::run_reply(am2_endpoint& endpoint, Message& message) {
  if (const int fault = fault_of(endpoint, message)) return return_message(message, fault);
  call(endpoint, message, false);
}

void State::answer_get(am2_endpoint& endpoint, const Message& message) {
  Outgoing reply = back_to_sender(message);
  reply.fields = {message.fields[1]};
  reply.field_count = 1;
  reply.data = static_cast<const std::byte*>(endpoint.segment) + message.fields[0];
  reply.bytes = message.fields[2];
  static_cast<void>(send_reply(reply));  // gone: nobody to answer
}

void State::call(am2_endpoint& endpoint, Message& message, bool may_reply) {
  Token token{&message, &endpoint, may_reply};
  const auto answer = [&] {
    if (!token.may_reply) return;
    const Head& head = message.head;
    const auto attempt = [&] {
      return node.try_reply_to<answered>(message.from, message.from_endpoint, head.index, head.serial) !=
             Status::again;
    };
    if (!attempt()) wait(attempt);
  };
  std::byte* place = message.data.get();
  if (message.head.kind == Kind::bulk || message.head.kind == Kind::get) {
    place = static_cast<std::byte*>(endpoint.segment) + message.fields[0];
    if (message.bytes != 0) std::memcpy(place, message.data.get(), message.bytes);
    message.data.reset();
  }
  running = &token;
  try {
    invoke(endpoint.handlers[message.head.handler], &token, message, place);
  } catch (...) {
    running = nullptr;
    answer();
    throw;
  }
  running = nullptr;
  message.data.reset();
  answer();
}

void State::run_returned(am2_endpoint& endpoint, const Message& message) {
  am2_returned_t block{};
  block.endpoint = {message.from, message.from_endpoint};
  block.tag = message.tag;
  block.handler = message.head.handler;
  block.nbytes = message.bytes;
  block.count = message.head.count;
  std::copy_n(message.words.begin(), message.head.count, block.words);
  const am2_handler_fn_t handler = endpoint.handlers[0];
  if (handler == nullptr) {
    broken(node.id(), "AM-II: a ", message.is_request() ? "request" : "reply", " to endpoint ",
           message.from_endpoint, " of node ", message.from, " for its handler ", block.handler,
           " came back: ", name_of(message.status), " (set handler 0 to be told)");
  }
  Token none{nullptr, nullptr, false};
  struct Running {
    Token*& running;
    ~Running() { running = nullptr; }
  } const now{running = &none};
  reinterpret_cast<void (*)(int, op_t, void*)>(handler)(message.status, message.opcode(), &block);
}

}  // namespace am::models::am2
