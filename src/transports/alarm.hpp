// How a node wants to be told that something has come for it.
#pragma once

#include <cstdint>

namespace am {

/// Whoever tells a node takes this back to `none` first, so that many senders tell it once.
enum class Alarm : std::uint32_t {
  none,     ///< it looks by itself
  sleeper,  ///< its thread, or the handler thread in its place, sleeps in Transport::park
  signal,   ///< it computes, and is to be interrupted
  thread,   ///< it computes, and its handler thread sleeps
};

}  // namespace am
