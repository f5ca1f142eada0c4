// CMAM_4 and its relatives. The mapping is at the head of models/cmam/state.hpp.
#include "models/cmam/messages.hpp"

#include <am/cmam.h>

#include <bit>
#include <cstdarg>

#include "models/unknown_code.hpp"

namespace am::models::cmam {

namespace {

/// Doubles go in registers of their own, in both calling conventions: wherever they stand among the words, the n-th is the n-th.
void call_with_doubles(Code function, std::uint32_t doubles, const Word* words) {
  Word integer[4]{};
  double floating[4]{};
  for (int i = 0, integers = 0, floats = 0; i < 4; ++i) {
    if ((doubles >> i & 1) != 0) {
      floating[floats++] = std::bit_cast<double>(words[i]);
    } else {
      integer[integers++] = words[i];
    }
  }
  using WithDoubles = void (*)(Word, Word, Word, Word, double, double, double, double);
  reinterpret_cast<WithDoubles>(function)(integer[0], integer[1], integer[2], integer[3], floating[0],
                                          floating[1], floating[2], floating[3]);
}

constexpr const char* a_message = "a message";

template <Level level, class Message>
[[gnu::noinline]] void run_slowly(Message& message, CodeWord word, Word a0, Word a1, Word a2, Word a3) {
  const Code handler = code_of(word);
  if (handler == nullptr) return report_unknown_code(message.node(), message.from(), a_message, word);
  const Running running(message.node(), handler, level);
  call(handler, a0, a1, a2, a3);
}

template <Level level, class Message>
void run_doubles(Message& message, CodeWord word, std::uint32_t doubles, Word a0, Word a1, Word a2, Word a3) {
  const Code handler = code_of(word);
  if (handler == nullptr) return report_unknown_code(message.node(), message.from(), a_message, word);
  const Running running(message.node(), handler, level);
  const Word words[4] = {a0, a1, a2, a3};
  call_with_doubles(handler, doubles, words);
}

/// What is rare is another function's, so that this one saves no registers for it: their stores would go out before the reply.
void run_request(Request& request, CodeWord word, Word a0, Word a1, Word a2, Word a3) {
  const Code handler = code_in_program(word);
  if (handler == nullptr || here.state == nullptr || &here.state->node() != &request.node()) [[unlikely]]
    return run_slowly<Level::request>(request, word, a0, a1, a2, a3);
  const RunningRequest running(handler);
  call(handler, a0, a1, a2, a3);
}
void run_reply(Reply& reply, CodeWord word, Word a0, Word a1, Word a2, Word a3) {
  const Code handler = code_in_program(word);
  if (handler == nullptr) [[unlikely]]
    return run_slowly<Level::reply>(reply, word, a0, a1, a2, a3);
  const Running running(reply.node(), handler, Level::reply);
  call(handler, a0, a1, a2, a3);
}
void run_request_doubles(Request& request, CodeWord word, std::uint32_t doubles, Word a0, Word a1, Word a2,
                         Word a3) {
  run_doubles<Level::request>(request, word, doubles, a0, a1, a2, a3);
}
void run_reply_doubles(Reply& reply, CodeWord word, std::uint32_t doubles, Word a0, Word a1, Word a2,
                       Word a3) {
  run_doubles<Level::reply>(reply, word, doubles, a0, a1, a2, a3);
}

/// On which network a call goes: by its name, and for an rpc by where it is called.
enum class Way : std::uint8_t { request, reply, rpc };

Status try_low(Node& node, const PutOff& m) {
  if (m.doubles != 0)
    return node.try_request<run_request_doubles>(m.to, m.code, m.doubles, m.words[0], m.words[1], m.words[2],
                                                 m.words[3]);
  return node.try_request<run_request>(m.to, m.code, m.words[0], m.words[1], m.words[2], m.words[3]);
}

void send_high(Node& node, const PutOff& m) {
  if (m.doubles != 0) {
    node.reply_to<run_reply_doubles>(m.to, m.code, m.doubles, m.words[0], m.words[1], m.words[2], m.words[3]);
  } else {
    node.reply_to<run_reply>(m.to, m.code, m.words[0], m.words[1], m.words[2], m.words[3]);
  }
}

/// A message of a handler's, or with doubles, or a reply.
void send(State& state, Way way, const char* name, const PutOff& message) {
  if (here.level == Level::reply) not_in_this_handler(state, name);
  const bool handler = here.level == Level::request;
  if (way == Way::reply || (way == Way::rpc && handler)) {
    const Open open(state);
    send_high(state.node(), message);
  } else if (handler) {
    if (state.has_put_off() || try_low(state.node(), message) == Status::again) state.put_off(message);
  } else {
    const Open open(state);
    request_of_computation(state.node(), message);
  }
}

template <Way way>
[[gnu::noinline]] void send_slowly(const char* name, int node, am_code handler, Word a0, Word a1, Word a2,
                                   Word a3) {
  State& sender = state();
  const NodeId to = checked_node(sender, name, node);
  const CodeWord word = word_or_end(sender.node(), name, handler);
  send(sender, way, name, {PutOff::What::message, 0, to, word, {a0, a1, a2, a3}});
}

/// The usual message: four words to a handler of the program, from where it is usual. All else, down to wrong calls, is another
/// function's, as in run_request. A peer that is gone is told of elsewhere (docs/contract.md, 11): these calls have no status.
template <Way way>
[[gnu::always_inline]] inline void send_words(const char* name, int node, am_code handler, Word a0, Word a1,
                                              Word a2, Word a3) {
  constexpr Level usual = way == Way::reply ? Level::request : Level::computation;
  State* const sender = here.state;
  const auto to = static_cast<NodeId>(node);
  const CodeWord word = word_in_program(handler);
  if (word == 0 || sender == nullptr || here.level != usual || to >= sender->node().size() ||
      (usual == Level::computation && sender->holds_events_off())) [[unlikely]]
    return send_slowly<way>(name, node, handler, a0, a1, a2, a3);
  if constexpr (way == Way::reply) {
    sender->node().reply_to<run_reply>(to, word, a0, a1, a2, a3);
  } else {
    sender->node().request<run_request>(to, word, a0, a1, a2, a3);
  }
}

struct Call {
  const char* name;
  Way way;
};
/// By the numbers of the macros in am/cmam.h.
constexpr Call calls[] = {{"CMAM_4", Way::request},     {"CMAM_request_4", Way::request},
                          {"CMAM_reply_4", Way::reply}, {"CMAML_request", Way::request},
                          {"CMAML_reply", Way::reply},  {"CMAML_rpc", Way::rpc}};

}  // namespace

void request_of_computation(Node& node, const PutOff& m) {
  if (m.doubles != 0) {
    node.request<run_request_doubles>(m.to, m.code, m.doubles, m.words[0], m.words[1], m.words[2],
                                      m.words[3]);
  } else {
    node.request<run_request>(m.to, m.code, m.words[0], m.words[1], m.words[2], m.words[3]);
  }
}

}  // namespace am::models::cmam

