// One message on its way out, before it has a place in a network: what the fast path of a send hands over to core when
// there was no line for it at once.
#pragma once

#include <am/impl/packet.hpp>
#include <am/payload.hpp>

namespace am::impl {

struct OutMessage {
  NodeId to = 0;
  NodeId origin = 0;
  Priority priority = Priority::low;
  HandlerId handler = 0;
  std::uint16_t flags = 0;
  std::uint8_t words = 0;
  bool unordered = false;  ///< may overtake, and be overtaken, if its payload fits into a packet
  std::uint64_t word[max_words] = {};
  Payload payload{};

  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{words} * 8 + payload.size(); }
};

}  // namespace am::impl
