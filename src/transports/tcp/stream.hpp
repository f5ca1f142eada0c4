// The bytes of one connection whose other end has proved the job's key: as they are, or through TLS (AM_TCP_TLS). Reads and writes
// as a socket does; what TLS has made of what it took, and the socket did not take, waits here (flush).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "transports/tcp/socket.hpp"
#include "transports/trust/tls.hpp"

namespace am::tcp {

class Stream {
 public:
  using Moved = Socket::Moved;

  Stream() = default;
  /// `tls`: none, or open, with all sent that it had to say.
  explicit Stream(Socket socket, std::unique_ptr<trust::Tls> tls = nullptr) noexcept
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(socket_); }
  [[nodiscard]] Socket& socket() noexcept { return socket_; }
  [[nodiscard]] const Socket& socket() const noexcept { return socket_; }

  [[nodiscard]] Moved read(std::span<const iovec> to) { return tls_ ? decrypt(to) : socket_.read(to); }
  [[nodiscard]] Moved read(std::span<std::byte> to);
  /// More has come than read() had room for: no event of the socket tells of it.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }

  [[nodiscard]] Moved write(std::span<const iovec> from) {
    return tls_ ? encrypt(from) : socket_.write(from);
  }
  [[nodiscard]] Moved write(std::span<const std::byte> from);
  /// True when the socket has all that write() took.
  bool flush() { return !tls_ || send_encrypted().outcome == Moved::Outcome::some; }
  [[nodiscard]] bool is_flushed() const noexcept { return !tls_ || tls_->to_send().empty(); }

  /// Why nothing moves any more, for people; of what read() or write() returned.
  [[nodiscard]] std::string why(const Moved& ended) const;

 private:
  Moved decrypt(std::span<const iovec> to);
  Moved encrypt(std::span<const iovec> from);
  Moved send_encrypted();
  [[nodiscard]] bool is_broken() const noexcept { return tls_->state() == trust::Tls::State::broken; }

  Socket socket_;
  std::unique_ptr<trust::Tls> tls_;
  bool has_more_ = false;
};

}  // namespace am::tcp