using namespace am::models;
using namespace am::models::cmam;

void(CMAM_4)(int node, am_code handler, am_word a0, am_word a1, am_word a2, am_word a3) {
  send_words<Way::request>("CMAM_4", node, handler, a0, a1, a2, a3);
}
void(CMAM_request_4)(int node, am_code handler, am_word a0, am_word a1, am_word a2, am_word a3) {
  send_words<Way::request>("CMAM_request_4", node, handler, a0, a1, a2, a3);
}
void(CMAM_reply_4)(int node, am_code handler, am_word a0, am_word a1, am_word a2, am_word a3) {
  send_words<Way::reply>("CMAM_reply_4", node, handler, a0, a1, a2, a3);
}
void(CMAML_request)(int node, am_code handler, am_word a0, am_word a1, am_word a2, am_word a3) {
  send_words<Way::request>("CMAML_request", node, handler, a0, a1, a2, a3);
}
void(CMAML_reply)(int node, am_code handler, am_word a0, am_word a1, am_word a2, am_word a3) {
  send_words<Way::reply>("CMAML_reply", node, handler, a0, a1, a2, a3);
}
void(CMAML_rpc)(int node, am_code handler, am_word a0, am_word a1, am_word a2, am_word a3) {
  send_words<Way::rpc>("CMAML_rpc", node, handler, a0, a1, a2, a3);
}

void am_cmam_send_doubles(int number, unsigned doubles, int node, am_code handler, ...) {
  State& sender = state();
  const Call& named = calls[number];
  PutOff message{PutOff::What::message,
                 doubles,
                 checked_node(sender, named.name, node),
                 word_or_end(sender.node(), named.name, handler),
                 {}};
  va_list words;
  va_start(words, handler);
  for (int i = 0; i < 4; ++i)
    message.words[i] =
        (doubles >> i & 1) != 0 ? std::bit_cast<Word>(va_arg(words, double)) : va_arg(words, Word);
  va_end(words);
  send(sender, named.way, named.name, message);
}
