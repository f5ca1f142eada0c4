#include "core/memory/remote_puts.hpp"

#include <algorithm>
#include <am/global.hpp>
#include <cstring>

#include "core/membership/peers_gone.hpp"
#include "core/memory/remote_memory.hpp"
#include "core/messages/brings_data.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"

namespace am::core {

namespace {

RemotePuts& puts_of(Node& node) { return node.engine().memory().remote().puts(); }

/// A gathered put begins with this; its data follow, up to a multiple of 8 bytes.
constexpr std::uint64_t record_head(std::uint64_t offset, std::size_t bytes) noexcept {
  return offset << 8 | bytes;
}
constexpr std::size_t record_bytes(std::size_t bytes) noexcept { return 8 + (bytes + 7) / 8 * 8; }
static_assert(RemotePuts::longest_gathered < 1 << 8);

// -- what the owner does ------------------------------------------------------------------------------------------------

void puts_written(Reply& reply, std::uint64_t number) {
  puts_of(reply.node()).was_written(reply.from(), number);
}

void write_here(Request& request, std::uint64_t offset, std::uint64_t number, Payload data) {
  std::byte* const place = RemoteMemory::own_place(request, offset, data.size());
  if (place == nullptr) return;
  if (place != data.data())
    write_bytes(place, data.data(), data.size());  // else the network has put it there
  if (number != 0) puts_of(request.node()).owe(request.from(), number);
}

void write_gathered_here(Request& request, std::uint64_t number, Payload records) {
  for (std::size_t at = 0; at < records.size();) {
    std::uint64_t head = 0;
    if (records.size() - at >= sizeof head) std::memcpy(&head, records.data() + at, sizeof head);
    const std::size_t bytes = head & 0xff;
    if (bytes == 0 || record_bytes(bytes) > records.size() - at) {
      return request.node().engine().distrust(request.from(), "node ", request.from(),
                                              " sends a malformed list of puts");
    }
    std::byte* const place = RemoteMemory::own_place(request, head >> 8, bytes);
    if (place == nullptr) return;
    write_bytes(place, records.data() + at + sizeof head, bytes);
    at += record_bytes(bytes);
  }
  puts_of(request.node()).owe(request.from(), number);
}

const impl::InternalHandlers<puts_written, write_here, write_gathered_here> put_handlers;

}  // namespace

RemotePuts::RemotePuts(Engine& engine)
    : engine_(engine),
      peers_(engine.memory_for_events()),
      gathering_(engine.memory_for_events()),
      owed_(engine.memory_for_events()) {}

// -- what the caller does -----------------------------------------------------------------------------------------------

RemotePuts::Peer& RemotePuts::peer(NodeId node) {
  return peers_.try_emplace(node, engine_.memory_for_events()).first->second;
}

void RemotePuts::put(NodeId to, std::uint64_t offset, const std::byte* from, std::size_t bytes,
                     Counter& counter) {
  Peer& peer = this->peer(to);
  if (bytes <= longest_gathered) {
    gather(to, peer, offset, from, bytes);
    note(peer.gathered_for, 0, counter);
    return;
  }
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const Payload piece(from + at, std::min(piece_bytes, bytes - at));
    // The number of a message is that of its attempt: what posts send while this one waits goes before.
    send_own(engine_, to, "put", [&] {
      if (const Status gathered = send_gathered(to, peer); gathered != Status::ok) return gathered;
      const Status status = engine_.node().try_request<write_here>(to, offset + at, peer.sent + 1, piece);
      if (status == Status::ok) ++peer.sent;
      return status;
    });
  }
  note(peer.begun, peer.sent, counter);
  complete(peer);
}

void RemotePuts::put_ahead(NodeId to, std::uint64_t offset, const std::byte* from, std::size_t bytes) {
  Peer& peer = this->peer(to);
  if (peer.gathered_bytes != 0) send_own(engine_, to, "put", [&] { return send_gathered(to, peer); });
  const auto goes_ahead = [&] {
    peer.ahead = true;
    peer.ahead_of = peer.sent + 1;
  };
  goes_ahead();
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const Payload piece(from + at, std::min(piece_bytes, bytes - at));
    if (engine_.node().request<write_here>(to, offset + at, 0, piece) != Status::ok)
      throw peer_gone_error(engine_, "put", to);
  }
  goes_ahead();
}

