// A port at which nobody takes connections yet, for who is told a number beforehand.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "host/descriptor.hpp"

namespace test {

/// The system's choice, on all addresses. Whoever sets SO_REUSEADDR, as libam does, may listen there. As long as this lives the
/// port is nobody else's: tests run side by side, and what they connect takes ports from where this one comes from.
class HeldPort {
 public:
  HeldPort() : socket_(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    if (socket_ && hold(reinterpret_cast<sockaddr*>(&v6), sizeof v6)) return;
    socket_ = am::host::Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // no IPv6 here
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    static_cast<void>(hold(reinterpret_cast<sockaddr*>(&v4), sizeof v4));
  }

  /// 0: there was none.
  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }

 private:
  bool hold(sockaddr* address, socklen_t size) noexcept {
    const int yes = 1;
    const int no = 0;
    static_cast<void>(setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
    static_cast<void>(setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no));
    if (bind(socket_.get(), address, size) != 0 || getsockname(socket_.get(), address, &size) != 0)
      return false;
    // At the same place for both families.
    number_ = ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port);
    return true;
  }

  am::host::Descriptor socket_;
  std::uint16_t number_ = 0;
};

}  // namespace test
