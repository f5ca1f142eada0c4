// What is read from, and written to, the memory of peers (fi_rma(3)): payloads that their messages have left there, and moves, which
// are pieces of puts and gets in their segments.
//
// Visibility. A write asks for FI_DELIVERY_COMPLETE: that it is done means that the bytes are in the peer's memory for whoever
// looks there, also by loads (fi_cq(3)); core tells its program of it only then. Whoever hears of it afterwards, by whatever
// way, finds them. A provider that cannot promise that has no writes here, and puts go as messages. What was read is here when
// the read is done. Nothing else is asked of the network's order.
//
// Where the owner's processor would have to carry a move, messages are better (reads_alone, writes_alone).
//
// A move goes through memory of this network's own, a copy: the program may free its place while the network is at it, and no provider
// takes a read back. Few moves to a peer are under way at once (most_moves), which bounds that memory.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "host/standstill.hpp"
#include "transports/ofi/peer.hpp"

namespace am::ofi {

namespace {
constexpr std::size_t most_fetches = 64;  // of payloads, at once
/// A node sees nothing of what others do in its memory, but its descriptor tells of it: now and then it is to find something when it
/// looks, or it would not believe that any more (news_at_descriptors). That is a probe, of which one is under way at most: the node may
/// not look for long.
constexpr std::uint64_t moves_between_probes = 4;
constexpr std::size_t shortest_move_bytes = 8 * 1024;
}  // namespace

std::size_t OfiTransport::shortest_move(Access access, NodeId to) const noexcept {
  const fi_info& info = endpoint_.info();
  const bool alone = access == Access::fetch ? reads_alone(info) : writes_alone(info);
  return alone && can_move(access, to) ? shortest_move_bytes : SIZE_MAX;
}

bool OfiTransport::can_move(Access access, NodeId to) const noexcept {
  const Peer* const other = known(to);
  return other != nullptr && other->segment && destinations_ != nullptr &&
         (access == Access::fetch ? endpoint_.has(FI_RMA) : endpoint_.writes());
}

Status OfiTransport::begin_move(const Move& move, const std::byte* from) noexcept {
  if (is_over(move.peer)) return Status::unreachable;
  Peer& other = peer(move.peer);
  if (!other.takes_moves()) {
    if (std::ranges::find(moves_refused_, move.peer) == moves_refused_.end())
      moves_refused_.push_back(move.peer);
    return Status::again;
  }
  Transfer& transfer = new_transfer(
      other, move.bytes, {other.address, other.segment->address + move.offset, other.segment->key});
  transfer.move = move;
  if (move.access == Access::store) std::memcpy(transfer.part.payload(), from, move.bytes);
  ++other.moves;
  ++other.moves_begun;
  calm_ = false;
  begin_transfers();
  if (!other.is_sent_to()) return Status::unreachable;  // it has failed
  if (other.moves_begun % moves_between_probes == 0 && other.probe == other.seen) {
    say(other, {.kind = Frame::Kind::probe, .value = ++other.probe});
    if (armed_) write(other);
  }
  if (armed_) set_timer();
  return Status::ok;
}

OfiTransport::Transfer& OfiTransport::new_transfer(const Peer& with, std::size_t bytes,
                                                   const Endpoint::Remote& place) {
  Transfer& transfer = transfers_.emplace_back();
  transfer.kind = Operation::Kind::transfer;
  transfer.peer = with.node;
  transfer.part = long_memory_.get(bytes);
  transfer.place = place;
  transfer.bytes = bytes;
  return transfer;
}

/// In the order in which they came, as far as libfabric takes them; where it takes none for a peer, those of the others go on. Moves take
/// nothing from payloads: their peers may not look for long.
void OfiTransport::begin_transfers() {
  std::size_t fetches = static_cast<std::size_t>(std::ranges::count_if(transfers_, [&](const Transfer& one) {
    return !one.move && one.is_begun && !one.is_done && !is_over(one.peer);
  }));
  ++tries_to_transfer_;
  for (Transfer& transfer : transfers_) {
    Peer& other = *peers_[transfer.peer];
    if (transfer.is_begun || other.refused_transfer == tries_to_transfer_) continue;
    if (!transfer.move && fetches == most_fetches) continue;
    const std::span<std::byte> bytes(transfer.part.payload(), transfer.bytes);
    const bool writes = transfer.move && transfer.move->access == Access::store;
    const int result = writes ? endpoint_.write(bytes, transfer.part.descriptor, transfer.place, transfer)
                              : endpoint_.read(bytes, transfer.part.descriptor, transfer.place, transfer);
    if (result == -FI_EAGAIN) {
      other.refused_transfer = tries_to_transfer_;
      continue;
    }
    if (result != 0) return end(other, endpoint_.why(result));
    transfer.is_begun = true;
    if (!transfer.move) ++fetches;
  }
}

/// Something is to be begun of which nothing tells.
bool OfiTransport::transfers_wait() const noexcept {
  return !std::ranges::all_of(transfers_, &Transfer::is_begun);
}

void OfiTransport::transferred(Transfer& transfer, const Endpoint::Done& done) {
  Peer& other = *peers_[transfer.peer];
  transfer.is_done = true;
  if (other.state == Peer::State::over) {
    drop_transfers(other);
  } else if (done.error != 0) {
    end(other, endpoint_.why(done));
  } else if (transfer.move) {
    --other.moves;
    const bool fetched = transfer.move->access == Access::fetch;
    destinations_->moved(*transfer.move,
                         fetched ? Payload(transfer.part.payload(), transfer.bytes) : Payload());
    drop_transfer(transfer);
  } else {
    advance(other, transfer.priority);
  }
}

void OfiTransport::drop_transfer(const Transfer& over) noexcept {
  transfers_.remove_if([&](const Transfer& one) { return &one == &over; });
}

/// All of that peer's but those that libfabric is at.
void OfiTransport::drop_transfers(const Peer& with) noexcept {
  transfers_.remove_if(
      [&](const Transfer& one) { return one.peer == with.node && one.is_begun == one.is_done; });
}

/// Those that have not begun.
void OfiTransport::drop_moves(Peer& with) noexcept {
  with.moves -= transfers_.remove_if(
      [&](const Transfer& one) { return one.peer == with.node && one.move && !one.is_begun; });
}

/// Whether something that a program has put is not there yet.
bool OfiTransport::stores_are_under_way() const noexcept {
  return std::ranges::any_of(transfers_, [&](const Transfer& one) {
    return one.move && one.move->access == Access::store && !is_over(one.peer);
  });
}

/// Whether libfabric is at none, or soon enough: a peer may not look for long, or never again.
bool OfiTransport::transfers_end_soon() noexcept {
  constexpr std::uint64_t patience_ns = 50'000'000;
  const auto is_under_way = [](const Transfer& one) { return one.is_begun && !one.is_done; };
  const std::uint64_t began = host::running_ns(memory_->board().job());
  std::array<Endpoint::Done, 32> all;
  while (std::ranges::any_of(transfers_, is_under_way)) {
    const std::size_t count = endpoint_.look(all);
    if (count == 0 && host::running_ns(memory_->board().job()) - began > patience_ns) return false;
    for (const Endpoint::Done& done : std::span(all).first(count)) {
      if (done.operation != nullptr && done.operation->kind == Operation::Kind::transfer)
        static_cast<Transfer&>(*done.operation).is_done = true;
    }
  }
  return true;
}

}  // namespace am::ofi
