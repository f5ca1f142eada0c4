// Multicast in software: a tree of ordinary packets (T1 report, section 3.9 "Multicast": "a tree distribution scheme can
// be set up in software").
//
// A multicast packet's payload ends in a list: the ids of the nodes below its receiver, in ascending order, then their
// number (32 bits each). The receiver halves the list; the first of each half gets the packet with the rest of that half.
// The sender itself gives the whole list to the lowest member, in one send, so that a failable multicast is accepted
// whole or not at all. Depth: 1 + log2(members).
//
// A packet that cannot be sent on yet stays in its ring (defer): back-pressure goes up the tree, no memory is needed, and
// messages on one link keep their order. Every forwarding send goes from a node to a greater id, so rings wait for each
// other along ascending ids only and never in a circle (dispatch.cpp, point 3).
#include <am/error.hpp>
#include <am/multicast.hpp>
#include <cstring>
#include <string>

#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"
#include "core/reports/fatal.hpp"

namespace am::core {

namespace {

/// The list at the end of a multicast payload; the rest is the user's.
struct Members {
  const std::byte* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] NodeId operator[](std::size_t i) const noexcept {
    NodeId id = 0;
    std::memcpy(&id, first + i * sizeof id, sizeof id);
    return id;
  }
  /// All of them, from `least` on and below `end`: whom it is passed on to relies on that, too.
  [[nodiscard]] bool ascend(NodeId least, NodeId end) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId id = (*this)[i];
      if (id < least || id >= end) return false;
      least = id + 1;
    }
    return true;
  }
  [[nodiscard]] Members part(std::size_t from, std::size_t to) const noexcept {
    return {first + from * sizeof(NodeId), to - from};
  }
};

bool split(Payload& payload, Members& members) noexcept {
  std::uint32_t count = 0;
  if (payload.size() < sizeof count) return false;
  std::memcpy(&count, payload.data() + payload.size() - sizeof count, sizeof count);
  const std::size_t tail = (std::size_t{count} + 1) * sizeof(NodeId);
  if (payload.size() < tail) return false;
  members = {payload.data() + payload.size() - tail, count};
  payload = Payload(payload.data(), payload.size() - tail);
  return true;
}

void write_list(std::pmr::vector<std::byte>& buffer, Payload payload, const Members& members) {
  const auto count = static_cast<std::uint32_t>(members.count);
  const std::size_t list = members.count * sizeof(NodeId);
  buffer.resize(payload.size() + list + sizeof count);
  if (!payload.empty()) std::memcpy(buffer.data(), payload.data(), payload.size());
  if (list != 0) std::memcpy(buffer.data() + payload.size(), members.first, list);
  std::memcpy(buffer.data() + payload.size() + list, &count, sizeof count);
}

}  // namespace

Status Engine::multicast(const impl::OutMessage& message, std::span<const NodeId> members, bool wait) {
  Members rest{reinterpret_cast<const std::byte*>(members.data()), members.size()};
  Status status = Status::ok;
  while (rest.count != 0) {
    impl::OutMessage out = message;
    out.to = rest[0];
    out.flags = impl::flag::multicast;
    std::pmr::vector<std::byte> buffer(
        memory_for_events());  // not multicast_buffer_: a send that waits may forward others' packets meanwhile
    write_list(buffer, message.payload, rest.part(1, rest.count));
    out.payload = Payload(buffer);
    status = send(out, wait);
    if (status != Status::unreachable) break;
    rest = rest.part(1, rest.count);  // the dead cannot pass it on: the next one shall
  }
  return status;
}

Engine::Handled Engine::forward(const Transport::View& view, impl::Arrival& arrival) {
  Payload& payload = arrival.payload;
  Members members;
  if (!split(payload, members)) return corrupt(view, "a multicast without its list of members");
  if (members.count == 0) return Handled::ran;
  if (!members.ascend(job_.id + 1, job_.size)) return corrupt(view, "a multicast list that does not ascend");
  const std::uint64_t key = 2 * std::uint64_t{view.source} + static_cast<std::uint64_t>(view.priority);
  const auto found = forwarded_.find(key);
  std::size_t next =
      found == forwarded_.end() ? 0 : found->second;  // members that have it, or are in good hands

  impl::OutMessage message;
  message.origin = arrival.from;
  message.priority = view.priority;
  message.handler = view.head.handler();
  message.words = static_cast<std::uint8_t>(view.head.words());
  message.flags = impl::flag::multicast;
  std::memcpy(message.word, view.packet->words, sizeof message.word);
  const std::size_t half = (members.count + 1) / 2;
  while (next < members.count) {
    const std::size_t end = next < half ? half : members.count;
    message.to = members[next];
    write_list(multicast_buffer_, payload, members.part(next + 1, end));
    message.payload = Payload(multicast_buffer_);
    const Status status = try_send(message);
    if (status == Status::again) {
      forwarded_[key] = next;
      return Handled::deferred;
    }
    next = status == Status::ok ? end : next + 1;
  }
  forwarded_.erase(key);
  return Handled::ran;
}

}  // namespace am::core

namespace am {

Status Node::multicast_(const impl::OutMessage& message, std::span<const NodeId> members, bool wait) {
  if (members.empty()) return Status::ok;
  const impl::Hold hold(*this);
  if (const NodeId last = members.back(); last >= size_) {
    if (!wait) {
      events_.nicond = false;
      return Status::no_such_node;
    }
    throw core::unknown_node("send a multicast", last, size_, "check the group's members");
  }
  return engine_->multicast(message, members, wait);
}

}  // namespace am
