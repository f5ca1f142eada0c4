#include "core/memory/remote_memory.hpp"

#include <algorithm>
#include <am/error.hpp>
#include <am/global.hpp>
#include <am/impl/copy.hpp>
#include <cstring>
#include <string>

#include "core/membership/peers_gone.hpp"
#include "core/messages/brings_data.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"
#include "host/counted.hpp"

namespace am::core {

namespace {

constexpr std::size_t piece_bytes = RemotePuts::piece_bytes;

std::size_t pieces_of(std::size_t bytes, std::size_t piece = piece_bytes) noexcept {
  return (bytes + piece - 1) / piece;
}

template <class Word>
bool write_word(std::byte* place, const void* from, std::size_t bytes) noexcept {
  if (bytes != sizeof(Word) || !impl::is_aligned_word<Word>(place)) return false;
  Word word;
  std::memcpy(&word, from, sizeof word);
  impl::store(place, word);
  return true;
}

template <class Word>
bool read_word(void* into, std::byte* place, std::size_t bytes) noexcept {
  if (bytes != sizeof(Word) || !impl::is_aligned_word<Word>(place)) return false;
  const Word word = impl::load<Word>(place);
  std::memcpy(into, &word, sizeof word);
  return true;
}

// -- what the owner does ------------------------------------------------------------------------------------------------

RemoteMemory& remote_of(Node& node) { return node.engine().memory().remote(); }

void read_done(Reply& reply, std::uint64_t ticket, std::uint64_t at, Payload data) {
  remote_of(reply.node()).was_read(reply.from(), ticket, at, data);
}

void change_done(Reply& reply, std::uint64_t ticket, std::uint64_t old) {
  remote_of(reply.node()).changed(reply.from(), ticket, old);
}

void read_here(Request& request, std::uint64_t offset, std::uint64_t bytes, std::uint64_t ticket,
               std::uint64_t at) {
  std::byte* place = RemoteMemory::own_place(request, offset, bytes);
  if (place == nullptr) return;
  request.reply<read_done>(ticket, at, Payload(place, bytes));
}

void change_here(Request& request, std::uint64_t offset, std::uint64_t ticket, impl::Atomic atomic) {
  if ((atomic.bytes != 4 && atomic.bytes != 8) || offset % atomic.bytes != 0)
    return request.node().engine().distrust(request.from(), "node ", request.from(),
                                            " asks for an impossible atomic operation");
  std::byte* place = RemoteMemory::own_place(request, offset, atomic.bytes);
  if (place == nullptr) return;
  std::uint64_t old = 0;
  apply_atomic(place, atomic, &old);
  request.reply<change_done>(ticket, old);
}

const impl::InternalHandlers<read_done, change_done, read_here, change_here> access_handlers;

}  // namespace

void write_bytes(std::byte* place, const void* from, std::size_t bytes) noexcept {
  if (write_word<std::uint64_t>(place, from, bytes) || write_word<std::uint32_t>(place, from, bytes) ||
      write_word<std::uint16_t>(place, from, bytes) || write_word<std::uint8_t>(place, from, bytes)) {
    return;
  }
  impl::copy_bytes(place, from, bytes);
}

void read_bytes(void* into, std::byte* place, std::size_t bytes) noexcept {
  if (read_word<std::uint64_t>(into, place, bytes) || read_word<std::uint32_t>(into, place, bytes) ||
      read_word<std::uint16_t>(into, place, bytes) || read_word<std::uint8_t>(into, place, bytes)) {
    return;
  }
  impl::copy_bytes(into, place, bytes);
}

void apply_atomic(std::byte* place, const impl::Atomic& atomic, void* old) noexcept {
  if (atomic.bytes == sizeof(std::uint32_t)) {
    const auto before = impl::apply<std::uint32_t>(place, atomic);
    std::memcpy(old, &before, sizeof before);
  } else {
    const auto before = impl::apply<std::uint64_t>(place, atomic);
    std::memcpy(old, &before, sizeof before);
  }
}

std::byte* RemoteMemory::own_place(const Request& request, std::uint64_t offset, std::size_t bytes) {
  Engine& engine = request.node().engine();
  std::byte* place = engine.memory().own(offset, bytes);
  if (place == nullptr) {
    engine.distrust(request.from(), "node ", request.from(), " asks for ", host::Counted{bytes, "byte"},
                    " at offset ", offset, ", outside of this segment");
  }
  return place;
}

// -- what the caller does -----------------------------------------------------------------------------------------------

RemoteMemory::RemoteMemory(Engine& engine)
    : engine_(engine),
      puts_(engine),
      gets_(engine),
      carried_(engine),
      under_way_(engine.memory_for_events()) {}

RemoteMemory::~RemoteMemory() {
  for (const auto& [ticket, operation] : under_way_) {
    if (operation.counter != nullptr) operation.counter->under_way_ = nullptr;
  }
  const auto forget = [](Counter& counter) { counter.under_way_ = nullptr; };
  puts_.for_each_counter(forget);
  gets_.for_each_counter(forget);
  carried_.for_each_counter(forget);
}

/// Notes an operation and sends it. When the peer turns out to be gone, or a handler throws out of a send, nothing of it
/// stays behind: answers to what was sent already are dropped. (An operation whose last piece was on its way when the
/// handler threw may be complete by then: it has been counted, and stays so.)
template <class Send>
void RemoteMemory::begin(const char* what, const Operation& operation, Send send_pieces) {
  engine_.must_compute(what);
  const std::uint64_t ticket = ++last_ticket_;
  operation.counter->under_way_ = this;
  ++operation.counter->begun_;
  under_way_.emplace(ticket, operation);
  const Engine::OwnSend own(engine_);
  const auto take_back = [&] {
    const auto found = under_way_.find(ticket);
    if (found == under_way_.end()) return;
    --operation.counter->begun_;
    let_go(found);
  };
  try {
    if (send_pieces(ticket) == Status::ok) return;
  } catch (...) {
    take_back();
    throw;
  }
  take_back();
  throw peer_gone_error(engine_, what, operation.peer);
}

template <class F>
void RemoteMemory::counted(Counter& counter, F begin_it) {
  counter.under_way_ = this;
  ++counter.begun_;
  try {
    begin_it();
  } catch (...) {
    --counter.begun_;
    throw;
  }
}

/// Not while something is on its way there of which nobody knows when it has come: what is moved might overtake it.
bool RemoteMemory::moves(MemoryReach::Access access, NodeId peer, std::size_t bytes) const noexcept {
  const MemoryReach* const reach = engine_.network().memory_reach(peer);
  return reach != nullptr && bytes >= reach->shortest_move(access, peer) && !puts_.any_ahead(peer);
}

void RemoteMemory::move(MemoryReach::Access access, impl::GlobalAddress there, const std::byte* from,
                        std::byte* into, std::size_t bytes, Counter& counter) {
  engine_.must_not_be_a_child();
  const bool stores = access == MemoryReach::Access::store;
  const char* const what = stores ? "put" : "get";
  const auto peer = static_cast<NodeId>(there.node());
  const std::size_t pieces = pieces_of(bytes, MemoryReach::move_bytes);
  begin(what, {stores ? Kind::store : Kind::fetch, &counter, peer, into, bytes, pieces},
        [&](std::uint64_t ticket) {
          for (std::size_t at = 0; at < bytes; at += MemoryReach::move_bytes) {
            const MemoryReach::Move piece{
                access, peer, there.offset() + at, std::min(MemoryReach::move_bytes, bytes - at), ticket, at};
            send_own(engine_, peer, what, [&] {
              const Status status = engine_.network().memory_reach(peer)->begin_move(
                  piece, from == nullptr ? nullptr : from + at);
              const auto found = under_way_.find(ticket);
              if (status == Status::ok && found != under_way_.end()) ++found->second.moves;
              return status;
            });
          }
          return Status::ok;
        });
}

RemoteMemory::Operations::iterator RemoteMemory::let_go(Operations::iterator operation) noexcept {
  Operation& one = operation->second;
  if (one.kind != Kind::store || one.moves == 0) return under_way_.erase(operation);
  one.counter = nullptr;
  one.pieces = one.moves;
  ++let_go_;
  return std::next(operation);
}

void RemoteMemory::settle(NodeId peer, const char* what) {
  if (let_go_ == 0) return;
  const auto is_let_go = [&](const auto& entry) {
    return entry.second.counter == nullptr && entry.second.peer == peer;
  };
  engine_.wait(
      [&] { return engine_.membership().is_gone(peer) || std::ranges::none_of(under_way_, is_let_go); },
      what);
  if (engine_.membership().is_gone(peer)) let_go_ -= std::erase_if(under_way_, is_let_go);
}

void RemoteMemory::put(impl::GlobalAddress to, const std::byte* from, std::size_t bytes, Counter* counter) {
  engine_.must_compute("put");
  const auto peer = static_cast<NodeId>(to.node());
  settle(peer, "put");
  if (counter != nullptr && moves(MemoryReach::Access::store, peer, bytes))
    return move(MemoryReach::Access::store, to, from, nullptr, bytes, *counter);
  std::byte* const there = carried_.place(to, bytes);
  if (counter == nullptr) {
    return there != nullptr ? carried_.put(peer, there, from, bytes, nullptr)
                            : puts_.put_ahead(peer, to.offset(), from, bytes);
  }
  counted(*counter, [&] {
    if (there != nullptr) return carried_.put(peer, there, from, bytes, counter);
    puts_.put(peer, to.offset(), from, bytes, *counter);
  });
}

void RemoteMemory::get(impl::GlobalAddress from, std::byte* into, std::size_t bytes, Counter& counter) {
  const auto peer = static_cast<NodeId>(from.node());
  if (moves(MemoryReach::Access::fetch, peer, bytes))
    return move(MemoryReach::Access::fetch, from, nullptr, into, bytes, counter);
  if (std::byte* const there = carried_.place(from, bytes)) {
    engine_.must_compute("get");
    return counted(counter, [&] { carried_.get(peer, there, into, bytes, counter); });
  }
  if (bytes <= RemoteGets::longest_gathered) {
    engine_.must_compute("get");
    return counted(counter, [&] { gets_.get(peer, from.offset(), into, bytes, counter); });
  }
  begin("get", {Kind::get, &counter, peer, into, bytes, pieces_of(bytes)}, [&](std::uint64_t ticket) {
    Status status = Status::ok;
    for (std::uint64_t at = 0; at < bytes && status == Status::ok; at += piece_bytes) {
      const std::uint64_t piece = std::min<std::uint64_t>(piece_bytes, bytes - at);
      status = engine_.node().request<read_here>(peer, from.offset() + at, piece, ticket, at);
    }
    return status;
  });
}

void RemoteMemory::change(impl::GlobalAddress at, const impl::Atomic& atomic, void* old, Counter& counter) {
  const auto peer = static_cast<NodeId>(at.node());
  engine_.must_compute("atomic");
  settle(peer, "atomic");
  begin("atomic", {Kind::change, &counter, peer, static_cast<std::byte*>(old), atomic.bytes, 1},
        [&](std::uint64_t ticket) {
          return engine_.node().request<change_here>(peer, at.offset(), ticket, atomic);
        });
}

void RemoteMemory::wait(Counter& counter, std::uint64_t n, const char* what) {
  const impl::Hold hold(engine_.node());
  push();
  LastMessages last_messages(engine_);
  engine_.wait(
      [&] { return counter.completed() >= n || last_messages.are_in([&] { return gone_peer_of(counter); }); },
      what);
  if (counter.completed() >= n) return;
  const NodeId missing = last_messages.missing();
  counter.begun_ -=
      puts_.forget(counter, missing) + gets_.forget(counter, missing) + carried_.forget(counter, missing);
  counter.begun_ -= std::erase_if(under_way_, [&](const auto& entry) {
    return entry.second.counter == &counter && entry.second.peer == missing;
  });
  throw peer_gone_error(engine_, what, missing);
}

std::optional<NodeId> RemoteMemory::gone_peer_of(const Counter& counter) const {
  for (const auto& [ticket, operation] : under_way_) {
    if (operation.counter == &counter && engine_.membership().is_gone(operation.peer)) return operation.peer;
  }
  std::optional<NodeId> gone = puts_.gone_peer_of(counter);
  if (!gone) gone = gets_.gone_peer_of(counter);
  return gone ? gone : carried_.gone_peer_of(counter);
}

void RemoteMemory::abandon(const Counter& counter) noexcept {
  const impl::Hold hold(engine_.node());
  for (auto it = under_way_.begin(); it != under_way_.end();)
    it = it->second.counter == &counter ? let_go(it) : std::next(it);
  puts_.forget(counter, {});
  gets_.forget(counter, {});
  carried_.forget(counter, {});
}

// -- answers --------------------------------------------------------------------------------------------------------------

void RemoteMemory::count_done(Counter& counter, std::uint64_t n) noexcept {
  counter.answered_.store(counter.answered_.load(std::memory_order_relaxed) + n,
                          std::memory_order_release);  // one writer at a time
}

void RemoteMemory::end_piece(Operations::iterator operation) noexcept {
  if (--operation->second.pieces != 0) return;
  if (Counter* const counter = operation->second.counter; counter != nullptr) {
    count_done(*counter, 1);
  } else {
    --let_go_;
  }
  under_way_.erase(operation);
}

RemoteMemory::Operations::iterator RemoteMemory::find(NodeId from, std::uint64_t ticket, Kind kind) noexcept {
  const auto found = under_way_.find(ticket);
  const bool is_its = found != under_way_.end() && found->second.peer == from && found->second.kind == kind;
  return is_its ? found : under_way_.end();
}

std::byte* RemoteMemory::destination(const Coming& message) noexcept {
  if (!brings_data_for<read_done>(message)) return puts_.destination(message);
  const auto found = find(message.from, message.words[0], Kind::get);
  if (found == under_way_.end()) return nullptr;
  return place_in(found->second, message.words[1], message.payload_bytes);
}

void RemoteMemory::was_read(NodeId from, std::uint64_t ticket, std::size_t at, Payload data) {
  const auto found = find(from, ticket, Kind::get);
  if (found == under_way_.end()) return;
  const Operation& operation = found->second;
  std::byte* const place = place_in(operation, at, data.size());
  if (place == nullptr)
    return engine_.distrust(from, "node ", from, " answers a get with more than was asked for");
  if (place != data.data())
    impl::copy_bytes(place, data.data(), data.size());  // else the network has put it there
  end_piece(found);
}

void RemoteMemory::moved(const MemoryReach::Move& move, Payload fetched) noexcept {
  const Kind kind = move.access == MemoryReach::Access::store ? Kind::store : Kind::fetch;
  const auto found = find(move.peer, move.ticket, kind);
  if (found == under_way_.end()) return;
  --found->second.moves;
  if (!fetched.empty()) impl::copy_bytes(found->second.into + move.at, fetched.data(), fetched.size());
  end_piece(found);
}

void RemoteMemory::changed(NodeId from, std::uint64_t ticket, std::uint64_t old) {
  const auto found = find(from, ticket, Kind::change);
  if (found == under_way_.end()) return;
  std::memcpy(found->second.into, &old, found->second.bytes);  // its first bytes, as apply_atomic wrote them
  end_piece(found);
}

}  // namespace am::core
