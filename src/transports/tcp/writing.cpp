// What goes out over TCP: what waits for each connection, and what is added to it on its way.
#include <sys/uio.h>

#include <algorithm>
#include <am/impl/copy.hpp>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/clock.hpp"
#include "transports/tcp/peer.hpp"

namespace am::tcp {

namespace {
using Outcome = Socket::Moved::Outcome;

constexpr std::size_t pieces_per_write = 64;

/// Whether the system takes long to copy a payload that goes behind so many bytes. It copies into memory of its own, from the beginning of a
/// page on. Of more than a packet, stores there are slow, and each load waits for one that lies less than a line behind it, counted
/// within a page. What malloc gives of 128 KiB and more lies so: half round trips of 128 and 256 KiB took 1.25 and 1.35 times as long.
bool is_slow_to_send(Payload payload, std::size_t behind) noexcept {
  constexpr std::size_t packet = 65'483;
  constexpr std::uintptr_t page = 4096;
  constexpr std::uintptr_t line = 64;
  const std::uintptr_t distance = (behind - reinterpret_cast<std::uintptr_t>(payload.data())) % page;
  return payload.size() > packet && distance - 1 < line - 1;
}

/// Where in the block a payload is not slow to send.
std::size_t good_place(const Block& block, std::size_t bytes, std::size_t behind) noexcept {
  return is_slow_to_send({block.bytes().data(), bytes}, behind) ? Block::alignment : 0;
}
}  // namespace

void TcpTransport::is_to_write(Peer& peer) {
  calm_ = false;
  if (!std::exchange(peer.is_to_write, true)) to_write_.push_back(peer.node);
}

void TcpTransport::flush() noexcept {
  for (const NodeId node : to_write_) {
    peers_[node]->is_to_write = false;
    write(*peers_[node]);
  }
  to_write_.clear();
}

/// Words of the control lane and the time, of which the last is wanted: they wait while the socket is full, so that they do not pile up
/// where nobody reads. And credit, where it is due, or rides along.
void TcpTransport::add_what_is_due(Peer& to) {
  if (!to.socket_is_full) {
    for (const auto& [word, value] : std::exchange(to.words, {})) {
      to.say({.kind = Frame::Kind::word, .word = word, .value = value});
      to.up_to_last_word = to.out.bytes();
    }
    if (const auto asked = std::exchange(to.asked, std::nullopt))
      to.say({.kind = Frame::Kind::answer, .value = *asked, .clock = host::monotonic_ns()});
  }
  for (const Priority priority : {Priority::high, Priority::low}) {
    InWindow& window = to.inward[index(priority)];
    if (window.is_due() || (!to.out.empty() && window.rides_along()))
      to.say({.kind = Frame::Kind::credit, .priority = priority, .value = window.tell()});
  }
}

void TcpTransport::tell_all_credit() {
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer == nullptr || peer->state != Peer::State::joined || !peer->is_sent_to()) continue;
    for (const Priority priority : {Priority::high, Priority::low}) {
      InWindow& window = peer->inward[index(priority)];
      if (!window.has_news()) continue;
      peer->say({.kind = Frame::Kind::credit, .priority = priority, .value = window.tell()});
      is_to_write(*peer);
    }
  }
}

void TcpTransport::write(Peer& to) {
  if (to.state != Peer::State::joined || !to.is_sent_to()) return;
  add_what_is_due(to);
  if (!to.stream) {  // this node itself: read() takes it out
    if (armed_ && !to.out.empty()) ring_self();
    return;
  }
  while (!to.out.empty()) {
    std::array<iovec, pieces_per_write> pieces;
    const Socket::Moved moved = to.stream.write(to.out.front(pieces));
    if (moved.outcome == Outcome::some) {
      to.written(moved.bytes);
      continue;
    }
    if (moved.outcome == Outcome::ended) return cannot_write(to, moved);
    break;
  }
  if (const bool full = !to.out.empty() || !to.stream.flush(); full != to.socket_is_full) {
    to.socket_is_full = full;
    watch(to);
    if (!full && (!to.words.empty() || to.asked)) write(to);
  }
}

bool TcpTransport::all_have_come() const noexcept {
  return std::ranges::all_of(peers_, [](const std::unique_ptr<Peer>& peer) {
    return peer == nullptr || !peer->stream || !peer->is_sent_to() ||
           (peer->out.empty() && peer->stream.is_flushed() && peer->stream.socket().under_way() == 0);
  });
}

