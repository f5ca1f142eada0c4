// AM-II's calls that send, poll and wait, and what a token tells: see <am/am2.h>.
#include "models/am2/calls.hpp"

#include <algorithm>
#include <cstdarg>

namespace am::models::am2 {

namespace {

constexpr Count probe_every_ns =
    100'000'000;  // while a request waits for answers of a node that may have left

/// Argument words as C passes them.
class Words {
 public:
  Words(int count, va_list list) noexcept : count_(count) {
    if (count > max_words) return;  // which is refused
    for (int i = 0; i < count; ++i) words_[static_cast<std::size_t>(i)] = va_arg(list, am2_word_t);
  }
  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] const am2_word_t* data() const noexcept { return words_.data(); }

 private:
  int count_;
  std::array<am2_word_t, max_words> words_{};
};

/// What a call has to say beside its endpoint: checked alike for requests and replies.
struct Asked {
  const char* call;
  Kind kind;
  handler_t handler;
  const void* source;
  int nbytes;
  std::array<std::uint64_t, 3> fields{};
  bool async = false;
};

const char* fault_of(const Asked& asked, const Words& words) noexcept {
  if (asked.handler < 0 || asked.handler >= handlers_per_endpoint)
    return "a handler is an index from 0 to 255";
  if (words.count() < 0 || words.count() > max_words) return "more than AM_MaxShort words";
  if (asked.nbytes < 0) return "fewer than no bytes";
  if (asked.kind == Kind::medium && asked.nbytes > max_medium) return "more than AM_MaxMedium bytes";
  if ((asked.kind == Kind::bulk || asked.kind == Kind::get) && asked.nbytes > max_long)
    return "more than AM_MaxLong bytes";
  const bool reads = asked.kind == Kind::medium || asked.kind == Kind::bulk;
  return reads && asked.source == nullptr && asked.nbytes != 0 ? "no memory to send from" : nullptr;
}

Outgoing outgoing(const Asked& asked, const Words& words, bool request) noexcept {
  Outgoing message;
  message.head = {.kind = asked.kind,
                  .count = static_cast<std::uint8_t>(words.count()),
                  .handler = static_cast<std::uint8_t>(asked.handler)};
  message.fields = asked.fields;
  message.field_count = fields_of(asked.kind, request);
  message.words = words.data();
  if (asked.kind != Kind::get) {
    message.data = asked.source;
    message.bytes = static_cast<std::size_t>(asked.nbytes);
  }
  return message;
}

Translation* entry_in_use(am2_endpoint& endpoint, int index) noexcept {
  const auto i = static_cast<std::size_t>(index);
  return i < endpoint.translations.size() && endpoint.translations[i].used ? &endpoint.translations[i]
                                                                           : nullptr;
}

/// Waits until the entry has credit; handlers of the bundle run. Returns 0, or why there will be none.
int wait_for_credit(State& state, am2_endpoint& endpoint, int index) {
  Count probe_at = state.node.count() + probe_every_ns;
  for (;;) {
    const Translation* const entry = entry_in_use(endpoint, index);  // handlers may change it
    if (entry == nullptr) return EBADENTRY;
    if (entry->outstanding < endpoint.window) return 0;
    am2_bundle& bundle = *endpoint.bundle;
    state.wait([&] {
      return entry->outstanding < endpoint.window || state.node.count() >= probe_at ||
             std::any_of(bundle.endpoints.begin(), bundle.endpoints.end(),
                         [](auto* one) { return one->has_messages(); });
    });
    state.run_messages(bundle);
    if (state.node.count() < probe_at) continue;
    const Translation* const still = entry_in_use(endpoint, index);
    if (still != nullptr && state.node.is_gone(still->name.node)) return EUNREACHABLE;
    probe_at = state.node.count() + probe_every_ns;
  }
}

int send_request(State& state, am2_endpoint& endpoint, int index, const Asked& asked, const Words& words) {
  Outgoing message = outgoing(asked, words, true);
  int fault = 0;
  if (asked.async) {
    const Translation* const entry = entry_in_use(endpoint, index);
    if (entry != nullptr && entry->outstanding >= endpoint.window) return AM_ERR_NOT_SENT;
  } else {
    state.poll(*endpoint.bundle);
    fault = wait_for_credit(state, endpoint, index);
  }
  Translation* entry = entry_in_use(endpoint, index);
  if (entry == nullptr) fault = EBADENTRY;
  if (entry != nullptr) {
    message.to = entry->name.node;
    message.to_endpoint = entry->name.endpoint;
    message.from_endpoint = endpoint.id;
    message.tag = entry->tag;
    message.head.index = static_cast<std::uint32_t>(index);
    message.head.serial = entry->serial;
  }
  if (fault == 0) {
    ++entry->outstanding;
    const Status status = state.send_request(message, asked.async);
    if (status == Status::ok) return AM_OK;
    --entry->outstanding;  // no handler has run meanwhile: the entry is where it was
    if (status == Status::again) return AM_ERR_NOT_SENT;
    fault = status == Status::unreachable    ? EUNREACHABLE
            : status == Status::no_such_node ? EBADENDPOINT
                                             : EBADLENGTH;
  }
  state.came_back_here(endpoint, message, Came::returned_request, fault);
  return AM_OK;
}

int request(ep_t endpoint, int index, const Asked& asked, const Words& words) {
  return with_endpoint(asked.call, endpoint, [&](State& state, am2_endpoint& its) {
    if (state.running != nullptr)
      return refused(AM_ERR_RESOURCE, asked.call, "a handler may reply, and no more");
    if (index < 0 || static_cast<std::size_t>(index) >= its.translations.size())
      return refused(AM_ERR_BAD_ARG, asked.call, "no such index in the translation table");
    if (const char* const fault = fault_of(asked, words)) return refused(AM_ERR_BAD_ARG, asked.call, fault);
    const int status = send_request(state, its, index, asked, words);
    // What a node sends to itself runs before the call returns, as programs for AMUDP and AMMPI are used to.
    const Translation* const entry = its.bundle != nullptr ? entry_in_use(its, index) : nullptr;
    if (!asked.async && entry != nullptr && entry->name.node == state.node.id()) state.poll(*its.bundle);
    return status;
  });
}

/// The token of the message whose handler runs, or null.
Token* running(State& state, const void* token) noexcept {
  return token != nullptr && token == state.running && state.running->message != nullptr ? state.running
                                                                                         : nullptr;
}

int reply(void* token, const Asked& asked, const Words& words) {
  return with_state(asked.call, [&](State& state) {
    Token* const its = running(state, token);
    if (its == nullptr)
      return refused(AM_ERR_BAD_ARG, asked.call, "not the token of the message whose handler runs");
    if (!its->may_reply)
      return refused(AM_ERR_RESOURCE, asked.call, "one reply to a request, and none to a reply");
    if (const char* const fault = fault_of(asked, words)) return refused(AM_ERR_BAD_ARG, asked.call, fault);
    Outgoing message = outgoing(asked, words, false);
    const Message& asks = *its->message;
    message.to = asks.from;
    message.to_endpoint = asks.from_endpoint;
    message.from_endpoint = asks.to_endpoint;
    message.tag = asks.tag;
    message.head.index = asks.head.index;
    message.head.serial = asks.head.serial;
    its->may_reply = false;
    const Status status = state.send_reply(message);
    if (status != Status::ok)
      state.came_back_here(*its->endpoint, message, Came::returned_reply, EUNREACHABLE);
    return AM_OK;
  });
}

template <class F>
int with_token(const char* call, void* token, F&& f) {
  return with_state(call, [&](State& state) {
    const Token* const its = running(state, token);
    if (its == nullptr)
      return refused(AM_ERR_BAD_ARG, call, "not the token of the message whose handler runs");
    return f(*its);
  });
}

}  // namespace
}  // namespace am::models::am2

