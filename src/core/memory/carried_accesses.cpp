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
  if (!engine_.network().carries_accesses(node)) return nullptr;
  engine_.must_not_be_a_child();
  Peer& peer = peers_[node];
  if (peer.memory.empty()) peer.memory = engine_.job().memory->map_user(node);
  const bool is_there = bytes <= peer.memory.size() && at.offset() <= peer.memory.size() - bytes;
  return is_there ? peer.memory.data() + at.offset() : nullptr;
}

template <class F>
void CarriedAccesses::begin(const char* what, NodeId peer, std::size_t bytes, Begun begun, F f) {
  std::uint64_t& number = peers_[peer].begun[static_cast<std::size_t>(begun.access)];
  const auto one = [&](std::size_t piece) {
    send_own(engine_, peer, what, [&] {
      const Status status = engine_.network().begin_access(begun.access, peer, piece);
      if (status == Status::ok) ++number;
      return status;
    });
  };
  try {
    for (std::size_t at = 0; at < bytes; at += Transport::access_bytes) {
      const std::size_t piece = std::min(Transport::access_bytes, bytes - at);
      one(piece);
      f(at, piece);
    }
  } catch (...) {
    note(peer, {.access = begun.access, .number = number});  // the pieces that are under way
    throw;
  }
  begun.number = number;
  note(peer, begun);
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

void CarriedAccesses::note(NodeId peer, const Begun& begun) {
  if (end_if_done(peer, begun)) return;  // the usual case: whoever begins one carries it
  under_way_[peer].push_back(begun);
  engine_.more_waits_to_be_sent();
}

bool CarriedAccesses::end_if_done(NodeId peer, const Begun& begun) noexcept {
  if (engine_.network().accesses_done(begun.access, peer) < begun.number) return false;
  if (begun.counter == nullptr) return true;
  if (begun.access == Access::fetch) read_bytes(begun.into, begun.there, begun.bytes);
  RemoteMemory::count_done(*begun.counter, 1);
  return true;
}

void CarriedAccesses::complete() noexcept {
  for (auto it = under_way_.begin(); it != under_way_.end();) {
    auto& [peer, accesses] = *it;
    std::erase_if(accesses, [&](const Begun& begun) { return end_if_done(peer, begun); });
    it = accesses.empty() ? under_way_.erase(it) : std::next(it);
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

}  // namespace am::core
