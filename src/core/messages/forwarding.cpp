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
  if (multicasts_.try_send(message, share_) == Status::again) {
    deferred_.insert(link);
    return {.deferred = true};
  }
  deferred_.erase(link);
  return {};
}

void Forwarding::forget(NodeId source) noexcept {
  for (const Priority priority : {Priority::low, Priority::high})
    deferred_.erase(impl::link_index(source, priority));
}

}  // namespace am::core
