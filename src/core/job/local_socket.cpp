#include "core/job/local_socket.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "host/own_descriptor.hpp"

namespace am::core {

namespace {

struct Address {
  sockaddr_un value{};
  socklen_t bytes = 0;

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&value); }
};

/// An abstract name begins with a zero byte and is as long as the address says.
Address abstract_address(std::string_view name) noexcept {
  Address address;
  address.value.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof address.value.sun_path - 1);
  std::memcpy(address.value.sun_path + 1, name.data(), length);
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

}  // namespace

Descriptor listen_local(std::string_view name, int backlog) noexcept {
  Descriptor socket(
      host::own_descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  const Address address = abstract_address(name);
  if (!socket || bind(socket.get(), address.get(), address.bytes) != 0 || listen(socket.get(), backlog) != 0)
    return {};
  return socket;
}

Descriptor connect_local(std::string_view name, int timeout_ms) noexcept {
  Descriptor socket(host::own_descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
  if (!socket) return {};
  const timeval timeout{timeout_ms / 1000, (timeout_ms % 1000) * 1000L};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  const Address address = abstract_address(name);
  int result = 0;
  do {  // a Unix socket that was interrupted is not connecting: the call is simply made again
    result = connect(socket.get(), address.get(), address.bytes);
  } while (result != 0 && errno == EINTR);
  if (result != 0) return {};
  return socket;
}

std::optional<pid_t> own_peer(int socket) noexcept {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.uid != geteuid())
    return std::nullopt;
  return peer.pid;
}

bool send_packet(int socket, std::span<const std::byte> packet, int fd) noexcept {
  iovec part{const_cast<std::byte*>(packet.data()), packet.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(packet.size());
}

Received receive_packet(int socket, std::span<std::byte> room) noexcept {
  iovec part{room.data(), room.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen =
      CMSG_LEN(sizeof(int));  // room for one, not for the padding: the kernel closes the rest
  Received received;
  do {
    received.bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
  } while (received.bytes < 0 && errno == EINTR);
  if (received.bytes < 0) return received;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    received.fd = Descriptor(host::own_descriptor(fd));
  }
  return received;
}

}  // namespace am::core
