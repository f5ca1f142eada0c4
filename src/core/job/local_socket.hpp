// Abstract Unix sockets of SOCK_SEQPACKET: they have no file to be left behind, keep packets whole, carry
// descriptors, and the kernel vouches for the user at the other end.
//
// A name in this space is visible and open to every user of the network namespace. Whoever accepts or
// connects therefore looks at the other end's user first: own_peer. No thread of its own; a socket belongs to
// one thread.
#pragma once

#include <sys/types.h>
#include <optional>
#include <span>
#include <string_view>

#include "host/descriptor.hpp"

namespace am::core {

using host::Descriptor;

// Where these fail, the descriptor is empty or the answer false, and errno tells why.

/// A listener that does not block in accept. EADDRINUSE: the name is taken.
[[nodiscard]] Descriptor listen_local(std::string_view name, int backlog) noexcept;
/// A socket that blocks at most `timeout_ms` in each call (0: for ever), connecting included: then EAGAIN.
[[nodiscard]] Descriptor connect_local(std::string_view name, int timeout_ms) noexcept;

/// The process at the other end, as it was when it connected or began to listen, if it runs as this user.
[[nodiscard]] std::optional<pid_t> own_peer(int socket) noexcept;

/// One packet, with a descriptor unless `fd` is negative. Never raises SIGPIPE.
[[nodiscard]] bool send_packet(int socket, std::span<const std::byte> packet, int fd) noexcept;

struct Received {
  ssize_t bytes = -1;  ///< length of the packet, also where it was longer than the room; 0: the end
  Descriptor fd;       ///< what came with it: at most one, close-on-exec
};
[[nodiscard]] Received receive_packet(int socket, std::span<std::byte> room) noexcept;

}  // namespace am::core
