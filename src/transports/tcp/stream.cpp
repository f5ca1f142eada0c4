#include "transports/tcp/stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace am::tcp {

namespace {

using Outcome = Socket::Moved::Outcome;

constexpr std::size_t read_bytes = 64 * 1024;   // at a time
constexpr std::size_t write_bytes = 64 * 1024;  // at a time: so much waits here at most
constexpr Socket::Moved broken{Outcome::ended, 0, EPROTO};

iovec piece(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

/// Gives the first `most` bytes of `pieces` to TLS, short ones together, since each piece that it gets costs it the same.
std::size_t encrypt_some(trust::Tls& tls, std::span<const iovec> pieces, std::size_t most) {
  std::array<std::byte, trust::Tls::record_bytes> together;
  std::size_t gathered = 0;
  std::size_t taken = 0;
  for (const iovec& one : pieces) {
    std::span<const std::byte> bytes(static_cast<const std::byte*>(one.iov_base), one.iov_len);
    bytes = bytes.first(std::min(bytes.size(), most - taken));
    taken += bytes.size();
    if (gathered + bytes.size() > together.size()) {
      tls.write(std::span(together).first(std::exchange(gathered, 0)));
    }
    if (bytes.size() > together.size() / 2) {
      tls.write(std::span(together).first(std::exchange(gathered, 0)));
      tls.write(bytes);
    } else if (!bytes.empty()) {
      std::memcpy(&together[gathered], bytes.data(), bytes.size());
      gathered += bytes.size();
    }
  }
  tls.write(std::span(together).first(gathered));
  return taken;
}

}  // namespace

Socket::Moved Stream::read(std::span<std::byte> to) {
  const iovec one = piece(to);
  return read(std::span(&one, 1));
}

Socket::Moved Stream::write(std::span<const std::byte> from) {
  const iovec one = piece(from);
  return write(std::span(&one, 1));
}

Socket::Moved Stream::decrypt(std::span<const iovec> to) {
  for (;;) {
    std::size_t bytes = 0;
    has_more_ = true;
    for (const iovec& one : to) {
      const std::size_t here = tls_->read({static_cast<std::byte*>(one.iov_base), one.iov_len});
      bytes += here;
      if (here != one.iov_len) {
        has_more_ = false;
        break;
      }
    }
    if (bytes != 0) return {Outcome::some, bytes};
    if (is_broken()) return broken;
    std::array<std::byte, read_bytes> came;
    const Moved moved = socket_.read(std::span<std::byte>(came));
    if (moved.outcome != Outcome::some) return moved;
    tls_->take(std::span(came).first(moved.bytes));
  }
}

Socket::Moved Stream::encrypt(std::span<const iovec> from) {
  if (const Moved moved = send_encrypted(); moved.outcome != Outcome::some) return moved;
  const std::size_t taken = encrypt_some(*tls_, from, write_bytes);
  if (is_broken()) return broken;
  if (const Moved moved = send_encrypted(); moved.outcome == Outcome::ended) return moved;
  return {Outcome::some, taken};
}

/// `some`, when nothing waits any more.
Socket::Moved Stream::send_encrypted() {
  while (!tls_->to_send().empty()) {
    const Moved moved = socket_.write(tls_->to_send());
    if (moved.outcome != Outcome::some) return moved;
    tls_->sent(moved.bytes);
  }
  return {Outcome::some};
}

std::string Stream::why(const Moved& ended) const {
  if (tls_ && is_broken()) return "TLS: " + tls_->why();
  return ended.error != 0 ? std::strerror(ended.error) : "its end of the connection was closed";
}

}  // namespace am::tcp
