#include "core/messages/multicast_sender.hpp"

#include <algorithm>
#include <utility>

namespace am::core {

/// From the first claim of a multicast to its last commit; also when there is no memory in between.
class MulticastSender::Bracket {
 public:
  /// Null: no multicast of the network takes part.
  explicit Bracket(Multicaster* network) noexcept : network_(network) {
    if (network_ != nullptr) network_->begin_multicast();
  }
  ~Bracket() { end(); }
  Bracket(const Bracket&) = delete;
  Bracket& operator=(const Bracket&) = delete;
  void end() noexcept {
    if (Multicaster* const network = std::exchange(network_, nullptr)) network->end_multicast();
  }

 private:
  Multicaster* network_;
};

Multicaster* MulticastSender::share_out(NodeId from, std::span<const NodeId> members) {
  by_.assign(members.size(), Multicaster::nobody);
  Multicaster* const network = network_.multicaster(from, members);
  if (network != nullptr) network->share_out(from, members, by_);
  return network;
}

bool MulticastSender::keep_share(NodeId source, List& list) {
  if (share_out(source, list) == nullptr) return false;
  const auto place = static_cast<std::uint32_t>(std::ranges::lower_bound(list, self_) - list.begin());
  if (place == list.size() || list[place] != self_ || by_[place] != place) return false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (by_[i] == place && i != place) list[kept++] = list[i];
  }
  list.resize(kept);
  return true;
}

/// Those of the network's multicast first.
void MulticastSender::find_links(std::span<const NodeId> members) {
  links_.clear();
  left_.clear();
  bool passed_on = false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (by_[i] == i) {
      links_.push_back({.to = members[i], .by_network = true});
    } else if (by_[i] == Multicaster::nobody) {
      left_.push_back(members[i]);
    } else {
      passed_on = true;
    }
  }
  if (passed_on) {
    for (Link& link : links_) link.list = Members(members);
  }
  const Members left(left_);
  const std::size_t parts = std::min(left.count, most_parts_);
  const auto end_of = [&](std::size_t part) { return (part * left.count + parts - 1) / parts; };
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = end_of(part);
    links_.push_back({.to = left[first], .list = left.part(first + 1, end_of(part + 1))});
  }
}

const MulticastSender::Link* MulticastSender::claim_all(const impl::OutMessage& message) noexcept {
  impl::OutMessage copy = message;
  for (Link& link : links_) {
    copy.to = link.to;
    link.slot = sender_.claim(copy, bytes_with_list(message.payload, link.list));
    if (link.slot.status != Status::ok) return &link;
  }
  return nullptr;
}

Status MulticastSender::try_send(const impl::OutMessage& message, std::span<const NodeId> members,
                                 SharedBytes* under_way) {
  // To each by a link of its own, with an empty list: as below, but without what long payloads and other networks need.
  if (message.payload.empty() && members.size() <= most_parts_ && sender_.try_send_lines(message, members))
    return Status::ok;
  if (message.payload.size() > largest_payload()) return Status::too_big;
  while (!members.empty()) {
    Multicaster* const network = share_out(self_, members);
    find_links(members);
    Bracket bracket(network);
    const Link* const without = claim_all(message);
    if (without == nullptr) return commit_all(message, bracket, under_way);
    if (without->slot.status != Status::unreachable)
      return sender_.refused(without->to, message.priority, bytes_with_list(message.payload, without->list));
    const NodeId dead = without->to;
    if (members.data() != living_.data()) living_.assign(members.begin(), members.end());
    std::erase(living_, dead);
    members = living_;
  }
  return Status::unreachable;
}

/// Where each link's payload, with its list, lies in a block of memory; its size. Neighbours with the same list share one place.
std::size_t MulticastSender::lay_out(Payload payload) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const bool shares = i != 0 && links_[i].list.is_same(links_[i - 1].list);
    links_[i].at = shares ? links_[i - 1].at : bytes;
    if (!shares) bytes += bytes_with_list(payload, links_[i].list);
  }
  return bytes;
}

Status MulticastSender::commit_all(const impl::OutMessage& message, Bracket& bracket,
                                   SharedBytes* under_way) {
  const auto is_whole = [&](const Link& link) { return link.is_whole(message.payload); };
  const std::size_t bytes = lay_out(message.payload);
  SharedBytes kept;
  if (std::ranges::all_of(links_, is_whole)) {
    buffer_.resize(bytes);
  } else if (kept = try_shared_bytes(memory_, bytes); kept == nullptr) {
    return sender_.refused(links_.front().to, message.priority, bytes);
  }
  std::byte* const images = kept == nullptr ? buffer_.data() : kept.get();
  std::size_t written = 0;
  for (const Link& link : links_) {
    if (link.at != written) continue;
    write_list(images + link.at, message.payload, link.list);
    written += bytes_with_list(message.payload, link.list);
  }
  const bool at_once =
      std::ranges::all_of(links_, [&](const Link& link) { return !link.by_network || is_whole(link); });
  const auto commit_those = [&](bool by_network) {
    for (const Link& link : links_) {
      if ((at_once && link.by_network) == by_network) commit(link, message, images, kept);
    }
  };
  commit_those(true);
  bracket.end();
  commit_those(false);
  if (under_way != nullptr) *under_way = std::move(kept);
  return Status::ok;
}

void MulticastSender::commit(const Link& link, impl::OutMessage message, const std::byte* images,
                             const SharedBytes& kept) noexcept {
  const bool whole = link.is_whole(message.payload);
  message.to = link.to;
  message.flags = impl::flag::multicast;
  message.payload = Payload(images + link.at, bytes_with_list(message.payload, link.list));
  if (!whole) return sender_.start_row(message, kept);
  network_.fill(link.slot, message.payload);
  sender_.commit(link.slot, message);
}

}  // namespace am::core
