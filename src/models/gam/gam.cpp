// GAM over libam: see <am/gam.h>.
//
//  - A GAM request is a libam request, a GAM reply a libam reply, and their handlers run as libam's do, in polls (models/polling.hpp
//    keeps them there in every mode): a reply that waits for room runs reply handlers only, as GAM's does.
//  - A handler travels as a word of models/code_address.hpp, with five words beside it: one line. Who does not know a handler says so.
//  - store, get, reply_xfer and medium messages carry their bytes as a payload. Addresses of memory travel as they are.
//  - What a node sends to itself runs before the call returns, where the network does not hold it back, as TCPAM's does.
//
// The node's own thread only.
#include <am/gam.h>
#include <am/error.hpp>
#include <am/message.hpp>
#include <am/start.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "models/broken.hpp"
#include "models/code_address.hpp"
#include "models/polling.hpp"
#include "models/unknown_code.hpp"

namespace am::models::gam {

namespace {

constexpr int max_size = 16 << 10;  // what programs have buffers for

enum class Level : std::uint8_t { computation, request, reply };

/// What a node has of GAM.
struct State {
  explicit State(Node& its_node) : node(its_node) {}

  Node& node;
  bool enabled = false;
  int error = GAM_OK;
  Level level = Level::computation;
  PollOrYield poll;
  std::uint64_t ran = 0;                          // handlers
  std::array<std::vector<std::byte>, 2> buffers;  // of the medium message that runs, by level
};

/// While a handler runs.
class Running {
 public:
  Running(State& state, Level level) noexcept : state_(state), before_(std::exchange(state.level, level)) {
    ++state.ran;
  }
  ~Running() { state_.level = before_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  State& state_;
  Level before_;
};

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
/// The answer goes although a handler throws while this one waits for room: so it waits by itself, for replies' handlers alone.
void get_came(Request& request, std::uintptr_t remote, std::uint64_t bytes, std::uintptr_t local,
              std::uintptr_t handler, std::uintptr_t argument) {
  ++request.node().own<State>().ran;
  const Payload data(reinterpret_cast<const void*>(remote), bytes);
  std::exception_ptr thrown;
  while (request.try_reply<got>(handler, local, argument, data) == Status::again) {
    try {
      request.node().poll_replies();
    } catch (...) {
      if (thrown == nullptr) thrown = std::current_exception();
    }
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

// -- what calls have in common

int fail(State& state, int error) noexcept {
  state.error = error;
  return -1;
}

/// gam_errno() of a thread that has no node: why.
thread_local constinit int error_without_node = GAM_ENOTENABLED;

State* state_here() noexcept {
  Node* const node = this_node();
  return node == nullptr ? nullptr : &node->own<State>();
}

State* enabled_here() noexcept {
  State* const state = state_here();
  if (state == nullptr || state->enabled) return state;
  state->error = GAM_ENOTENABLED;
  return nullptr;
}

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
  Status status = Status::ok;
  polling(state->node, [&] {
    status = state->node.request<H>(static_cast<NodeId>(to), arguments...);
    if (static_cast<NodeId>(to) == state->node.id()) state->node.poll();
  });
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

/// Polls until pred() holds.
template <class P>
int wait(State& state, P&& pred) {
  if (state.level != Level::computation) return fail(state, GAM_EHANDLER);
  polling(state.node, [&] { state.node.wait_until(pred); });
  return 0;
}

int wait_for(State& state, volatile int* flag, int value) {
  if (const int failed = wait(state, [&] { return *flag >= value; })) return failed;
  *flag = *flag - value;
  return 0;
}

void add(long counter, long by) noexcept {
  auto* const place = reinterpret_cast<volatile unsigned long*>(counter);
  *place = *place + static_cast<unsigned long>(by);
}
void clear(long sema) noexcept { *reinterpret_cast<volatile unsigned long*>(sema) = 0; }

void send_back(vnn_t to, void (*handler)(vnn_t, long), void* counter) {
  static_cast<void>(gam_reply_1(to, handler, counter));
}

}  // namespace
}  // namespace am::models::gam

using namespace am::models::gam;  // NOLINT: the C functions below are its face
using am::Reply;
using am::Request;

extern "C" {

// -- start and end

int gam_enable(...) {
  try {
    am::Node* node = am::this_node();
    if (node == nullptr) node = &am::start(0, nullptr, {.interrupt_safe = true});  // its handlers run in polls
    State& state = node->own<State>();
    if (state.enabled) return 0;
    state.enabled = true;
    am::models::begin_polling(*node);
    return 0;
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    error_without_node = GAM_ESTART;
    return -1;
  }
}

int gam_barrier() {
  State* const state = enabled_here();
  if (state == nullptr) return -1;
  if (state->level != Level::computation) return fail(*state, GAM_EHANDLER);
  try {
    am::models::polling(state->node, [&] { state->node.barrier(); });
    return 0;
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return fail(*state, GAM_EUNREACHABLE);
  }
}

int lam_sync_all() { return gam_barrier() == 0 ? 1 : -1; }

int gam_disable() {
  const int left_alone = gam_barrier();
  State* const state = enabled_here();
  if (state == nullptr || state->level != Level::computation) return -1;
  am::models::polling(state->node, [&] {
    while (state->node.poll() != 0) {  // what is there
    }
  });
  state->enabled = false;
  return left_alone;
}

void gam_exit(int code) { std::exit(code); }  // NOLINT(concurrency-mt-unsafe): as the program asks

int gam_my_proc() {
  const State* const state = enabled_here();
  return state == nullptr ? -1 : static_cast<int>(state->node.id());
}

int gam_procs() {
  const State* const state = enabled_here();
  return state == nullptr ? -1 : static_cast<int>(state->node.size());
}

int gam_max_size() { return max_size; }

int gam_errno() {
  const State* const state = state_here();
  return state == nullptr ? error_without_node : state->error;
}

int gam_isalive(vnn_t node) {
  State* const state = enabled_here();
  if (state == nullptr || node < 0 || static_cast<am::NodeId>(node) >= state->node.size()) return 0;
  if (state->level == Level::computation)
    static_cast<void>(state->poll(state->node));  // nothing else brings the news
  return state->node.is_gone(static_cast<am::NodeId>(node)) ? 0 : 1;
}

// -- messages

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

// -- progress

void gam_poll() {
  State* const state = enabled_here();
  if (state == nullptr) return;
  if (state->level != Level::computation) return static_cast<void>(fail(*state, GAM_EHANDLER));
  static_cast<void>(state->poll(state->node));
}

int gam_wait(volatile int* flag, int value) {
  State* const state = enabled_here();
  if (state == nullptr) return -1;
  if (state->level != Level::computation) return fail(*state, GAM_EHANDLER);
  gam_poll();
  return wait_for(*state, flag, value);
}

int gam_poll_wait(volatile int* flag, int value) {
  State* const state = enabled_here();
  return state == nullptr ? -1 : wait_for(*state, flag, value);
}

int gam_sleep(...) {
  State* const state = enabled_here();
  return state == nullptr ? -1 : wait(*state, [state, before = state->ran] { return state->ran != before; });
}

// -- counters

void gam_dummy(vnn_t /*from*/, void* /*address*/, int /*n*/, void* /*argument*/) {}
void r_cntr_incr(vnn_t /*from*/, long counter) { add(counter, 1); }
void r_cntr_decr(vnn_t /*from*/, long counter) { add(counter, -1); }
void r_cntr_incr_mem(vnn_t from, void* /*address*/, int /*n*/, void* counter) {
  r_cntr_incr(from, GAM_W(counter));
}
void r_cntr_decr_mem(vnn_t from, void* /*address*/, int /*n*/, void* counter) {
  r_cntr_decr(from, GAM_W(counter));
}
void r_cntr_incr_reply_mem(vnn_t from, void* /*address*/, int /*n*/, void* counter) {
  send_back(from, r_cntr_incr, counter);
}
void r_cntr_decr_reply_mem(vnn_t from, void* /*address*/, int /*n*/, void* counter) {
  send_back(from, r_cntr_decr, counter);
}
void r_ta_sema_signal(vnn_t /*from*/, long sema) { clear(sema); }
void r_ta_sema_signal_mem(vnn_t /*from*/, void* /*address*/, int /*n*/, void* sema) { clear(GAM_W(sema)); }
void r_ta_sema_signal_reply_mem(vnn_t from, void* /*address*/, int /*n*/, void* sema) {
  send_back(from, r_ta_sema_signal, sema);
}

}  // extern "C"
