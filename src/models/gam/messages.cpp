// GAM's messages: libam's handlers for them, the calls that send, and the marks behind what was sent. See models/gam/state.hpp.
#include <am/gam.h>
#include <am/error.hpp>
#include <am/message.hpp>

#include <cstring>
#include <exception>
#include <utility>

#include "models/code_address.hpp"
#include "models/gam/state.hpp"
#include "models/sending.hpp"
#include "models/unknown_code.hpp"

namespace am::models::gam {

namespace {

/// Zeros behind a medium message: programs for LAM read beyond its end by as much.
constexpr std::size_t slack = 8;

constexpr Level level_of(const Request& /*message*/) noexcept { return Level::request; }
constexpr Level level_of(const Reply& /*message*/) noexcept { return Level::reply; }

/// Calls a C function of a type that nobody has written down.
template <class... A>
void call(Code handler, A... arguments) {
  reinterpret_cast<void (*)(A...)>(handler)(arguments...);
}

/// Finds the handler, or reports that this program has not got it.
template <class Message>
Code handler_of(const Message& message, const char* call_name, CodeWord word) {
  const Code handler = code_of(word);
  if (handler == nullptr) report_unknown_code(message.node(), message.from(), call_name, word);
  return handler;
}

template <class Message>
vnn_t source(const Message& message) noexcept {
  return static_cast<vnn_t>(message.from());
}

// -- libam's handlers, for both levels

template <class Message>
void words_came(Message& message, CodeWord word, std::int64_t a, std::int64_t b, std::int64_t c,
                std::int64_t d, std::int64_t e) {
  const Code handler = handler_of(message, "a GAM message", word);
  if (handler == nullptr) return;
  const Running running(message.node().template own<State>(), level_of(message));
  call<vnn_t, gam_word_t, gam_word_t, gam_word_t, gam_word_t, gam_word_t>(handler, source(message), a, b, c,
                                                                          d, e);
}

template <class Message>
void double_came(Message& message, CodeWord word, std::int64_t a, std::int64_t b, double d) {
  const Code handler = handler_of(message, "a GAM message with a double", word);
  if (handler == nullptr) return;
  const Running running(message.node().template own<State>(), level_of(message));
  call<vnn_t, gam_word_t, gam_word_t, double>(handler, source(message), a, b, d);
}

template <class Message>
void medium_came(Message& message, CodeWord word, std::int64_t a, std::int64_t b, Payload bytes) {
  const Code handler = handler_of(message, "a medium GAM message", word);
  if (handler == nullptr) return;
  State& state = message.node().template own<State>();
  std::vector<std::byte>& buffer = state.buffers[level_of(message) == Level::reply ? 1 : 0];
  buffer.assign(bytes.data(), bytes.data() + bytes.size());
  buffer.resize(bytes.size() + slack);
  const Running running(state, level_of(message));
  call<vnn_t, void*, int, gam_word_t, gam_word_t>(handler, source(message), buffer.data(),
                                                  static_cast<int>(bytes.size()), a, b);
}

/// A store, or a reply_xfer, and what gam_get has asked for: to its place, then the handler.
template <class Message>
void run_mem(Message& message, Code handler, std::uintptr_t place, std::uintptr_t argument, Payload bytes) {
  auto* const address = reinterpret_cast<void*>(place);
  if (!bytes.empty()) std::memcpy(address, bytes.data(), bytes.size());
  const Running running(message.node().template own<State>(), level_of(message));
  if (handler == nullptr) return;
  call<vnn_t, void*, int, void*>(handler, source(message), address, static_cast<int>(bytes.size()),
                                 reinterpret_cast<void*>(argument));
}

template <class Message>
void store_came(Message& message, CodeWord word, std::uintptr_t place, std::uintptr_t argument,
                Payload bytes) {
  Code handler = nullptr;
  if (word != 0) {
    handler = handler_of(message, "a GAM store", word);
    if (handler == nullptr) return;
  }
  run_mem(message, handler, place, argument, bytes);
}

/// The handler comes back to its own node: as it is.
void got(Reply& reply, std::uintptr_t handler, std::uintptr_t place, std::uintptr_t argument, Payload bytes) {
  run_mem(reply, reinterpret_cast<Code>(handler), place, argument, bytes);
}
/// The answer goes although a handler throws while this one waits for room.
template <auto H, class... A>
void answer_surely(Request& request, const A&... arguments) {
  const std::exception_ptr thrown =
      send_surely(request.node(), Priority::high, [&] { return request.try_reply<H>(arguments...); });
  if (thrown != nullptr) std::rethrow_exception(thrown);
}
void get_came(Request& request, std::uintptr_t remote, std::uint64_t bytes, std::uintptr_t local,
              std::uintptr_t handler, std::uintptr_t argument) {
  ++request.node().own<State>().ran;
  const Payload data(reinterpret_cast<const void*>(remote), bytes);
  answer_surely<&got>(request, handler, local, argument, data);
}

// -- marks behind what was sent

void mark_answered(Reply& reply) { ++reply.node().own<State>().links[reply.from()].answered_marks; }
void mark_came(Request& request) { answer_surely<&mark_answered>(request); }
/// They are no messages of the program.
const impl::InternalHandlers<mark_came, mark_answered> internal_handlers;

int answer(State& state, Status status) noexcept {
  return status == Status::ok ? 0
                              : fail(state, status == Status::unreachable ? GAM_EUNREACHABLE : GAM_EBADARG);
}

/// What is wrong with a call that sends, or 0.
int fault_of(const State& state, Level from, vnn_t to, int nbytes, const void* memory) noexcept {
  if (state.level != from) return GAM_EHANDLER;
  if (to < 0 || static_cast<NodeId>(to) >= state.node.size()) return GAM_EBADNODE;
  return nbytes < 0 || (nbytes != 0 && memory == nullptr) ? GAM_EBADARG : GAM_OK;
}

/// A request: polls while there is no room. What a node sends to itself runs now.
template <auto H, class... A>
int request(vnn_t to, int nbytes, const void* memory, A... arguments) {
  State* const state = enabled_here();
  if (state == nullptr) return -1;
  if (const int fault = fault_of(*state, Level::computation, to, nbytes, memory)) return fail(*state, fault);
  const auto node = static_cast<NodeId>(to);
  const Status status = state->node.request<H>(node, arguments...);
  if (status == Status::ok) state->links[node].sent = true;
  if (node == state->node.id()) state->node.poll();
  return answer(*state, status);
}

/// A reply: while there is no room libam runs reply handlers only.
template <auto H, class... A>
int reply(vnn_t to, int nbytes, const void* memory, A... arguments) {
  State* const state = enabled_here();
  if (state == nullptr) return -1;
  if (const int fault = fault_of(*state, Level::request, to, nbytes, memory)) return fail(*state, fault);
  return answer(*state, state->node.reply_to<H>(static_cast<NodeId>(to), arguments...));
}

CodeWord word_for(const char* call_name, gam_code_t handler) noexcept {
  Node* const node = this_node();
  return node == nullptr ? 0 : word_or_end(*node, call_name, handler);
}
CodeWord word_or_none(const char* call_name, gam_code_t handler) noexcept {
  return handler == nullptr ? 0 : word_for(call_name, handler);
}

std::uintptr_t number(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }
std::uintptr_t number(gam_code_t handler) noexcept { return reinterpret_cast<std::uintptr_t>(handler); }

/// Until `step` comes to its end, whatever handlers throw meanwhile. Not where the node that it needs is gone.
template <class F>
auto insist(const Node& node, NodeId needed, std::exception_ptr& thrown, F step) {
  for (;;) {
    try {
      return step();
    } catch (...) {
      if (node.is_gone(needed)) throw;
      if (thrown == nullptr) thrown = std::current_exception();
    }
  }
}

}  // namespace

std::exception_ptr wait_for_all_sent(State& state) {
  Node& node = state.node;
  std::exception_ptr thrown;
  for (NodeId to = 0; to < node.size(); ++to) {
    Link& link = state.links[to];
    if (!std::exchange(link.sent, false)) continue;
    if (insist(node, to, thrown, [&] { return node.request<mark_came>(to); }) == Status::ok) ++link.marks;
  }
  for (NodeId to = 0; to < node.size(); ++to) {
    const Link& link = state.links[to];
    insist(node, to, thrown, [&] { node.wait_until([&] { return link.answered_marks == link.marks; }, to); });
  }
  return thrown;
}

}  // namespace am::models::gam

