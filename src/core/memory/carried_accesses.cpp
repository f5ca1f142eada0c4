#include "core/memory/carried_accesses.hpp"

#include <algorithm>
#include <am/global.hpp>

#include "core/membership/peers_gone.hpp"
#include "core/memory/remote_memory.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"

namespace am::core {

CarriedAccesses::CarriedAccesses(Engine& engine)
    : engine_(engine), peers_(engine.memory_for_events()), under_way_(engine.memory_for_events()) {}

std::byte* CarriedAccesses::place(impl::GlobalAddress at, std::size_t bytes) {
  const auto node = static_cast<NodeId>(at.node());
  if (!goes_by(MemoryReach::Way::carried, engine_.network().memory_reach(node))) return nullptr;
  engine_.must_not_be_a_child();
  Peer& peer = peers_[node];
  if (peer.memory.empty()) peer.memory = engine_.job().memory->map_user(node);
  const bool is_there = bytes <= peer.memory.size() && at.offset() <= peer.memory.size() - bytes;
  return is_there ? peer.memory.data() + at.offset() : nullptr;
}

// A peer is among those under way from its first piece on that is not done at once: whatever comes between, complete() asks about it.
template <class F>
void CarriedAccesses::begin(const char* what, NodeId node, std::size_t bytes, Begun begun, F f) {
  Peer& peer = peers_[node];
  const auto kind = static_cast<std::size_t>(begun.access);
  for (std::size_t at = 0; at < bytes; at += MemoryReach::access_bytes) {
    const std::size_t piece = std::min(MemoryReach::access_bytes, bytes - at);
    send_own(engine_, node, what, [&] {
      const Status status = engine_.network().memory_reach(node)->begin_access(begun.access, node, piece);
      if (status == Status::ok) ++peer.begun[kind];
      return status;
    });
    f(at, piece);
    ask(node, peer);
    if (!peer.rests()) under_way_[node];
  }
  begun.number = peer.begun[kind];
  if (end_if_done(peer, begun)) return;  // the usual case: whoever begins one carries it
  under_way_[node].push_back(begun);
  engine_.more_waits_to_be_sent();
}

void CarriedAccesses::put(NodeId to, std::byte* there, const std::byte* from, std::size_t bytes,
                          Counter* counter) {
  begin("put", to, bytes, {.access = Access::store, .counter = counter},
        [&](std::size_t at, std::size_t piece) { write_bytes(there + at, from + at, piece); });
}

void CarriedAccesses::get(NodeId from, std::byte* there, std::byte* into, std::size_t bytes,
                          Counter& counter) {
  begin("get", from, bytes,
        {.access = Access::fetch, .counter = &counter, .there = there, .into = into, .bytes = bytes},
        [](std::size_t /*at*/, std::size_t /*piece*/) {});
}

void CarriedAccesses::ask(NodeId node, Peer& peer) noexcept {
  for (const Access access : {Access::store, Access::fetch})
    peer.done[static_cast<std::size_t>(access)] =
        engine_.network().memory_reach(node)->accesses_done(access, node);
}

bool CarriedAccesses::end_if_done(const Peer& peer, const Begun& begun) noexcept {
  if (peer.done[static_cast<std::size_t>(begun.access)] < begun.number) return false;
  if (begun.counter == nullptr) return true;
  if (begun.access == Access::fetch) read_bytes(begun.into, begun.there, begun.bytes);
  RemoteMemory::count_done(*begun.counter, 1);
  return true;
}

void CarriedAccesses::complete() noexcept {
  for (auto it = under_way_.begin(); it != under_way_.end();) {
    auto& [node, accesses] = *it;
    Peer& peer = peers_.find(node)->second;
    ask(node, peer);
    std::erase_if(accesses, [&](const Begun& begun) { return end_if_done(peer, begun); });
    it = peer.rests() ? under_way_.erase(it) : std::next(it);
  }
}

std::optional<NodeId> CarriedAccesses::gone_peer_of(const Counter& counter) const {
  for (const auto& [peer, accesses] : under_way_) {
    if (engine_.membership().is_gone(peer) &&
        std::ranges::find(accesses, &counter, &Begun::counter) != accesses.end())
      return peer;
  }
  return {};
}

std::uint64_t CarriedAccesses::forget(const Counter& counter, std::optional<NodeId> only) noexcept {
  std::uint64_t count = 0;
  for (auto& [peer, accesses] : under_way_) {
    if (only && peer != *only) continue;
    for (Begun& begun : accesses) {
      if (begun.counter != &counter) continue;
      begun.counter = nullptr;
      ++count;
    }
  }
  return count;
}

void CarriedAccesses::forget_all() noexcept {
  for (auto& [peer, accesses] : under_way_) {
    for (Begun& begun : accesses) begun.counter = nullptr;
  }
}

}  // namespace am::core
