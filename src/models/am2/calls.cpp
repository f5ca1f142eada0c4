// AM-II's calls that send, poll and wait, and what a token tells: see <am/am2.h>.
#include "models/am2/calls.hpp"

#include <algorithm>
#include <cstdarg>
#include <utility>

#include "models/am2/lines.hpp"

namespace am::models::am2 {

namespace {

constexpr Count probe_every_ns =
    100'000'000;  // while a request waits for answers of a node that may have left

/// Argument words.
class Words {
 public:
  template <class... W>
  explicit Words(W... words) noexcept : count_(sizeof...(words)), words_{words...} {}
  /// As C passes them: each a T.
  template <class T>
  static Words of(int count, va_list list) noexcept {
    Words words;
    words.count_ = count;
    if (count > max_words) return words;  // which is refused
    for (int i = 0; i < count; ++i) words.words_[static_cast<std::size_t>(i)] = va_arg(list, T);
    return words;
  }
  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] const am2_word_t* data() const noexcept { return words_.data(); }

 private:
  int count_;
  std::array<am2_word_t, max_words> words_;
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
  if (asked.nbytes < 0) return "a negative number of bytes";
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

bool has_credit(const Translation& entry, const am2_endpoint& endpoint) noexcept {
  return entry.outstanding < endpoint.window;
}

/// Waits until the entry has credit; handlers of the bundle run, which may change it. Returns 0, or why there will be none.
[[gnu::noinline]] int wait_for_credit(State& state, am2_endpoint& endpoint, int index) {
  Count probe_at = 0;
  const auto ends = [&] {
    const Translation* const entry = entry_in_use(endpoint, index);
    return entry == nullptr || has_credit(*entry, endpoint);
  };
  while (!ends()) {
    am2_bundle& bundle = *endpoint.bundle;
    state.wait(bundle, [&] {
      return ends() || state.node.count() >= probe_at ||
             std::any_of(bundle.endpoints.begin(), bundle.endpoints.end(),
                         [](auto* one) { return one->has_messages(); });
    });
    state.run_messages(bundle);
    if (state.node.count() < probe_at) continue;
    const Translation* const still = entry_in_use(endpoint, index);
    if (still != nullptr && state.node.is_gone(still->name.node)) return EUNREACHABLE;
    probe_at = state.node.count() + probe_every_ns;
  }
  return entry_in_use(endpoint, index) == nullptr ? EBADENTRY : 0;
}

/// A request polls first, where the program has not since its last one. In a burst, whose answers are on their way, few do, since to look
/// for an answer that is being written costs more than the request: those that find 0, 1, 4 and 16 unanswered. Who computes
/// between requests, so that each finds the last one's answer, polls at each.
bool is_to_poll(const am2_endpoint& endpoint, const Translation* entry) noexcept {
  if (endpoint.state->polled_since_request) return false;
  return entry == nullptr || 4 * endpoint.since_poll >= 3 * entry->outstanding;
}
/// For the next request. `polls`: this one does.
void count_towards_poll(am2_endpoint& endpoint, bool polls) noexcept {
  const bool has_polled = std::exchange(endpoint.state->polled_since_request, false);
  endpoint.since_poll = polls || has_polled ? 1 : endpoint.since_poll + 1;
}

/// The translation at `index`, or null. Polls before that if is_to_poll() says so.
Translation* polled_entry(State& state, am2_endpoint& endpoint, int index) {
  const bool polls = is_to_poll(endpoint, entry_in_use(endpoint, index));
  count_towards_poll(endpoint, polls);
  if (polls) state.poll(*endpoint.bundle);
  return entry_in_use(endpoint, index);  // handlers may change it
}

/// A request's credit while it is being sent, which comes back unless the request went. What runs where that waits may change the entry,
/// and throw.
class Credit {
 public:
  Credit(am2_endpoint& endpoint, int index) noexcept
      : endpoint_(endpoint), index_(static_cast<std::uint32_t>(index)) {
    Translation& entry = endpoint.translations[index_];
    serial_ = entry.serial;
    ++entry.outstanding;
  }
  ~Credit() {
    if (!used_) State::credit(endpoint_, index_, serial_);
  }
  Credit(const Credit&) = delete;
  Credit& operator=(const Credit&) = delete;
  void use() noexcept { used_ = true; }

