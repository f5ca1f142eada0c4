// A connection by TCP, or a place to take them, and what can be done with it: never a wait.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "host/connections.hpp"
#include "host/descriptor.hpp"
#include "transports/tcp/address.hpp"

namespace am::tcp {

class Socket {
 public:
  Socket() = default;
  /// No forked child keeps it open (host/connections.hpp).
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) { host::add_connection(descriptor); }
  Socket(Socket&&) noexcept = default;
  Socket& operator=(Socket&&) noexcept = default;
  ~Socket() { close(); }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(descriptor_); }
  void close() noexcept {
    host::remove_connection(descriptor());
    host::Descriptor(std::move(descriptor_));
  }

  /// What became of a read or write: so many bytes went; none can, now (`blocked`); or none will any more (`ended`): in good
  /// order, or for a reason that errno has.
  struct Moved {
    enum class Outcome : std::uint8_t { some, blocked, ended };
    Outcome outcome;
    std::size_t bytes = 0;
    int error = 0;
  };
  [[nodiscard]] Moved read(std::span<const iovec> to) noexcept;
  [[nodiscard]] Moved write(std::span<const iovec> from) noexcept;
  [[nodiscard]] Moved read(std::span<std::byte> to) noexcept;
  [[nodiscard]] Moved write(std::span<const std::byte> from) noexcept;

  /// Ends the connection, also where a forked child holds it.
  void end() noexcept;
  /// Ends it at once, and for this system, too: the address is free again.
  void abort() noexcept;
  /// Where nobody takes connections at a port of this host that the system may also choose for who connects, one who tries may come
  /// to connect to itself.
  [[nodiscard]] bool is_to_itself() const noexcept;
  /// Nothing more will be written.
  void end_writing() noexcept;
  /// Bytes written that the other host does not have yet, as far as this one knows.
  [[nodiscard]] std::size_t under_way() const noexcept;
  /// Has this system ask the other one for a sign of life when none comes by itself, often enough for such a limit (0: never), and leave it to
  /// the caller to give the connection up. A process that
  /// computes, or is stopped, is no matter: its system answers.
  void ask_for_life(std::uint64_t limit_ns) noexcept;
  /// For how long the other system has not answered what it was asked, or sent, more than once; 0 while it does.
  [[nodiscard]] std::uint64_t silent_ns() const noexcept;
  /// Why a connection that was begun did not come about, as errno has it; 0: it did, or is still on its way.
  [[nodiscard]] int failure() const noexcept;

 private:
  host::Descriptor descriptor_;
};

/// Takes connections at `address`; port 0: any, which `address` has afterwards. Throws am::Error.
[[nodiscard]] Socket listen_at(Address& address);
/// One that has come, or none.
[[nodiscard]] Socket accept_from(const Socket& listening) noexcept;
/// Begins a connection; it is there when it can be written to. None, and errno says why, when there is no way.
[[nodiscard]] Socket connect_to(const Address& address) noexcept;

}  // namespace am::tcp