using namespace am::models::am2;  // NOLINT: the C functions below are its face

#define AM2_TAKE_WORDS            \
  va_list list;                   \
  va_start(list, count);          \
  const Words words(count, list); \
  va_end(list)

extern "C" {

int am2_request(ep_t endpoint, int destination, handler_t handler, int count, ...) {
  AM2_TAKE_WORDS;
  return request(endpoint, destination, {"AM_Request", Kind::small, handler, nullptr, 0}, words);
}

int am2_request_i(ep_t endpoint, int destination, handler_t handler, const void* source, int nbytes,
                  int count, ...) {
  AM2_TAKE_WORDS;
  return request(endpoint, destination, {"AM_RequestI", Kind::medium, handler, source, nbytes}, words);
}

int am2_request_xfer(ep_t endpoint, int destination, unsigned long offset, handler_t handler,
                     const void* source, int nbytes, int async, int count, ...) {
  AM2_TAKE_WORDS;
  return request(endpoint, destination,
                 {"AM_RequestXfer", Kind::bulk, handler, source, nbytes, {offset}, async != 0}, words);
}

int am2_get_xfer(ep_t endpoint, int destination, unsigned long source_offset, handler_t handler,
                 unsigned long destination_offset, int nbytes, int async, int count, ...) {
  AM2_TAKE_WORDS;
  const auto bytes = static_cast<std::uint64_t>(nbytes);
  return request(endpoint, destination,
                 {"AM_GetXfer",
                  Kind::get,
                  handler,
                  nullptr,
                  nbytes,
                  {source_offset, destination_offset, bytes},
                  async != 0},
                 words);
}

int am2_reply(void* token, handler_t handler, int count, ...) {
  AM2_TAKE_WORDS;
  return reply(token, {"AM_Reply", Kind::small, handler, nullptr, 0}, words);
}

int am2_reply_i(void* token, handler_t handler, const void* source, int nbytes, int count, ...) {
  AM2_TAKE_WORDS;
  return reply(token, {"AM_ReplyI", Kind::medium, handler, source, nbytes}, words);
}

int am2_reply_xfer(void* token, unsigned long offset, handler_t handler, const void* source, int nbytes,
                   int count, ...) {
  AM2_TAKE_WORDS;
  return reply(token, {"AM_ReplyXfer", Kind::bulk, handler, source, nbytes, {offset}}, words);
}

int AM_GetSourceEndpoint(void* token, en_t* name) {
  return with_token("AM_GetSourceEndpoint", token, [&](const Token& its) {
    return give(name, en_t{its.message->from, its.message->from_endpoint});
  });
}

int AM_GetDestEndpoint(void* token, ep_t* endpoint) {
  return with_token("AM_GetDestEndpoint", token,
                    [&](const Token& its) { return give(endpoint, its.endpoint); });
}

int AM_GetMsgTag(void* token, tag_t* tag) {
  return with_token("AM_GetMsgTag", token, [&](const Token& its) { return give(tag, its.message->tag); });
}

int AMX_GetSourceId(void* token, int* node) {
  return with_token("AMX_GetSourceId", token,
                    [&](const Token& its) { return give(node, static_cast<int>(its.message->from)); });
}

int AM_MaxShort() { return max_words; }
int AM_MaxMedium() { return max_medium; }
int AM_MaxLong() { return max_long; }

int AM_Poll(eb_t bundle) {
  return with_bundle("AM_Poll", bundle, [](am2_bundle& its) {
    if (its.state->running != nullptr) return refused(AM_ERR_RESOURCE, "AM_Poll", "not from a handler");
    its.state->poll_or_yield(its);
    return AM_OK;
  });
}

int AM_GetEventMask(eb_t bundle, int* mask) {
  return with_bundle("AM_GetEventMask", bundle, [&](am2_bundle& its) { return give(mask, its.event_mask); });
}

int AM_SetEventMask(eb_t bundle, int mask) {
  return with_bundle("AM_SetEventMask", bundle, [&](am2_bundle& its) {
    if (mask != AM_NOEVENTS && mask != AM_NOTEMPTY)
      return refused(AM_ERR_BAD_ARG, "AM_SetEventMask", "AM_NOEVENTS or AM_NOTEMPTY");
    its.event_mask = mask;
    return AM_OK;
  });
}

int AM_WaitSema(eb_t bundle) {
  return with_bundle("AM_WaitSema", bundle, [](am2_bundle& its) {
    if (its.state->running != nullptr) return refused(AM_ERR_RESOURCE, "AM_WaitSema", "not from a handler");
    if (its.event_mask == AM_NOEVENTS) return AM_OK;
    its.state->wait([&] {
      return std::any_of(its.endpoints.begin(), its.endpoints.end(),
                         [](auto* one) { return one->has_messages(); });
    });
    its.event_mask = AM_NOEVENTS;
    return AM_OK;
  });
}

int AM_Wait(eb_t bundle) { return AM_WaitSema(bundle); }

}  // extern "C"