using namespace am::models::gam;  // NOLINT: the C functions below are its face
using am::Reply;
using am::Request;

extern "C" {

int gam_request_words(vnn_t to, gam_code_t h, gam_word_t a, gam_word_t b, gam_word_t c, gam_word_t d,
                      gam_word_t e) {
  return request<&words_came<Request>>(to, 0, nullptr, word_for("gam_request", h), a, b, c, d, e);
}
int gam_reply_words(vnn_t to, gam_code_t h, gam_word_t a, gam_word_t b, gam_word_t c, gam_word_t d,
                    gam_word_t e) {
  return reply<&words_came<Reply>>(to, 0, nullptr, word_for("gam_reply", h), a, b, c, d, e);
}

// For C89, whose callers pass what they have.
#undef gam_request_4
#undef gam_reply_4
int gam_request_4(vnn_t to, gam_code_t h, gam_word_t a, gam_word_t b, gam_word_t c, gam_word_t d) {
  return gam_request_words(to, h, a, b, c, d, 0);
}
int gam_reply_4(vnn_t to, gam_code_t h, gam_word_t a, gam_word_t b, gam_word_t c, gam_word_t d) {
  return gam_reply_words(to, h, a, b, c, d, 0);
}

int gam_request_double(vnn_t to, gam_code_t h, gam_word_t a, gam_word_t b, double d) {
  return request<&double_came<Request>>(to, 0, nullptr, word_for("gam_request_df", h), a, b, d);
}
int gam_reply_double(vnn_t to, gam_code_t h, gam_word_t a, gam_word_t b, double d) {
  return reply<&double_came<Reply>>(to, 0, nullptr, word_for("gam_reply_df", h), a, b, d);
}

int gam_request_medium(vnn_t to, gam_code_t h, const void* buf, int n, gam_word_t a, gam_word_t b) {
  return request<&medium_came<Request>>(to, n, buf, word_for("gam_request", h), a, b,
                                        am::Payload(buf, static_cast<std::size_t>(n)));
}
int gam_reply_medium(vnn_t to, gam_code_t h, const void* buf, int n, gam_word_t a, gam_word_t b) {
  return reply<&medium_came<Reply>>(to, n, buf, word_for("gam_reply", h), a, b,
                                    am::Payload(buf, static_cast<std::size_t>(n)));
}

// For C89.
#undef gam_request
#undef gam_reply
int gam_request(vnn_t to, gam_code_t h, const void* buf, int n, gam_word_t a, gam_word_t b) {
  return gam_request_medium(to, h, buf, n, a, b);
}
int gam_reply(vnn_t to, gam_code_t h, const void* buf, int n, gam_word_t a, gam_word_t b) {
  return gam_reply_medium(to, h, buf, n, a, b);
}

int gam_store_to(vnn_t to, const void* local, void* remote, int n, gam_code_t h, void* argument) {
  return request<&store_came<Request>>(to, n, remote == nullptr ? nullptr : local,
                                       word_or_none("gam_store", h), number(remote), number(argument),
                                       am::Payload(local, static_cast<std::size_t>(n)));
}
int gam_store_async_to(vnn_t to, const void* local, void* remote, int n, gam_code_t h, void* argument,
                       gam_code_t end, void* end_argument) {
  if (gam_store_to(to, local, remote, n, h, argument) != 0) return -1;
  if (end != nullptr) call<vnn_t, const void*, int, void*>(end, to, local, n, end_argument);
  return 0;
}
int gam_reply_store(vnn_t to, const void* local, void* remote, int n, gam_code_t h, void* argument) {
  return reply<&store_came<Reply>>(to, n, remote == nullptr ? nullptr : local,
                                   word_or_none("gam_reply_xfer", h), number(remote), number(argument),
                                   am::Payload(local, static_cast<std::size_t>(n)));
}
int gam_get_from(vnn_t to, const void* remote, void* local, int n, gam_code_t h, void* argument) {
  static_cast<void>(word_or_none("gam_get", h));  // it does not travel as a word, but must be a function
  return request<&get_came>(to, n, remote == nullptr ? nullptr : local, number(remote),
                            static_cast<std::uint64_t>(n), number(local), number(h), number(argument));
}

}  // extern "C"
