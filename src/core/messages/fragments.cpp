#include "core/messages/fragments.hpp"

#include <algorithm>
#include <cstring>

namespace am::core {

Status Row::push(Transport& network) noexcept { return status_ = push_all(network); }

Status Row::push_all(Transport& network) noexcept {
  const std::size_t total = message_.payload.size();
  for (;;) {
    const std::size_t piece = std::min(total - sent_, impl::packet_payload_bytes);
    const bool last = sent_ + piece == total;
    const Transport::Slot slot = network.claim(message_.to, message_.priority, piece);
    if (slot.status != Status::ok) return slot.status;
    impl::Packet& packet = *slot.packet;
    packet.payload_bytes = static_cast<std::uint32_t>(piece);
    packet.origin = message_.origin;
    if (piece != 0) std::memcpy(packet.payload(), message_.payload.data() + sent_, piece);
    const std::size_t lines = impl::lines_for(piece);
    if (last) {
      const bool whole = sent_ == 0;
      std::copy_n(message_.word, message_.words, packet.words);
      const auto flags = static_cast<std::uint16_t>(message_.flags | (whole ? 0 : impl::flag::last));
      network.commit(slot, impl::Header::make(message_.handler, message_.words, lines, flags));
      return Status::ok;
    }
    packet.words[0] = total;
    network.commit(slot, impl::Header::make(0, 1, lines, impl::flag::more));
    sent_ += piece;
  }
}

bool Outgoing::has_rows() const noexcept {
  return std::ranges::any_of(links_, [](const auto& link) { return link.second.row != nullptr; });
}

void Outgoing::lend(Row& row) { links_[key(row.message().to, row.message().priority)] = Held{&row}; }

void Outgoing::keep(EventBytes bytes, const Row& row) {
  Held& held = links_[key(row.message().to, row.message().priority)];
  held.bytes = std::move(bytes);
  held.row = &held.kept.emplace(row);  // a node of the map stays where it is
  held.row->read_from(held.bytes.get());
}

bool Outgoing::push(Transport& network, const std::function<void(NodeId, Priority)>& done) {
  bool moved = false;
  for (auto it = links_.begin(); it != links_.end();) {
    Row* const row = it->second.row;
    if (row == nullptr) {
      ++it;
      continue;
    }
    const std::size_t before = row->sent();
    const Status status = row->push(network);
    moved = moved || status != Status::again || row->sent() != before;
    if (status == Status::again) {
      ++it;
      continue;
    }
    const NodeId to = row->message().to;
    const Priority priority = row->message().priority;
    it = links_.erase(it);
    done(to, priority);
  }
  return moved;
}

Assembler::Outcome Assembler::append(Open& open, Payload piece) noexcept {
  if (piece.size() > open.total - open.have) return Outcome::malformed;
  if (!piece.empty()) std::memcpy(open.bytes.get() + open.have, piece.data(), piece.size());
  open.have += piece.size();
  return Outcome::taken;
}

Assembler::Outcome Assembler::add(const Transport::View& view, Payload piece) {
  Open& open = open_[key(view)];
  const std::uint64_t total = impl::read_once(view.packet->words[0]);
  if (open.bytes == nullptr) {
    open.total = total;
    open.bytes = try_event_bytes(memory_, open.total);
    if (open.bytes == nullptr) return Outcome::no_memory;
  } else if (open.total != total) {
    return Outcome::malformed;
  }
  return append(open, piece);
}

Assembler::Outcome Assembler::complete(const Transport::View& view, Payload& payload) {
  const auto it = open_.find(key(view));
  if (it == open_.end()) return Outcome::malformed;
  Open& open = it->second;
  if (!open.complete) {  // a deferred last packet comes twice
    const Outcome outcome = append(open, payload);
    if (outcome != Outcome::taken) return outcome;
    if (open.have != open.total) return Outcome::malformed;
    open.complete = true;
  }
  payload = Payload(open.bytes.get(), open.total);
  return Outcome::taken;
}

}  // namespace am::core
