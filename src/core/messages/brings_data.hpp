// Which messages bring data that go where these belong, when they come (Destinations): puts, answers to gets, values of streams.
#pragma once

#include <am/handler.hpp>

#include "transports/site.hpp"

namespace am::core {

/// Whether a message is for that handler, and as it is sent: two words, which say where, and the data.
template <auto H, class F = impl::HandlerType<H>>
[[nodiscard]] bool brings_data_for(const Coming& message) noexcept {
  using Entry = impl::Handler<H, F>;
  return message.head.handler() == Entry::id() && message.priority == Entry::Traits::priority &&
         message.head.is_words_and_payload() && message.words.size() == 2;
}

}  // namespace am::core
