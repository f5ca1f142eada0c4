// Ways of their own for packets that may overtake others of their link, and be overtaken (am::unordered).
#pragma once

#include "transports/transport.hpp"

namespace am {

class UnorderedLanes {
 public:
  /// As Transport::claim and has_room. Never for more than impl::packet_payload_bytes.
  [[nodiscard]] virtual Transport::Slot claim_unordered(NodeId to, Priority priority, std::size_t words,
                                                        std::size_t payload_bytes) noexcept = 0;
  [[nodiscard]] virtual bool has_room_unordered(NodeId to, Priority priority,
                                                std::size_t payload_bytes) noexcept = 0;

 protected:
  ~UnorderedLanes() = default;
};

}  // namespace am
