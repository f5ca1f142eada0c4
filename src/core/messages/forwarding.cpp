#include "core/messages/forwarding.hpp"

#include <am/impl/link.hpp>

namespace am::core {

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

Forwarding::Outcome Forwarding::pass_on(const Transport::View& view, impl::Arrival& arrival) {
  Payload& payload = arrival.payload;
  Members members;
  if (!split(payload, members)) return {.malformed = "a multicast without its list of members"};
  if (members.count == 0) return {};
  if (!members.ascend(self_ + 1, nodes_)) return {.malformed = "a multicast list that does not ascend"};
  const std::size_t link = impl::link_index(view.source, view.priority);
  const auto found = begun_.find(link);
  std::size_t next = found == begun_.end() ? 0 : found->second;  // members that have it, or are in good hands

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
    write_list(buffer_, payload, members.part(next + 1, end));
    message.payload = Payload(buffer_);
    const Status status = sender_.try_send(message);
    if (status == Status::again) {
      begun_[link] = next;
      return {.deferred = true};
    }
    next = status == Status::ok ? end : next + 1;
  }
  begun_.erase(link);
  return {};
}

void Forwarding::forget(NodeId source) noexcept {
  for (const Priority priority : {Priority::low, Priority::high})
    begun_.erase(impl::link_index(source, priority));
}

}  // namespace am::core
