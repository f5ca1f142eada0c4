#include "core/messages/links.hpp"

#include <algorithm>
#include <utility>

namespace am::core {

Links::Links(std::vector<Transport*> networks, std::vector<std::uint8_t> of_peer)
    : networks_(std::move(networks)), of_peer_(std::move(of_peer)) {
  for (const Transport* network : networks_) {
    if (!name_.empty()) name_ += '+';
    name_ += network->name();
  }
}

Multicaster* Links::multicaster(NodeId from, std::span<const NodeId> members) noexcept {
  const auto is_of_another = [&](NodeId node) { return of_peer_[node] != of_peer_[from]; };
  return std::ranges::any_of(members, is_of_another) ? nullptr : to_peer(from).multicaster(from, members);
}

Transport::View Links::receive(Priority priority) noexcept {
  View view{nullptr, {}, 0, priority};
  const auto p = static_cast<std::size_t>(priority);
  std::size_t at = first_[p];
  for (std::size_t n = networks_.size(); n != 0; --n) {
    view = networks_[at]->receive(priority);
    if (view) {
      gave_[p] = at;
      break;
    }
    if (++at == networks_.size()) at = 0;
  }
  return view;
}

bool Links::waits(Priority priority, const impl::Packet* lent) noexcept {
  return std::ranges::any_of(networks_, [&](Transport* network) { return network->waits(priority, lent); });
}

bool Links::progress() noexcept {
  for (const std::size_t p : {0u, 1u}) first_[p] = (gave_[p] + 1) % networks_.size();
  bool any = false;
  for (Transport* network : networks_) any = network->progress() || any;
  return any;
}

bool Links::drained() const noexcept {
  return std::ranges::all_of(networks_, [](const Transport* network) { return network->drained(); });
}

bool Links::published() const noexcept {
  return std::ranges::all_of(networks_, [](const Transport* network) { return network->published(); });
}

bool Links::arm(Wanted wanted) noexcept {
  for (std::size_t at = 0; at < networks_.size(); ++at) {
    if (networks_[at]->arm(wanted)) continue;
    while (at-- != 0) networks_[at]->disarm();
    return false;
  }
  return true;
}

void Links::disarm() noexcept {
  for (Transport* network : networks_) network->disarm();
}

bool Links::still_armed(Wanted wanted) noexcept {
  return std::ranges::all_of(networks_,
                             [wanted](Transport* network) { return network->still_armed(wanted); });
}

bool Links::describe(Lookout& lookout, Wanted wanted) const {
  bool any = false;  // all of them fill in their places
  for (const Transport* network : networks_) any = network->describe(lookout, wanted) || any;
  return any;
}

bool Links::holds_back() const noexcept {
  return std::ranges::any_of(networks_, [](const Transport* network) { return network->holds_back(); });
}

}  // namespace am::core
