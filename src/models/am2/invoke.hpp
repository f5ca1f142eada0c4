// How a handler is called: a C function of some type that nobody has written down. It gets at least eight words, zeros behind those
// that were sent, so one that was written with more parameters than its caller has arguments finds zeros; what it does not declare it
// does not see. Each word is as wide as a register, in which an int parameter sees its lower half. (Both hold under the calling
// conventions of Linux on x86-64 and AArch64.)
#pragma once

#include <utility>

#include "models/am2/message.hpp"

namespace am::models::am2 {

template <std::size_t>
using Word = am2_word_t;

template <class... Before, std::size_t... I>
void invoke_with(am2_handler_fn_t handler, const am2_word_t* words, std::index_sequence<I...> /*words*/,
                 Before... before) {
  reinterpret_cast<void (*)(Before..., Word<I>...)>(handler)(before..., words[I]...);
}

/// `place` is where its data are.
inline void invoke(am2_handler_fn_t handler, void* token, const Message& message, void* place) {
  constexpr std::make_index_sequence<8> few;
  constexpr std::make_index_sequence<max_words> many;
  const am2_word_t* const words = message.words.data();
  if (message.head.kind == Kind::small) {
    if (message.head.count <= 8) [[likely]]
      return invoke_with(handler, words, few, token);
    return invoke_with(handler, words, many, token);
  }
  const int nbytes = static_cast<int>(message.bytes);
  if (message.head.count <= 8) return invoke_with(handler, words, few, token, place, nbytes);
  invoke_with(handler, words, many, token, place, nbytes);
}

}  // namespace am::models::am2
