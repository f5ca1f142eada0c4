// Memory of a network's own in which a long payload is written before it is sent, so that it is not copied (am::Draft).
#pragma once

#include "transports/transport.hpp"

namespace am {

class PayloadRoom {
 public:
  /// Memory for a payload of more than impl::packet_payload_bytes, before there is a slot for its packet: ok, and a slot with a payload
  /// but without packet; again and unreachable, as for claim; or too_big: there is none for so much. Holds up nobody. To be given to
  /// claim_lent, or back, also after close.
  [[nodiscard]] virtual Transport::Slot lend(NodeId to, Priority priority,
                                             std::size_t payload_bytes) noexcept = 0;
  virtual void give_back(const Transport::Slot& lent) noexcept = 0;
  /// As claim, for a packet whose payload is in `lent` already, which commit takes.
  [[nodiscard]] virtual Transport::Slot claim_lent(const Transport::Slot& lent) noexcept = 0;

 protected:
  ~PayloadRoom() = default;
};

}  // namespace am
