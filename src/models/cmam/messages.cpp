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

template <class Message>
[[gnu::noinline]] void run_slowly(Message& message, CodeWord word, Word a0, Word a1, Word a2, Word a3) {
  const Code handler = code_of(word);
  if (handler == nullptr) return report_unknown_code(message.node(), message.from(), a_message, word);
  const Running running(message.node(), handler);
  call(handler, a0, a1, a2, a3);
}

template <class Message>
void run_doubles(Message& message, CodeWord word, std::uint32_t doubles, Word a0, Word a1, Word a2, Word a3) {
  const Code handler = code_of(word);
  if (handler == nullptr) return report_unknown_code(message.node(), message.from(), a_message, word);
  const Running running(message.node(), handler);
  const Word words[4] = {a0, a1, a2, a3};
  call_with_doubles(handler, doubles, words);
}

/// The usual message is one jump into the handler: nothing is saved before it, as stores go out before a reply, and nothing is put
/// back after it. What is rare is another function's. (A thread that works for a node runs no other node's handlers.)
template <Level level, class Message>
[[gnu::always_inline]] inline void run_words(Message& message, CodeWord word, Word a0, Word a1, Word a2,
                                             Word a3) {
  if (!here.program.has(word)) [[unlikely]]
    return run_slowly(message, word, a0, a1, a2, a3);
  const Code handler = here.program.code_of(word);
  here.running[static_cast<int>(level)] = handler;
  call(handler, a0, a1, a2, a3);
}
void run_request(Request& request, CodeWord word, Word a0, Word a1, Word a2, Word a3) {
  run_words<Level::low>(request, word, a0, a1, a2, a3);
}
void run_reply(Reply& reply, CodeWord word, Word a0, Word a1, Word a2, Word a3) {
  run_words<Level::high>(reply, word, a0, a1, a2, a3);
}
void run_request_doubles(Request& request, CodeWord word, std::uint32_t doubles, Word a0, Word a1, Word a2,
                         Word a3) {
  run_doubles(request, word, doubles, a0, a1, a2, a3);
}
void run_reply_doubles(Reply& reply, CodeWord word, std::uint32_t doubles, Word a0, Word a1, Word a2,
                       Word a3) {
  run_doubles(reply, word, doubles, a0, a1, a2, a3);
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
  const Level level = state.node().level();
  if (level == Level::high) not_in_this_handler(state, name);
  const bool handler = level == Level::low;
  if (way == Way::reply || (way == Way::rpc && handler)) {
    send_high(state.node(), message);
  } else if (handler) {
    if (state.has_put_off() || try_low(state.node(), message) == Status::again) state.put_off(message);
  } else {
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
  constexpr Level usual = way == Way::reply ? Level::low : Level::computation;
  const auto to = static_cast<NodeId>(node);
  if (!here.program.has(handler)) [[unlikely]]
    return send_slowly<way>(name, node, handler, a0, a1, a2, a3);
  Node& sender = *here.node;
  if (sender.level() != usual || to >= sender.size()) [[unlikely]]
    return send_slowly<way>(name, node, handler, a0, a1, a2, a3);
  const CodeWord word = here.program.word_of(handler);
  if constexpr (way == Way::reply) {
    sender.reply_to<run_reply>(to, word, a0, a1, a2, a3);
  } else {
    sender.request<run_request>(to, word, a0, a1, a2, a3);
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