bool TcpTransport::published() const noexcept {
  return std::ranges::all_of(peers_, [](const std::unique_ptr<Peer>& peer) {
    return peer == nullptr || !peer->is_sent_to() ||
           (peer->words.empty() && peer->up_to_last_word == 0 && peer->stream.is_flushed());
  });
}

bool TcpTransport::drained() const noexcept {
  const bool all_written = std::ranges::all_of(peers_, [](const std::unique_ptr<Peer>& peer) {
    return peer == nullptr || !peer->is_sent_to() || (peer->out.empty() && peer->stream.is_flushed());
  });
  return all_written && published() && all_have_come();
}

/// Straight from where it lies, as far as the socket takes it at once; the rest is copied, and so is what is slow to send.
void TcpTransport::add_long(Peer& to, Payload payload) {
  if (is_slow_to_send(payload, to.out.bytes())) return add_copy(to, payload);
  constexpr static std::array<std::byte, frame_alignment> zeros{};
  const std::size_t padding = aligned_to_frame(payload.size()) - payload.size();
  const std::array<iovec, 2> pieces{{{const_cast<std::byte*>(payload.data()), payload.size()},
                                     {const_cast<std::byte*>(zeros.data()), padding}}};
  const std::size_t taken = write_long(to, pieces);
  const std::size_t left = payload.size() + padding - taken;
  if (!to.is_sent_to()) return;
  if (left == 0) {
    if (!to.stream.is_flushed()) write(to);
    return;
  }
  Block rest = long_blocks_.get(left);
  if (taken < payload.size())
    std::memcpy(rest.bytes().data(), payload.data() + taken, payload.size() - taken);
  const std::size_t zeros_left = std::min(left, padding);
  std::memset(rest.bytes().data() + left - zeros_left, 0, zeros_left);
  to.out.add(std::move(rest), 0, left);
  write(to);
}

void TcpTransport::add_copy(Peer& to, Payload payload) {
  const std::size_t bytes = aligned_to_frame(payload.size());
  Block copy = long_blocks_.get(bytes + Block::alignment);
  const std::size_t begin = good_place(copy, bytes, to.out.bytes());
  std::byte* const at = copy.bytes().data() + begin;
  impl::copy_bytes(at, payload.data(), payload.size());
  std::memset(at + payload.size(), 0, bytes - payload.size());
  to.out.add(std::move(copy), begin, begin + bytes);
  write(to);
}

/// Writes all that waits, and the payload behind it. How much of that has gone.
std::size_t TcpTransport::write_long(Peer& to, std::span<const iovec> payload) {
  if (to.state != Peer::State::joined || !to.stream || to.cannot_write || to.socket_is_full) return 0;
  std::size_t taken = 0;
  for (std::array<iovec, pieces_per_write> pieces;;) {
    std::size_t count = to.out.front(std::span(pieces).first(pieces.size() - payload.size())).size();
    std::size_t waiting = 0;
    for (const iovec& piece : std::span(pieces).first(count)) waiting += piece.iov_len;
    std::size_t skip = taken;
    for (const iovec& piece : payload) {
      const std::size_t skipped = std::min(skip, piece.iov_len);
      skip -= skipped;
      if (waiting == to.out.bytes() && skipped != piece.iov_len)
        pieces[count++] = {static_cast<std::byte*>(piece.iov_base) + skipped, piece.iov_len - skipped};
    }
    if (count == 0) return taken;
    const Socket::Moved moved = to.stream.write(std::span<const iovec>(pieces).first(count));
    if (moved.outcome == Outcome::ended) cannot_write(to, moved);
    if (moved.outcome != Outcome::some) return taken;
    const std::size_t of_waiting = std::min(moved.bytes, waiting);
    to.written(of_waiting);
    taken += moved.bytes - of_waiting;
  }
}

/// Where the other end is gone, whether it has said farewell is still to be read.
void TcpTransport::cannot_write(Peer& to, const Socket::Moved& ended) {
  to.cannot_write = true;
  to.out.clear();
  if (ended.error != EPIPE && ended.error != ECONNRESET) end(to, to.stream.why(ended));
}

}  // namespace am::tcp