void RemotePuts::gather(NodeId to, Peer& peer, std::uint64_t offset, const std::byte* from,
                        std::size_t bytes) {
  if (engine_.membership().is_gone(to)) throw peer_gone_error(engine_, "put", to);
  const std::size_t needed = record_bytes(bytes);
  if (peer.gathered_bytes + needed > peer.gathered.size())
    send_own(engine_, to, "put", [&] { return send_gathered(to, peer); });
  if (peer.gathered_bytes == 0) {
    gathering_.begin(to, engine_.now());
    engine_.more_waits_to_be_sent();
  }
  std::byte* const record = peer.gathered.data() + peer.gathered_bytes;
  const std::uint64_t head = record_head(offset, bytes);
  std::memcpy(record, &head, sizeof head);
  std::memset(record + needed - 8, 0, 8);
  std::memcpy(record + sizeof head, from, bytes);
  peer.gathered_bytes += needed;
}

/// ok, also where there is nothing; again; or unreachable: then waits for these puts find that out.
Status RemotePuts::send_gathered(NodeId to, Peer& peer) noexcept {
  if (peer.gathered_bytes == 0) return Status::ok;
  const Payload records(peer.gathered.data(), peer.gathered_bytes);
  const Status status = engine_.node().try_request<write_gathered_here>(to, peer.sent + 1, records);
  if (status == Status::again) return status;
  ++peer.sent;
  for (Begun& begun : peer.gathered_for) {
    begun.number = peer.sent;
    peer.begun.push_back(begun);
  }
  peer.gathered_for.clear();
  peer.gathered_bytes = 0;
  gathering_.end(to);
  return status;
}

template <class List>
void RemotePuts::note(List& list, std::uint64_t number, Counter& counter) {
  if (!list.empty() && list.back().counter == &counter && list.back().number == number) {
    ++list.back().count;
  } else {
    list.push_back({number, &counter, 1});
  }
}

void RemotePuts::push() noexcept {
  if (!any()) return;
  const Engine::OwnSend own(engine_);
  gathering_.send_all([&](NodeId to) { return send_gathered(to, peer(to)); });
  say_what_is_owed();
}

void RemotePuts::push_what_is_due() noexcept {
  if (!any()) return;
  const Engine::OwnSend own(engine_);
  if (gathering_.any())
    gathering_.send_due(engine_.now(), [&](NodeId to) { return send_gathered(to, peer(to)); });
  say_what_is_owed();
}

void RemotePuts::say_what_is_owed() noexcept {
  std::erase_if(owed_, [&](const Owed& owed) {
    return engine_.node().try_reply_to<puts_written>(owed.to, owed.number) != Status::again;
  });
}

std::optional<NodeId> RemotePuts::gone_peer_of(const Counter& counter) const {
  const auto is_its = [&](const Begun& begun) { return begun.counter == &counter; };
  for (const auto& [node, peer] : peers_) {
    if (engine_.membership().is_gone(node) &&
        (std::ranges::any_of(peer.begun, is_its) || std::ranges::any_of(peer.gathered_for, is_its)))
      return node;
  }
  return {};
}

std::uint64_t RemotePuts::forget(const Counter& counter, std::optional<NodeId> only) noexcept {
  std::uint64_t count = 0;
  const auto forget_in = [&](auto& list) {
    for (Begun& begun : list) {
      if (begun.counter != &counter) continue;
      count += begun.count;
      begun.counter = nullptr;
    }
  };
  for (auto& [node, peer] : peers_) {
    if (only && node != *only) continue;
    forget_in(peer.begun);
    forget_in(peer.gathered_for);
  }
  return count;
}

std::byte* RemotePuts::destination(const Coming& message) noexcept {
  if (!brings_data_for<write_here>(message)) return nullptr;
  return engine_.memory().own_if_mapped(message.words[0], message.payload_bytes);
}

// -- what handlers say -------------------------------------------------------------------------------------------------------

void RemotePuts::was_written(NodeId by, std::uint64_t number) noexcept {
  const auto found = peers_.find(by);
  if (found == peers_.end() || number > found->second.sent)
    return engine_.distrust(by, "node ", by, " confirms puts that were not sent to it");
  Peer& peer = found->second;
  peer.done = std::max(peer.done, number);
  if (peer.ahead && peer.done >= peer.ahead_of) peer.ahead = false;
  complete(peer);
}

void RemotePuts::complete(Peer& peer) noexcept {
  while (!peer.begun.empty() && peer.begun.front().number <= peer.done) {
    const Begun begun = peer.begun.front();
    peer.begun.pop_front();
    if (begun.counter != nullptr) RemoteMemory::count_done(*begun.counter, begun.count);
  }
}

/// Said at the end of the poll.
void RemotePuts::owe(NodeId from, std::uint64_t number) {
  const auto same = std::ranges::find(owed_, from, &Owed::to);
  if (same != owed_.end()) {
    same->number = number;
  } else {
    owed_.push_back({from, number});
    engine_.more_waits_to_be_sent();
  }
}

}  // namespace am::core
