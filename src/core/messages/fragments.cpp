#include "core/messages/fragments.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace am::core {

Status Row::push(Transport& network) noexcept { return status_ = push_all(network); }

Status Row::push_all(Transport& network) noexcept {
  for (;;) {
    const std::size_t left = message_.payload.size() - sent_;
    const Transport::Slot slot = network.claim(message_.to, message_.priority, message_.words, left);
    if (slot.status != Status::ok) return slot.status;
    const std::size_t piece = std::min(left, slot.room);
    network.fill(slot, Payload(message_.payload.data() + sent_, piece));
    if (piece == left) {
      const bool whole = sent_ == 0;
      commit_message(network, slot, message_, piece, whole ? 0 : impl::flag::last);
      return Status::ok;
    }
    impl::Packet& packet = *slot.packet;
    packet.payload_bytes = static_cast<std::uint32_t>(piece);
    packet.origin = message_.origin;
    packet.words[0] = message_.payload.size();
    network.commit(slot, impl::Header::make(0, 1, 0, impl::flag::payload | impl::flag::more));
    sent_ += piece;
  }
}

bool Outgoing::has_rows() const noexcept {
  return std::ranges::any_of(links_, [](const auto& link) { return link.second.row != nullptr; });
}

void Outgoing::lend(Row& row) {
  links_[impl::link_index(row.message().to, row.message().priority)] = Held{&row};
}

void Outgoing::keep(EventBytes bytes, const Row& row) {
  Held& held = links_[impl::link_index(row.message().to, row.message().priority)];
  held.bytes = std::move(bytes);
  held.row = &held.kept.emplace(row);  // a node of the map stays where it is
  held.row->read_from(held.bytes.get());
}

void Outgoing::keep_shared(SharedBytes bytes, const Row& row) {
  Held& held = links_[impl::link_index(row.message().to, row.message().priority)];
  held.shared = std::move(bytes);
  held.row = &held.kept.emplace(row);
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

Assembler::Outcome Assembler::begin(const Transport::View& view, std::size_t total, bool counts) {
  std::size_t& used = in_use(view.priority);
  if (counts && used != 0 && (total > budget_ || used > budget_ - total)) return Outcome::later;
  EventBytes bytes = try_event_bytes(memory_, total);
  if (bytes == nullptr) return Outcome::no_memory;
  open_[impl::link_index(view.source, view.priority)] =
      Open{.bytes = std::move(bytes), .total = total, .counts = counts};
  if (counts) used += total;
  return Outcome::taken;
}

Assembler::Outcome Assembler::add(const Transport::View& view, std::uint64_t total, Payload piece,
                                  bool counts) {
  auto found = open_.find(impl::link_index(view.source, view.priority));
  if (found == open_.end()) {
    const Outcome begun = begin(view, total, counts);
    if (begun != Outcome::taken) return begun;
    found = open_.find(impl::link_index(view.source, view.priority));
  }
  Open& open = found->second;
  return open.total == total ? append(open, piece) : Outcome::malformed;
}

Assembler::Outcome Assembler::complete(const Transport::View& view, Payload& payload) {
  const auto it = open_.find(impl::link_index(view.source, view.priority));
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

void Assembler::done(const Transport::View& view) noexcept {
  const auto it = open_.find(impl::link_index(view.source, view.priority));
  if (it == open_.end()) return;
  if (it->second.counts) in_use(view.priority) -= it->second.total;
  open_.erase(it);
}

void Assembler::lose(NodeId source) noexcept {
  for (const Priority priority : {Priority::low, Priority::high}) {
    const auto it = open_.find(impl::link_index(source, priority));
    if (it != open_.end() && std::exchange(it->second.counts, false)) in_use(priority) -= it->second.total;
  }
}

}  // namespace am::core
