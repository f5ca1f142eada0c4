// Packets that have left their network, and are given later (reorder): copies with their payloads, in memory for so many of each
// priority that is there from the beginning.
#pragma once

#include <am/impl/packet.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/transport.hpp"

namespace am::faults {

class KeptPackets {
 public:
  static constexpr std::size_t most = 32;  // of each priority: low must not hold up high

  /// Without room nothing is ever kept.
  explicit KeptPackets(bool with_room);

  [[nodiscard]] bool is_full(Priority priority) noexcept { return free_place(priority) == nullptr; }
  /// Takes a copy, to be given from round `from_round` on. There is room for it; the payload is no longer than
  /// impl::packet_payload_bytes.
  void keep(const Transport::View& view, Payload payload, NodeId origin, std::uint64_t from_round) noexcept;

  /// The one that is lent, or that has been due for longest; else none.
  [[nodiscard]] Transport::View next(Priority priority, std::uint64_t round) noexcept;
  /// Whether it is one of these.
  [[nodiscard]] bool holds(Priority priority, const impl::Packet* packet) const noexcept;
  void release(const Transport::View& view) noexcept;
  void defer(const Transport::View& view, std::uint64_t to_round) noexcept;

  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) const noexcept;
  [[nodiscard]] bool any(Transport::Wanted wanted) const noexcept {
    return (wanted.high && waits(Priority::high, nullptr)) || (wanted.low && waits(Priority::low, nullptr));
  }

 private:
  struct Place {
    impl::Packet packet;
    std::byte payload[impl::packet_payload_bytes];
    Transport::View view;  // with a packet where one is kept
    std::uint64_t from_round = 0;
    bool lent = false;
  };
  static_assert(offsetof(Place, payload) == sizeof(impl::Packet),
                "Packet::payload() looks behind the packet");

  [[nodiscard]] std::vector<Place>& places(Priority priority) noexcept {
    return places_[static_cast<std::size_t>(priority)];
  }
  [[nodiscard]] const std::vector<Place>& places(Priority priority) const noexcept {
    return places_[static_cast<std::size_t>(priority)];
  }
  [[nodiscard]] Place* free_place(Priority priority) noexcept;
  [[nodiscard]] Place& place_of(const Transport::View& view) noexcept;

  std::array<std::vector<Place>, 2> places_;  // by priority
};

}  // namespace am::faults
