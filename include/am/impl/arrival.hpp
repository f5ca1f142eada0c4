// A message that has come, as its receiver sees it: what was read of it once and checked, and where the rest lies.
#pragma once

#include <am/impl/packet.hpp>
#include <am/payload.hpp>

namespace am::impl {

struct Arrival {
  const Packet* packet;  ///< its words are read where they lie
  Header head;
  NodeId from;  ///< who sent the message
  Payload payload;
  Priority priority;

  [[nodiscard]] bool is_multicast() const noexcept { return head.has(flag::multicast); }
  /// Of arguments and payload.
  [[nodiscard]] std::size_t bytes() const noexcept { return head.words() * 8 + payload.size(); }
};

}  // namespace am::impl
