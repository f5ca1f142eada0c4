#include "core/messages/forwarding.hpp"

#include <algorithm>
#include <am/impl/link.hpp>
#include <cstring>

namespace am::core {

Forwarding::Outcome Forwarding::pass_on(const Transport::View& view, impl::Arrival& arrival) {
  Members members;
  if (!split(arrival.payload, members)) return {.malformed = "a multicast without its list of members"};
  if (members.count == 0) return {};
  if (!members.ascend(0, nodes_)) return {.malformed = "a multicast list that does not ascend"};
  share_.resize(members.count);
  std::memcpy(share_.data(), members.first, members.count * sizeof(NodeId));
  if (std::ranges::binary_search(share_, self_) && !multicasts_.keep_share(view.source, share_))
    return {.malformed = "a multicast list with its receiver, whom no multicast of the network reaches"};
  if (share_.empty()) return {};
  if (share_.front() <= self_) return {.malformed = "a multicast list that goes back"};

  impl::OutMessage message;
  message.origin = arrival.from;
  message.priority = view.priority;
  message.handler = view.head.handler();
  message.words = static_cast<std::uint8_t>(view.head.words());
  message.flags = impl::flag::multicast;
  message.payload = arrival.payload;
  std::memcpy(message.word, view.packet->words, sizeof message.word);
  const std::size_t link = impl::link_index(view.source, view.priority);
  if (!pass_on(link, message)) return {.deferred = true};
  begun_.erase(link);
  return {};
}

/// Whether all have it, or are in good hands.
bool Forwarding::pass_on(std::size_t link, impl::OutMessage& message) {
  if (!multicasts_.takes(share_)) return pass_on_down_the_tree(link, message);
  if (multicasts_.try_send(message, share_) != Status::again) return true;
  begun_[link] = 0;
  return false;
}

bool Forwarding::pass_on_down_the_tree(std::size_t link, impl::OutMessage& message) {
  const Members members(share_);
  const Payload payload = message.payload;
  const auto found = begun_.find(link);
  std::size_t next = found == begun_.end() ? 0 : found->second;
  const std::size_t half = (members.count + 1) / 2;
  while (next < members.count) {
    const std::size_t end = next < half ? half : members.count;
    const Members list = members.part(next + 1, end);
    buffer_.resize(bytes_with_list(payload, list));
    write_list(buffer_.data(), payload, list);
    message.to = members[next];
    message.payload = Payload(buffer_);
    const Status status = sender_.try_send(message);
    if (status == Status::again) {
      begun_[link] = next;
      return false;
    }
    next = status == Status::ok ? end : next + 1;
  }
  return true;
}

void Forwarding::forget(NodeId source) noexcept {
  for (const Priority priority : {Priority::low, Priority::high})
    begun_.erase(impl::link_index(source, priority));
}

}  // namespace am::core
