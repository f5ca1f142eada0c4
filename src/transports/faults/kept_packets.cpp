#include "transports/faults/kept_packets.hpp"

#include <algorithm>
#include <cstring>

namespace am::faults {

KeptPackets::KeptPackets(bool with_room)
    : places_{std::vector<Place>(with_room ? most : 0), std::vector<Place>(with_room ? most : 0)} {}

KeptPackets::Place* KeptPackets::free_place(Priority priority) noexcept {
  const auto found = std::ranges::find_if(places(priority), [](const Place& place) { return !place.view; });
  return found == places(priority).end() ? nullptr : &*found;
}

void KeptPackets::keep(const Transport::View& view, Payload payload, NodeId origin,
                       std::uint64_t from_round) noexcept {
  Place& place = *free_place(view.priority);
  const std::size_t words = view.head.words();
  const std::size_t lines = impl::payload_lines(words, payload.size());
  const impl::Header head =
      impl::Header::make(view.head.handler(), words, lines,
                         view.head.flags() & static_cast<std::uint16_t>(~impl::flag::elsewhere));
  place.packet.header.store(head.bits, std::memory_order_relaxed);  // nobody else sees it
  place.packet.payload_bytes = static_cast<std::uint32_t>(payload.size());
  place.packet.origin = origin;
  std::copy_n(view.packet->words, words, place.packet.words);
  if (!payload.empty()) std::memcpy(place.packet.payload(words, lines), payload.data(), payload.size());
  place.view = view;
  place.view.packet = &place.packet;
  place.view.head = head;
  place.from_round = from_round;
}

Transport::View KeptPackets::next(Priority priority, std::uint64_t round) noexcept {
  Place* first = nullptr;
  for (Place& place : places(priority)) {
    if (!place.view) continue;
    if (place.lent) return place.view;
    if (place.from_round <= round && (first == nullptr || place.from_round < first->from_round))
      first = &place;
  }
  if (first == nullptr) return {nullptr, {}, 0, priority};
  first->lent = true;
  return first->view;
}

bool KeptPackets::holds(Priority priority, const impl::Packet* packet) const noexcept {
  return packet != nullptr && std::ranges::any_of(places(priority), [packet](const Place& place) {
           return place.view.packet == packet;
         });
}

KeptPackets::Place& KeptPackets::place_of(const Transport::View& view) noexcept {
  return *std::ranges::find_if(places(view.priority),
                               [&](const Place& place) { return place.view.packet == view.packet; });
}

void KeptPackets::release(const Transport::View& view) noexcept {
  Place& place = place_of(view);
  place.view = {};
  place.lent = false;
}

void KeptPackets::defer(const Transport::View& view, std::uint64_t to_round) noexcept {
  Place& place = place_of(view);
  place.from_round = to_round;
  place.lent = false;
}

bool KeptPackets::waits(Priority priority, const impl::Packet* lent) const noexcept {
  return std::ranges::any_of(places(priority),
                             [lent](const Place& place) { return place.view && place.view.packet != lent; });
}

}  // namespace am::faults
