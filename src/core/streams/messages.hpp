// The messages of streams.
#pragma once

#include <am/message.hpp>
#include <am/payload.hpp>

#include "core/streams/streams.hpp"

namespace am::core {

/// `at`: the number of the first one.
void stream_values(Request& request, std::uint64_t id, std::uint64_t at, Payload values);
void stream_mark(Request& request, std::uint32_t id, impl::StreamMark mark);
void stream_word(Reply& reply, Streams::Word word);

}  // namespace am::core
