#include "core/memory/remote_gets.hpp"

#include <algorithm>
#include <am/global.hpp>
#include <cstring>
#include <numeric>
#include <span>

#include "core/membership/peers_gone.hpp"
#include "core/memory/remote_memory.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"

namespace am::core {

namespace {

RemoteGets& gets_of(Node& node) { return node.engine().memory().remote().gets(); }

/// What is asked for.
constexpr std::uint64_t head_of(std::uint64_t offset, std::size_t bytes) noexcept {
  return offset << 8 | bytes;
}
static_assert(RemoteGets::longest_gathered < 1 << 8);

void gathered_read(Reply& reply, Payload data) { gets_of(reply.node()).were_read(reply.from(), data); }

void read_gathered_here(Request& request, Payload heads) {
  std::array<std::byte, RemoteGets::most_bytes> answer;
  std::size_t filled = 0;
  for (std::size_t at = 0; at < heads.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t head = 0;
    if (heads.size() - at >= sizeof head) std::memcpy(&head, heads.data() + at, sizeof head);
    const std::size_t bytes = head & 0xff;
    if (bytes == 0 || bytes > answer.size() - filled) {
      return request.node().engine().distrust(request.from(), "node ", request.from(),
                                              " sends a malformed list of gets");
    }
    std::byte* const place = RemoteMemory::own_place(request, head >> 8, bytes);
    if (place == nullptr) return;
    read_bytes(answer.data() + filled, place, bytes);
    filled += bytes;
  }
  request.reply<gathered_read>(Payload(answer.data(), filled));
}

const impl::InternalHandlers<gathered_read, read_gathered_here> get_handlers;

}  // namespace

RemoteGets::RemoteGets(Engine& engine)
    : engine_(engine), peers_(engine.memory_for_events()), gathering_(engine.memory_for_events()) {}

RemoteGets::Peer& RemoteGets::peer(NodeId node) {
  return peers_.try_emplace(node, engine_.memory_for_events()).first->second;
}

void RemoteGets::get(NodeId from, std::uint64_t offset, std::byte* into, std::size_t bytes,
                     Counter& counter) {
  if (engine_.membership().is_gone(from)) throw peer_gone_error(engine_, "get", from);
  Peer& peer = this->peer(from);
  if (peer.gathered_count == peer.gathered.size() || peer.gathered_bytes + bytes > most_bytes)
    send_own(engine_, from, "get", [&] { return send_gathered(from, peer); });
  if (peer.gathered_count == 0) {
    gathering_.begin(from, engine_.now());
    engine_.more_waits_to_be_sent();
  }
  peer.wanted.push_back({&counter, into, bytes});
  peer.gathered[peer.gathered_count++] = head_of(offset, bytes);
  peer.gathered_bytes += bytes;
}

/// ok, also where there is nothing; again; or unreachable: then waits for these gets find that out.
Status RemoteGets::send_gathered(NodeId to, Peer& peer) noexcept {
  if (peer.gathered_count == 0) return Status::ok;
  const Payload heads(std::as_bytes(std::span(peer.gathered).first(peer.gathered_count)));
  const Status status = engine_.node().try_request<read_gathered_here>(to, heads);
  if (status == Status::again) return status;
  peer.asked.push_back(std::exchange(peer.gathered_count, 0u));
  peer.gathered_bytes = 0;
  gathering_.end(to);
  return status;
}

void RemoteGets::push() noexcept {
  if (!any()) return;
  const Engine::OwnSend own(engine_);
  gathering_.send_all([&](NodeId to) { return send_gathered(to, peer(to)); });
}

void RemoteGets::push_what_is_due() noexcept {
  if (!any()) return;
  const Engine::OwnSend own(engine_);
  gathering_.send_due(engine_.now(), [&](NodeId to) { return send_gathered(to, peer(to)); });
}

std::optional<NodeId> RemoteGets::gone_peer_of(const Counter& counter) const {
  for (const auto& [node, peer] : peers_) {
    if (engine_.membership().is_gone(node) &&
        std::ranges::find(peer.wanted, &counter, &Wanted::counter) != peer.wanted.end())
      return node;
  }
  return {};
}

std::uint64_t RemoteGets::forget(const Counter& counter, std::optional<NodeId> only) noexcept {
  std::uint64_t count = 0;
  for (auto& [node, peer] : peers_) {
    if (only && node != *only) continue;
    for (Wanted& wanted : peer.wanted) {
      if (wanted.counter != &counter) continue;
      wanted.counter = nullptr;
      ++count;
    }
  }
  return count;
}

void RemoteGets::were_read(NodeId by, Payload data) noexcept {
  const auto found = peers_.find(by);
  if (found == peers_.end() || found->second.asked.empty())
    return engine_.distrust(by, "node ", by, " answers gets that it was not asked for");
  Peer& peer = found->second;
  const auto first = peer.wanted.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(peer.asked.front());
  const std::size_t bytes = std::accumulate(
      first, last, std::size_t{0}, [](std::size_t sum, const Wanted& one) { return sum + one.bytes; });
  if (bytes != data.size())
    return engine_.distrust(by, "node ", by, " answers gets with another number of bytes than was asked for");
  const std::byte* from = data.data();
  for (auto one = first; one != last; ++one) {
    if (one->counter != nullptr) {
      std::memcpy(one->into, from, one->bytes);
      RemoteMemory::count_done(*one->counter, 1);
    }
    from += one->bytes;
  }
  peer.wanted.erase(first, last);
  peer.asked.pop_front();
}

}  // namespace am::core
