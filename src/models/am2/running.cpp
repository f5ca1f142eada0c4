// AM-II's messages when they run: judged, put where they belong, and handed to their handlers. The rules are at the head of state.hpp.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "models/am2/invoke.hpp"
#include "models/am2/state.hpp"
#include "models/broken.hpp"

namespace am::models::am2 {

namespace {

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

bool to_segment(const Message& message) noexcept {
  return message.head.kind == Kind::bulk || message.head.kind == Kind::get;
}

}  // namespace

std::size_t State::poll(am2_bundle& bundle) {
  std::size_t ran = 0;
  {
    const Polled now(*this, bundle);
    ran = node.poll();
  }
  run_messages(bundle);
  return ran;
}

[[gnu::noinline]] void State::run_waiting(am2_bundle& bundle) {
  if (!strays_.empty()) return_strays();
  for (std::size_t i = 0; i < bundle.endpoints.size(); ++i) {  // a handler may add one
    am2_endpoint& endpoint = *bundle.endpoints[i];
    if (!endpoint.has_messages()) continue;
    if (endpoint.next == endpoint.batch.size()) {
      endpoint.batch.clear();
      endpoint.next = 0;
      endpoint.batch.swap(endpoint.inbox);
    }
    while (endpoint.next < endpoint.batch.size()) {
      --waiting_;
      run(endpoint, endpoint.batch[endpoint.next++]);
    }
  }
}

void State::run(am2_endpoint& endpoint, const Message& message) {
  if (message.came != Came::request && message.came != Came::reply) return run_returned(endpoint, message);
  if (const int fault = fault_of(endpoint, message)) return return_message(message, fault);
  run_right(endpoint, message);
}

/// What is refused, or comes back, is told of in the computation; and a reply's handler of libam's must send nothing.
bool State::may_run_in_a_handler(const am2_endpoint& endpoint, const Message& message) const noexcept {
  return (message.came == Came::request || message.came == Came::reply) && fault_of(endpoint, message) == 0;
}

int State::fault_of(const am2_endpoint& endpoint, const Message& message) const noexcept {
  const auto outside = [&](std::uint64_t offset, std::uint64_t bytes) {
    return bytes > endpoint.segment_bytes || offset > endpoint.segment_bytes - bytes;
  };
  const bool asks = message.came == Came::request;
  if (asks && !endpoint.takes(message.tag)) return EBADTAG;
  if (asks && message.head.kind == Kind::get) {
    if (message.fields[2] > max_long) return EBADLENGTH;
    return outside(message.fields[0], message.fields[2]) ? EBADSEGOFF : 0;
  }
  if (message.head.handler == 0 || endpoint.handlers[message.head.handler] == nullptr) return EBADHANDLER;
  const bool to_segment = message.head.kind == Kind::bulk || message.head.kind == Kind::get;
  return to_segment && outside(message.fields[0], message.bytes) ? EBADSEGOFF : 0;
}

void State::run_right(am2_endpoint& endpoint, const Message& message) {
  const bool asks = message.came == Came::request;
  if (asks && message.head.kind == Kind::get) return answer_get(endpoint, message);
  call(endpoint, message, asks);
}

/// Of a medium message a buffer, in which the handler may write; of the others their place in the segment.
void* State::place_of(const am2_endpoint& endpoint, const Message& message) {
  if (to_segment(message)) {
    std::byte* const place = static_cast<std::byte*>(endpoint.segment) + message.fields[0];
    if (message.bytes != 0) std::memmove(place, message.data, message.bytes);
    return place;
  }
  if (message.kept != nullptr) return message.kept.get();
  std::vector<std::byte>& buffer = buffers_[message.came == Came::reply ? 1 : 0];
  buffer.assign(message.data, message.data + message.bytes);
  return buffer.data();
}

void State::call(am2_endpoint& endpoint, const Message& message, bool may_reply) {
  Line line;
  if (message.from != node.id())
    line = Line::way(message.to_endpoint, message.from_endpoint, message.head.index, message.head.serial);
  Token token{&endpoint, &message, line, message.tag, message.from, message.came, may_reply};
  void* const place = message.head.kind == Kind::small ? nullptr : place_of(endpoint, message);
  count_received(endpoint, message);
  run_with(token, [&] { call_handler(endpoint, token, place); });
}

void State::call_handler(am2_endpoint& endpoint, Token& token, void* place) {
  const am2_handler_fn_t handler = endpoint.handlers[token.message->head.handler];
  if (endpoint.before_handler == nullptr && endpoint.after_handler == nullptr) [[likely]]
    return invoke(handler, &token, *token.message, place);
  call_with_callbacks(endpoint, token, place, handler);
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
  Token none{nullptr, &message, {}, message.tag, message.from, message.came, false};
  ++endpoint.stats.ReturnedMessages;
  const Running now(running, none);
  reinterpret_cast<void (*)(int, op_t, void*)>(handler)(message.status, message.opcode(), &block);
}

}  // namespace am::models::am2
