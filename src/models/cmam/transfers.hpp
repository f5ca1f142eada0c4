// What bulk transfers and CMMD's messages have in common: bytes that travel in pieces, and what runs when the last one is there.
#pragma once

#include <am/payload.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "models/broken.hpp"
#include "models/cmam/state.hpp"

namespace am::models::cmam {

/// A payload of this size is written once by the sender and copied once by the receiver; longer ones would be put together first.
constexpr std::size_t piece_bytes = std::size_t{256} << 10;

/// What is to run when the last byte is there.
struct End {
  Code function = nullptr;
  Word a0 = 0, a1 = 0;
};
/// Runs it on the low level or in the computation, where it may send: now, or, in a handler of the high level, soon.
void run(State& state, const End& end);

inline Word word_of_pointer(void* pointer) { return reinterpret_cast<Word>(pointer); }

/// What is sent, in pieces: send(offset, bytes) for each, at least one. On its own node one that arrives may overwrite what is still to
/// be sent: where the ranges overlap they go in memmove's order. (To a port whose elements lie apart no order may be right.)
template <class F>
void in_pieces(const State& sender, const char* name, const void* buffer, std::int64_t nbytes,
               const std::byte* place, F send) {
  if (nbytes < 0 || (buffer == nullptr && nbytes > 0))
    broken(sender.node().id(), name, " of ", nbytes, bytes_of(nbytes),
           buffer == nullptr ? " at a null address" : "");
  const Payload all(buffer, static_cast<std::size_t>(nbytes));
  const std::size_t pieces = std::max<std::size_t>(1, (all.size() + piece_bytes - 1) / piece_bytes);
  const bool last_first =
      place != nullptr && std::less<>()(all.data(), place) && std::less<>()(place, all.data() + all.size());
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t at = piece_bytes * (last_first ? pieces - 1 - i : i);
    send(static_cast<std::int64_t>(at), Payload(all.data() + at, std::min(piece_bytes, all.size() - at)));
  }
}

}  // namespace am::models::cmam
