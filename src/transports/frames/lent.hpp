// A message that came, as core is to see it: what receive() lends.
#pragma once

#include <am/impl/packet.hpp>
#include <am/payload.hpp>

#include "transports/frames/arrivals.hpp"
#include "transports/frames/frames.hpp"
#include "transports/number.hpp"
#include "transports/transport.hpp"

namespace am::frames {

/// By priority one, which is overwritten by the next.
struct Lent {
  impl::Packet packet;
  Payload payload;

  [[nodiscard]] Transport::View show(const Arrivals::Message& message, Priority priority) noexcept {
    payload = message.payload;
    packet.header.store(message.head.bits, std::memory_order_relaxed);  // nobody else sees it
    packet.payload_bytes = static_cast<std::uint32_t>(payload.size());
    packet.origin = message.origin;
    const std::byte* const words = message.frame.data() + message_words_at;
    for (std::size_t i = 0; i < message.head.words(); ++i)
      packet.words[i] = number_at<std::uint64_t>(words + 8 * i);
    return {&packet, message.head, message.from, priority};
  }
  /// What it counts as in the credits of its link.
  [[nodiscard]] std::size_t counts_as() const noexcept {
    return message_bytes(packet.head().words(), payload.size());
  }
};

}  // namespace am::frames