 private:
  am2_endpoint& endpoint_;
  const std::uint32_t index_;
  std::uint32_t serial_;
  bool used_ = false;
};

/// What a node sends to itself runs before the call returns, and so does what comes back of it: where own messages wait, which have come
/// while their bundle was not open, behind them, the second time around.
int send_here(State& state, am2_endpoint& endpoint, const Outgoing& message) {
  am2_bundle& bundle = *endpoint.bundle;
  State::count_sent(endpoint, message, true);
  ++endpoint.translations[message.head.index].outstanding;
  state.deliver_here(message, Came::request, &bundle);
  state.run_messages(bundle);
  state.run_messages(bundle);
  return AM_OK;
}

/// What AM-II says of a request that libam has not sent.
int fault_of(Status status) noexcept {
  return status == Status::unreachable    ? EUNREACHABLE
         : status == Status::no_such_node ? EBADENDPOINT
                                          : EBADLENGTH;
}

int send_request(State& state, am2_endpoint& endpoint, int index, const Asked& asked, const Words& words) {
  Outgoing message = outgoing(asked, words, true);
  int fault = 0;
  Translation* entry = asked.async ? entry_in_use(endpoint, index) : polled_entry(state, endpoint, index);
  if (entry != nullptr && !has_credit(*entry, endpoint)) [[unlikely]] {
    if (asked.async) return AM_ERR_NOT_SENT;
    fault = wait_for_credit(state, endpoint, index);
    entry = entry_in_use(endpoint, index);
  }
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
    if (message.to == state.node.id()) [[unlikely]]
      return send_here(state, endpoint, message);
    Credit credit(endpoint, index);
    const Status status = state.send_request(message, asked.async);
    if (status == Status::again) return AM_ERR_NOT_SENT;
    State::count_sent(endpoint, message, true);
    if (status == Status::ok) [[likely]] {
      credit.use();
      return AM_OK;
    }
    fault = fault_of(status);
  }
  state.came_back_here(endpoint, message, Came::returned_request, fault);
  return AM_OK;
}

[[gnu::noinline]] int request(ep_t endpoint, int index, const Asked& asked, const Words& words) {
  return with_endpoint(asked.call, endpoint, [&](State& state, am2_endpoint& its) {
    if (state.running != nullptr)
      return refused(AM_ERR_RESOURCE, asked.call, "a handler may reply, and no more");
    if (index < 0 || static_cast<std::size_t>(index) >= its.translations.size())
      return refused(AM_ERR_BAD_ARG, asked.call, "no such index in the translation table");
    if (const char* const fault = fault_of(asked, words)) return refused(AM_ERR_BAD_ARG, asked.call, fault);
    return send_request(state, its, index, asked, words);
  });
}

/// The token of the message whose handler runs, or null.
Token* running(State& state, const void* token) noexcept {
  return token != nullptr && token == state.running && state.running->endpoint != nullptr ? state.running
                                                                                          : nullptr;
}

[[gnu::noinline]] int reply(void* token, const Asked& asked, const Words& words) {
  return with_state(asked.call, [&](State& state) {
    Token* const its = running(state, token);
    if (its == nullptr)
      return refused(AM_ERR_BAD_ARG, asked.call, "not the token of the message whose handler runs");
    if (!its->may_reply)
      return refused(AM_ERR_RESOURCE, asked.call, "one reply to a request, and none to a reply");
    if (const char* const fault = fault_of(asked, words)) return refused(AM_ERR_BAD_ARG, asked.call, fault);
    Outgoing message = outgoing(asked, words, false);
    message.to = its->from;
    message.to_endpoint = its->from_endpoint();
    message.from_endpoint = its->endpoint->id;
    message.tag = its->tag;
    message.head.index = its->index();
    message.head.serial = its->serial();
    if (message.to == state.node.id()) [[unlikely]] {
      its->may_reply = false;
      State::count_sent(*its->endpoint, message, false);
      state.deliver_here(message, Came::reply, its->endpoint->bundle);
      return AM_OK;
    }
    const Status status = state.send_reply(message);  // where that throws the request is still to be answered
    its->may_reply = false;
    State::count_sent(*its->endpoint, message, false);
    if (status != Status::ok)
      state.came_back_here(*its->endpoint, message, Came::returned_reply, EUNREACHABLE);
    return AM_OK;
  });
}

/// A reply has come through the entry that its request went through; in AMX's jobs entry i is node i.
int index_of_source(const Token& token) noexcept {
  const std::vector<Translation>& entries = token.endpoint->translations;
  const auto names_it = [&](const Translation& entry) {
    return entry.used && entry.name.node == token.from && entry.name.endpoint == token.from_endpoint();
  };
  for (const std::uint32_t likely : {token.came == Came::reply ? token.index() : token.from, token.from}) {
    if (likely < entries.size() && names_it(entries[likely])) return static_cast<int>(likely);
  }
  const auto found = std::find_if(entries.begin(), entries.end(), names_it);
  return found == entries.end() ? -1 : static_cast<int>(found - entries.begin());
}

// -- short ones of few words: as lines, where all is as usual

bool is_handler(handler_t handler) noexcept { return handler >= 0 && handler < handlers_per_endpoint; }

/// The entry through which a line goes, or null.
Translation* line_entry(am2_endpoint& endpoint, int index) noexcept {
  Translation* const entry = entry_in_use(endpoint, index);
  return entry != nullptr && entry->line.exists() ? entry : nullptr;
}

/// The same when it may send: has polled where that was due, and has credit.
Translation* ready_line_entry(State& state, am2_endpoint& endpoint, int index) {
  if (line_entry(endpoint, index) == nullptr) return nullptr;
  const Translation* const entry = polled_entry(state, endpoint, index);
  if (entry != nullptr && !has_credit(*entry, endpoint) && wait_for_credit(state, endpoint, index) != 0)
    return nullptr;
  return line_entry(endpoint, index);
}

/// Of a node that has it, and runs no handler.
bool is_usual(const State* state, ep_t endpoint, handler_t handler) noexcept {
  return state != nullptr && endpoint != nullptr && endpoint->state == state && state->running == nullptr &&
         is_handler(handler);
}

template <class... W>
int request_any(ep_t endpoint, int index, handler_t handler, W... words) {
  return request(endpoint, index, {"AM_Request", Kind::small, handler, nullptr, 0}, Words(words...));
}
template <class... W>
int reply_any(void* token, handler_t handler, W... words) {
  return reply(token, {"AM_Reply", Kind::small, handler, nullptr, 0}, Words(words...));
}

template <class... W>
bool send_ready_line(Node& node, am2_endpoint& endpoint, int index, Line line, W... words) {
  Credit credit(endpoint, index);
  const Translation& entry = endpoint.translations[static_cast<std::size_t>(index)];
  if (node.request<&request_line_came<W...>>(entry.name.node, std::uint64_t{entry.tag}, line.word,
                                             words...) != Status::ok)
    return false;
  credit.use();
  State::count_sent_line(endpoint, sizeof...(words), true);
  return true;
}

/// Where it is due to poll, or there is no credit, or no room, or no line at all.
template <class... W>
[[gnu::noinline]] int request_words_slowly(ep_t endpoint, int index, handler_t handler, W... words) {
  State* const state = initialised();
  if (!is_usual(state, endpoint, handler)) return request_any(endpoint, index, handler, words...);
  return guarded("AM_Request", [&] {
    const Translation* const entry = ready_line_entry(*state, *endpoint, index);
    const bool sent = entry != nullptr &&
                      send_ready_line(state->node, *endpoint, index,
                                      entry->line.to_handler(static_cast<std::uint8_t>(handler)), words...);
    return sent ? AM_OK : request_any(endpoint, index, handler, words...);
  });
}

template <class... W>
[[gnu::always_inline]] inline int request_words(ep_t endpoint, int index, handler_t handler, W... words) {
  const auto slowly = [&] { return request_words_slowly(endpoint, index, handler, words...); };
  State* const state = initialised();
  if (!is_usual(state, endpoint, handler)) [[unlikely]]
    return slowly();
  Translation* const entry = line_entry(*endpoint, index);
  if (entry == nullptr || is_to_poll(*endpoint, entry) || !has_credit(*entry, *endpoint)) [[unlikely]]
    return slowly();
  const NodeId to = entry->name.node;
  impl::Packet* const place = LineAccess::claim<Priority::low>(state->node, to);
  if (place == nullptr) [[unlikely]]
    return slowly();
  count_towards_poll(*endpoint, false);
  ++entry->outstanding;
  State::count_sent_line(*endpoint, sizeof...(words), true);
  const Line line = entry->line.to_handler(static_cast<std::uint8_t>(handler));
  LineAccess::send<&request_line_came<W...>>(state->node, to, *place, std::uint64_t{entry->tag}, line.word,
                                             words...);
  return AM_OK;
}

/// Whether that is the token of a message whose handler may reply by a line.
bool replies_by_line(const Token* running, const void* token, handler_t handler) noexcept {
  return running != nullptr && running == token && running->may_reply && running->line.exists() &&
         is_handler(handler);
}

/// Where there is no room, or no line at all.
template <class... W>
[[gnu::noinline]] int reply_words_slowly(void* token, handler_t handler, W... words) {
  State* const state = initialised();
  Token* const its = state != nullptr ? state->running : nullptr;
  if (!replies_by_line(its, token, handler)) return reply_any(token, handler, words...);
  return guarded("AM_Reply", [&] {
    const Line line = its->line.back().to_handler(static_cast<std::uint8_t>(handler));
    if (state->node.reply_to<&reply_line_came<W...>>(its->from, std::uint64_t{its->tag}, line.word,
                                                     words...) != Status::ok)
      return reply_any(token, handler, words...);
    its->may_reply = false;
    State::count_sent_line(*its->endpoint, sizeof...(words), false);
    return AM_OK;
  });
}

template <class... W>
[[gnu::always_inline]] inline int reply_words(void* token, handler_t handler, W... words) {
  const auto slowly = [&] { return reply_words_slowly(token, handler, words...); };
  State* const state = initialised();
  Token* const its = state != nullptr ? state->running : nullptr;
  if (!replies_by_line(its, token, handler)) [[unlikely]]
    return slowly();
  const NodeId to = its->from;
  impl::Packet* const place = LineAccess::claim<Priority::high>(state->node, to);
  if (place == nullptr) [[unlikely]]
    return slowly();
  its->may_reply = false;
  State::count_sent_line(*its->endpoint, sizeof...(words), false);
  const Line line = its->line.back().to_handler(static_cast<std::uint8_t>(handler));
  LineAccess::send<&reply_line_came<W...>>(state->node, to, *place, std::uint64_t{its->tag}, line.word,
                                           words...);
  return AM_OK;
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

#define AM2_TAKE_WORDS                                    \
  va_list list;                                           \
  va_start(list, count);                                  \
  const Words words = Words::of<am2_word_t>(count, list); \
  va_end(list)

extern "C" {

int am2_request0(ep_t endpoint, int destination, handler_t handler) {
  return request_words(endpoint, destination, handler);
}
int am2_request1(ep_t endpoint, int destination, handler_t handler, am2_word_t a0) {
  return request_words(endpoint, destination, handler, a0);
}
int am2_request2(ep_t endpoint, int destination, handler_t handler, am2_word_t a0, am2_word_t a1) {
  return request_words(endpoint, destination, handler, a0, a1);
}
int am2_request3(ep_t endpoint, int destination, handler_t handler, am2_word_t a0, am2_word_t a1,
                 am2_word_t a2) {
  return request_words(endpoint, destination, handler, a0, a1, a2);
}
int am2_request4(ep_t endpoint, int destination, handler_t handler, am2_word_t a0, am2_word_t a1,
                 am2_word_t a2, am2_word_t a3) {
  return request_words(endpoint, destination, handler, a0, a1, a2, a3);
}
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

int am2_reply0(void* token, handler_t handler) { return reply_words(token, handler); }
int am2_reply1(void* token, handler_t handler, am2_word_t a0) { return reply_words(token, handler, a0); }
int am2_reply2(void* token, handler_t handler, am2_word_t a0, am2_word_t a1) {
  return reply_words(token, handler, a0, a1);
}
int am2_reply3(void* token, handler_t handler, am2_word_t a0, am2_word_t a1, am2_word_t a2) {
  return reply_words(token, handler, a0, a1, a2);
}
int am2_reply4(void* token, handler_t handler, am2_word_t a0, am2_word_t a1, am2_word_t a2, am2_word_t a3) {
  return reply_words(token, handler, a0, a1, a2, a3);
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
    return give(name, en_t{its.from, its.from_endpoint()});
  });
}

int AM_GetDestEndpoint(void* token, ep_t* endpoint) {
  return with_token("AM_GetDestEndpoint", token,
                    [&](const Token& its) { return give(endpoint, its.endpoint); });
}

int AM_GetMsgTag(void* token, tag_t* tag) {
  return with_token("AM_GetMsgTag", token, [&](const Token& its) { return give(tag, its.tag); });
}

int AMX_GetSourceId(void* token, int* index) {
  return with_token("AMX_GetSourceId", token, [&](const Token& its) {
    const int found = index_of_source(its);
    if (found < 0)
      return refused(AM_ERR_RESOURCE, "AMX_GetSourceId",
                     "the endpoint's translation table has no entry for the one that sent it");
    return give(index, found);
  });
}

// -- the same calls for who has a list of words already, ints as there

int AMX_RequestVA(ep_t endpoint, int destination, handler_t handler, int count, va_list list) {
  return request(endpoint, destination, {"AMX_RequestVA", Kind::small, handler, nullptr, 0},
                 Words::of<int>(count, list));
}
int AMX_RequestIVA(ep_t endpoint, int destination, handler_t handler, const void* source, int nbytes,
                   int count, va_list list) {
  return request(endpoint, destination, {"AMX_RequestIVA", Kind::medium, handler, source, nbytes},
                 Words::of<int>(count, list));
}
int AMX_RequestXferVA(ep_t endpoint, int destination, handler_t handler, const void* source, int nbytes,
                      unsigned long offset, int async, int count, va_list list) {
  return request(endpoint, destination,
                 {"AMX_RequestXferVA", Kind::bulk, handler, source, nbytes, {offset}, async != 0},
                 Words::of<int>(count, list));
}
int AMX_ReplyVA(void* token, handler_t handler, int count, va_list list) {
  return reply(token, {"AMX_ReplyVA", Kind::small, handler, nullptr, 0}, Words::of<int>(count, list));
}
int AMX_ReplyIVA(void* token, handler_t handler, const void* source, int nbytes, int count, va_list list) {
  return reply(token, {"AMX_ReplyIVA", Kind::medium, handler, source, nbytes}, Words::of<int>(count, list));
}
int AMX_ReplyXferVA(void* token, handler_t handler, const void* source, int nbytes, unsigned long offset,
                    int count, va_list list) {
  return reply(token, {"AMX_ReplyXferVA", Kind::bulk, handler, source, nbytes, {offset}},
               Words::of<int>(count, list));
}

int AM_MaxShort() { return max_words; }
int AM_MaxMedium() { return max_medium; }
int AM_MaxLong() { return max_long; }

[[gnu::flatten]] int AM_Poll(eb_t bundle) {
  return with_bundle("AM_Poll", bundle, [](am2_bundle& its) {
    if (its.state->running != nullptr) return refused(AM_ERR_RESOURCE, "AM_Poll", "not from a handler");
    its.state->polled_since_request = true;
    its.state->others.after_poll(its.state->poll(its));
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
    its.state->node.wait_until([&] {
      return std::any_of(its.endpoints.begin(), its.endpoints.end(),
                         [](auto* one) { return one->has_messages(); });
    });
    its.event_mask = AM_NOEVENTS;
    return AM_OK;
  });
}

int AM_Wait(eb_t bundle) { return AM_WaitSema(bundle); }

}  // extern "C"
