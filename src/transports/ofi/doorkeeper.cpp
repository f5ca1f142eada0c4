#include "transports/ofi/doorkeeper.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "host/connections.hpp"
#include "host/own_descriptor.hpp"
#include "transports/ofi/redirect.hpp"

namespace am::ofi {

namespace {

/// All of this process. Locked also while one is asked.
struct Keepers {
  std::mutex mutex;
  std::vector<Doorkeeper*> all;
};
Keepers& keepers() {
  static auto* const the = new Keepers;  // never destroyed: libfabric may have a thread until the end
  return *the;
}

thread_local Doorkeeper* keeper_here = nullptr;

/// With others of this user alone, and of these only who asks for that, too: not as by SO_REUSEADDR, which is for all.
bool share_with_own_user(int socket) noexcept {
  const int no = 0;
  const int yes = 1;
  return setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &no, sizeof no) == 0 &&
         setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) == 0;
}

/// As libam's own: no child keeps it open, forked or executed.
void is_connection(int socket) noexcept {
  static_cast<void>(fcntl(socket, F_SETFD, FD_CLOEXEC));
  host::add_connection(socket);
}

bool is_same(const tcp::Address& a, const tcp::Address& b) noexcept {
  return a.port() == b.port() && a.bytes() == b.bytes();
}

/// The error stays where it is, for libfabric.
bool has_failed(int socket) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == TCP_CLOSE;
}

}  // namespace

struct Doorkeeper::Calls {
  static int listen(int socket, int backlog) {
    const int result = ::listen(socket, backlog);
    if (result == 0 && keeper_here != nullptr && keeper_here->opens_) {
      is_connection(socket);
      const std::lock_guard lock(keepers().mutex);
      keeper_here->listening_.push_back(socket);
    }
    return result;
  }

  static int close(int descriptor) {
    host::remove_connection(descriptor);
    return ::close(descriptor);
  }

  static int accept(int listening, sockaddr* address, socklen_t* size) {
    const int socket = ::accept(listening, address, size);
    if (socket < 0) return socket;
    const std::lock_guard lock(keepers().mutex);
    const auto keeper = std::ranges::find_if(keepers().all, [&](const Doorkeeper* one) {
      return std::ranges::find(one->listening_, listening) != one->listening_.end();
    });
    if (keeper == keepers().all.end()) return socket;  // another user's of libfabric
    if ((*keeper)->lets_in(socket)) {
      is_connection(socket);
      return socket;
    }
    tcp::Socket(socket).abort();
    errno = EAGAIN;
    return -1;
  }

  static int bind(int socket, const sockaddr* address, socklen_t size) {
    const auto wanted = tcp::Address::of(address, size);
    const bool is_to_connect =
        keeper_here != nullptr && !keeper_here->opens_ && wanted && wanted->port() == 0;
    return is_to_connect ? keeper_here->bind(socket) : ::bind(socket, address, size);
  }

  static int connect(int socket, const sockaddr* address, socklen_t size) {
    if (keeper_here == nullptr || keeper_here->opens_) return ::connect(socket, address, size);
    is_connection(socket);
    const auto from = tcp::Address::of_end(socket, &getsockname);
    if (from && from->port() == 0 && keeper_here->bind(socket) != 0) return -1;
    const int result = ::connect(socket, address, size);
    const int why = errno;
    const bool no_way = why == ECONNREFUSED || why == ENETUNREACH || why == EHOSTUNREACH;
    const bool is_refused = result != 0 && (why == EINPROGRESS ? has_failed(socket) : no_way);
    if (const auto there = tcp::Address::of(address, size)) keeper_here->note_connection(*there, is_refused);
    errno = why;
    return result;
  }
};

bool take_over_sockets(const void* function_of_library) noexcept {
  using Calls = Doorkeeper::Calls;
  const std::array calls = {Redirection{"listen", reinterpret_cast<void*>(&Calls::listen)},
                            Redirection{"accept", reinterpret_cast<void*>(&Calls::accept)},
                            Redirection{"close", reinterpret_cast<void*>(&Calls::close)},
                            Redirection{"bind", reinterpret_cast<void*>(&Calls::bind)},
                            Redirection{"connect", reinterpret_cast<void*>(&Calls::connect)}};
  return redirect(function_of_library, calls);
}

Doorkeeper::Turn::Turn(Doorkeeper* keeper, bool opens) noexcept
    : before_(std::exchange(keeper_here, keeper != nullptr ? keeper : keeper_here)) {
  if (keeper != nullptr) keeper->opens_ = opens;
}

Doorkeeper::Turn::~Turn() { keeper_here = before_; }

Doorkeeper::Doorkeeper() {
  const std::lock_guard lock(keepers().mutex);
  keepers().all.push_back(this);
}

Doorkeeper::~Doorkeeper() {
  const std::lock_guard lock(keepers().mutex);
  std::erase(keepers().all, this);
}

bool Doorkeeper::opened_at(tcp::Address address) noexcept {
  if (listening_.empty()) return false;
  address.set_port(0);
  held_ = tcp::Socket(host::own_descriptor(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)));
  if (!held_ || !share_with_own_user(held_.descriptor()) ||
      ::bind(held_.descriptor(), address.data(), address.size()) != 0)
    return false;
  const auto own = tcp::Address::of_end(held_.descriptor(), &getsockname);
  if (own) own_ = *own;
  return own.has_value();
}

void Doorkeeper::note_connection(const tcp::Address& there, bool refused) {
  std::erase_if(refused_, [&](const tcp::Address& one) { return is_same(one, there); });
  if (refused) refused_.push_back(there);
}

bool Doorkeeper::is_refused(const tcp::Address& there) const noexcept {
  return std::ranges::any_of(refused_, [&](const tcp::Address& one) { return is_same(one, there); });
}

void Doorkeeper::let_in(std::function<bool(const tcp::Address& from)> whom) {
  const std::lock_guard lock(keepers().mutex);
  whom_ = std::move(whom);
}

bool Doorkeeper::lets_in(int socket) const noexcept {
  const auto from = tcp::Address::of_end(socket, &getpeername);
  return from && whom_ && whom_(*from);
}

int Doorkeeper::bind(int socket) const noexcept {
  if (!share_with_own_user(socket)) return -1;
  return ::bind(socket, own_.data(), own_.size());
}

}  // namespace am::ofi
