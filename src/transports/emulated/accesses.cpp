#include "transports/emulated/accesses.hpp"

#include <algorithm>
#include <utility>

namespace am::emulated {

Accesses::Accesses(const Windows& windows, NodeId self)
    : windows_(windows), self_(self), peers_(windows.nodes()) {
  asked_.reserve(windows.nodes());
}

kit::Entry Accesses::entry(MemoryReach::Access access, NodeId peer) const noexcept {
  const bool stores = access == MemoryReach::Access::store;
  const Window& window = stores ? windows_.window(peer, self_) : windows_.window(self_, peer);
  return {window.arrived[stores ? counts_stores : counts_answers].load(std::memory_order_acquire)};
}

void Accesses::begun(MemoryReach::Access access, NodeId peer) {
  ++of(access, peer).begun;
  if (!std::exchange(peers_[peer].is_asked, true)) asked_.push_back(peer);
}

std::uint64_t Accesses::done(MemoryReach::Access access, NodeId peer) noexcept {
  Kind& kind = of(access, peer);
  kind.done += static_cast<std::uint64_t>(entry(access, peer).beyond(kind.done));
  const auto rests = [](const Kind& k) { return k.begun == k.done; };
  if (peers_[peer].is_asked && std::ranges::all_of(peers_[peer].kind, rests)) {
    peers_[peer].is_asked = false;
    std::erase(asked_, peer);
  }
  return kind.done;
}

bool Accesses::any_news() const noexcept {
  return std::ranges::any_of(asked_, [this](NodeId peer) {
    const auto& kinds = peers_[peer].kind;
    const auto has_news = [&](MemoryReach::Access access) {
      const Kind& kind = kinds[static_cast<std::size_t>(access)];
      return kind.begun != kind.done && entry(access, peer).beyond(kind.done) != 0;
    };
    return has_news(MemoryReach::Access::store) || has_news(MemoryReach::Access::fetch);
  });
}

}  // namespace am::emulated
