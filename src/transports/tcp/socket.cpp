#include "transports/tcp/socket.hpp"

#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <am/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include <linux/sockios.h>

#include "host/own_descriptor.hpp"

namespace am::tcp {

using host::own_descriptor;

namespace {

using Outcome = Socket::Moved::Outcome;

template <class F>
ssize_t unless_interrupted(F call) noexcept {
  ssize_t result = -1;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

Socket::Moved moved(ssize_t bytes) noexcept {
  if (bytes > 0) return {Outcome::some, static_cast<std::size_t>(bytes)};
  if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM))
    return {Outcome::blocked};
  return {Outcome::ended, 0, bytes < 0 ? errno : 0};
}

/// Memory that is not there is not the connection's fault: nothing of it is taken, so that who has to copy it finds that out.
Socket::Moved taken(ssize_t bytes) noexcept {
  return bytes < 0 && errno == EFAULT ? Socket::Moved{Outcome::blocked} : moved(bytes);
}

using Control = std::array<char, 16>;  // the name of a congestion control

/// What this system takes by default.
const Control& control_of_system() noexcept {
  static const Control control = [] {
    Control name{};
    const Socket any(own_descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    socklen_t size = name.size();
    static_cast<void>(getsockopt(any.descriptor(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size));
    return name;
  }();
  return control;
}

void set_control(const Socket& socket, const Control& control) noexcept {
  const auto size = static_cast<socklen_t>(std::strlen(control.data()));
  static_cast<void>(setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, control.data(), size));
}

/// Within a host nothing is congested. BBR, which some systems take by default, paces what it sends all the same: to 2 GB/s, now and then,
/// where memory carries 6. Reno does not, and is everywhere. Before the connection is made, since what BBR has begun to pace stays so.
void be_unpaced(const Socket& socket) noexcept { set_control(socket, {"reno"}); }

/// Between hosts the system's choice holds.
void be_paced_between_hosts(const Socket& socket, const std::optional<Address>& other) noexcept {
  const auto own = Address::of_end(socket.descriptor(), &getsockname);
  const bool is_within = own && other && (own->is_loopback() || own->bytes() == other->bytes());
  if (!is_within) set_control(socket, control_of_system());
}

/// Small messages go when they are written: who writes them has gathered them already.
void send_at_once(const Socket& socket) noexcept {
  const int yes = 1;
  static_cast<void>(setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
}

}  // namespace

// One piece takes a call that takes less: some 100 ns of the 4 us of a message.
Socket::Moved Socket::read(std::span<const iovec> to) noexcept {
  if (to.size() == 1) return read({static_cast<std::byte*>(to[0].iov_base), to[0].iov_len});
  return moved(
      unless_interrupted([&] { return readv(descriptor(), to.data(), static_cast<int>(to.size())); }));
}

Socket::Moved Socket::read(std::span<std::byte> to) noexcept {
  return moved(unless_interrupted([&] { return recv(descriptor(), to.data(), to.size(), 0); }));
}

Socket::Moved Socket::write(std::span<const iovec> from) noexcept {
  if (from.size() == 1) return write({static_cast<const std::byte*>(from[0].iov_base), from[0].iov_len});
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(from.data());
  message.msg_iovlen = from.size();
  return taken(unless_interrupted([&] { return sendmsg(descriptor(), &message, MSG_NOSIGNAL); }));
}

Socket::Moved Socket::write(std::span<const std::byte> from) noexcept {
  return taken(
      unless_interrupted([&] { return send(descriptor(), from.data(), from.size(), MSG_NOSIGNAL); }));
}

void Socket::end() noexcept { static_cast<void>(shutdown(descriptor(), SHUT_RDWR)); }

void Socket::abort() noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  static_cast<void>(setsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  close();
}

bool Socket::is_to_itself() const noexcept {
  const auto here = Address::of_end(descriptor(), &getsockname);
  const auto there = Address::of_end(descriptor(), &getpeername);
  return here && there && here->port() == there->port() && here->bytes() == there->bytes();
}

void Socket::end_writing() noexcept { static_cast<void>(shutdown(descriptor(), SHUT_WR)); }

std::size_t Socket::under_way() const noexcept {
  int bytes = 0;
  if (ioctl(descriptor(), SIOCOUTQ, &bytes) != 0 || bytes <= 0) return 0;
  tcp_info info{};  // a connection that was reset goes on counting
  socklen_t size = sizeof info;
  if (getsockopt(descriptor(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_state == TCP_CLOSE)
    return 0;
  return static_cast<std::size_t>(bytes);
}

void Socket::ask_for_life(std::uint64_t limit_ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const auto set = [&](int level, int option, std::uint64_t value) {
    const int number = static_cast<int>(std::clamp<std::uint64_t>(value, 1, std::numeric_limits<int>::max()));
    static_cast<void>(setsockopt(descriptor(), level, option, &number, sizeof number));
  };
  set(IPPROTO_TCP, TCP_USER_TIMEOUT,
      std::numeric_limits<int>::max());  // it does not end the connection by itself
  const int asks = limit_ns != 0;
  static_cast<void>(setsockopt(descriptor(), SOL_SOCKET, SO_KEEPALIVE, &asks, sizeof asks));
  if (limit_ns == 0) return;
  set(IPPROTO_TCP, TCP_KEEPIDLE,
      std::min<std::uint64_t>(limit_ns / 4 / second, 32'767));  // the most that it takes
  set(IPPROTO_TCP, TCP_KEEPINTVL, std::min<std::uint64_t>(limit_ns / 100 / second, 32'767));
  // What is sent again is sent often enough, too, where the system can do that (Linux 6.15): else at twice the distance each time.
  constexpr int rto_max_ms = 44;
  set(IPPROTO_TCP, rto_max_ms, std::max<std::uint64_t>(limit_ns / 8 / 1'000'000, 1000));
}

std::uint64_t Socket::silent_ns() const noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  // One may just have been sent. Where the other end takes nothing they are sent less and less often.
  if (info.tcpi_probes < 2 && info.tcpi_retransmits < 2) return 0;
  return std::uint64_t{std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv)} * 1'000'000;
}

int Socket::failure() const noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Socket listen_at(Address& address) {
  const auto failed = [&](const char* what) {
    return Error("take connections by TCP",
                 "at " + address.text() + ": " + what + ": " + std::strerror(errno),
                 "is the interface up that has it?");
  };
  Socket socket(own_descriptor(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
  if (!socket) throw failed("socket");
  be_unpaced(socket);  // and so are those that it takes
  const int no = 0;    // [::] takes those that come by IPv4, too
  if (address.family() == AF_INET6)
    static_cast<void>(setsockopt(socket.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no));
  const int yes = 1;  // a port that was asked for may have been another job's a moment ago
  if (address.port() != 0)
    static_cast<void>(setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
  if (bind(socket.descriptor(), address.data(), address.size()) != 0) throw failed("bind");
  if (listen(socket.descriptor(), SOMAXCONN) != 0) throw failed("listen");
  const auto bound = Address::of_end(socket.descriptor(), &getsockname);
  if (!bound) throw failed("getsockname");
  address = *bound;
  return socket;
}

Socket accept_from(const Socket& listening) noexcept {
  Socket socket(own_descriptor(static_cast<int>(unless_interrupted([&]() -> ssize_t {
    return accept4(listening.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  }))));
  if (!socket) return socket;
  send_at_once(socket);
  be_paced_between_hosts(socket, Address::of_end(socket.descriptor(), &getpeername));
  return socket;
}

Socket connect_to(const Address& address) noexcept {
  Socket socket(own_descriptor(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
  if (!socket) return socket;
  send_at_once(socket);
  be_unpaced(socket);
  if (connect(socket.descriptor(), address.data(), address.size()) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    const int why = errno;
    socket.close();
    errno = why;
  } else {
    be_paced_between_hosts(socket, address);
  }
  return socket;
}

}  // namespace am::tcp
