#include "limits/tcp_limit.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "timing.hpp"
#include "words.hpp"

namespace ambench {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string("sockets: ") + what + ": " + std::strerror(errno));
}

// As libam's connections within a host (transports/tcp/socket.cpp).
void be_unpaced(int socket) {
  const std::string control = "reno";
  (void)setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, control.data(),
                   static_cast<socklen_t>(control.size()));
}

class Descriptor {
 public:
  explicit Descriptor(int number, const char* what) : number_(number) {
    if (number < 0) fail(what);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

// Both ends of a connection over loopback. Each process uses one of them.
struct Connection {
  Connection() : Connection(listen_somewhere()) {
    const int yes = 1;
    for (const int end : {first.get(), second.get()}) {
      if (setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) fail("TCP_NODELAY");
      if (fcntl(end, F_SETFL, O_NONBLOCK) != 0) fail("O_NONBLOCK");
    }
  }
  Descriptor first;
  Descriptor second;

 private:
  explicit Connection(const Descriptor& listening)
      : first(connect_to(listening.get())), second(accept(listening.get(), nullptr, nullptr), "accept") {}

  static Descriptor listen_somewhere() {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0), "socket");
    be_unpaced(socket.get());
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
    if (listen(socket.get(), 1) != 0) fail("listen");
    return socket;
  }
  static Descriptor connect_to(int listening) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
    Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0), "socket");
    be_unpaced(socket.get());
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) fail("connect");
    return socket;
  }
};

// Calls until it has moved something; 0 at the end of the connection.
template <typename F>
std::size_t until_moved(F call) {
  for (;;) {
    const ssize_t moved = call();
    if (moved >= 0) return static_cast<std::size_t>(moved);
    if (errno == ECONNRESET || errno == EPIPE) return 0;
    if (errno != EAGAIN && errno != EINTR) fail("recv or send");
  }
}

bool write_all(int socket, const std::byte* bytes, std::size_t count) {
  while (count != 0) {
    const std::size_t moved = until_moved([&] { return send(socket, bytes, count, MSG_NOSIGNAL); });
    if (moved == 0) return false;
    bytes += moved;
    count -= moved;
  }
  return true;
}

bool read_all(int socket, std::byte* bytes, std::size_t count) {
  while (count != 0) {
    const std::size_t moved = until_moved([&] { return recv(socket, bytes, count, 0); });
    if (moved == 0) return false;
    bytes += moved;
    count -= moved;
  }
  return true;
}

enum class Data { the_same, new_words };

// Writes of `bytes` for a while; how many of them are read per second, by the reader's clock: by what the writer has been told
// of by one word at the end of each batch.
double writes_per_s(CorePair cores, std::size_t bytes, std::size_t writes_per_batch, std::size_t read_bytes,
                    Data kind = Data::the_same) {
  const Connection connection;
  return run_pair(
      cores, 0,
      [&](std::byte*) {
        std::vector<std::byte> data(bytes);
        const auto batch = [&] {
          for (std::size_t i = 0; i < writes_per_batch; ++i) {
            if (kind == Data::new_words) write_words(data, i);
            write_all(connection.first.get(), data.data(), bytes);
          }
          std::byte done{};
          read_all(connection.first.get(), &done, 1);
        };
        (void)median_batch_ns(batch, warm_up_ns);
        const double batch_ns = median_batch_ns(batch);
        shutdown(connection.first.get(), SHUT_WR);
        return static_cast<double>(writes_per_batch) / batch_ns * 1e9;
      },
      [&](std::byte*) {
        std::vector<std::byte> data(read_bytes);
        const std::size_t of_batch = bytes * writes_per_batch;
        for (std::size_t have = 0;;) {
          const std::size_t wanted = std::min(data.size(), of_batch - have);
          const std::size_t moved =
              until_moved([&] { return recv(connection.second.get(), data.data(), wanted, 0); });
          if (moved == 0) return;
          if (kind == Data::new_words) keep(sum_of_words(std::span(data).first(moved)));
          have += moved;
          if (have != of_batch) continue;
          have = 0;
          const std::byte done{};
          write_all(connection.second.get(), &done, 1);
        }
      });
}

double streamed_gb_per_s(CorePair cores, std::size_t bytes, Data kind) {
  const std::size_t writes = std::max<std::size_t>(8, (std::size_t{16} << 20) / bytes);
  return writes_per_s(cores, bytes, writes, std::max<std::size_t>(bytes, 64 * 1024), kind) *
         static_cast<double>(bytes) / 1e9;
}

}  // namespace

double tcp_half_rtt_ns(CorePair cores) {
  const Connection connection;
  return run_pair(
      cores, 0,
      [&](std::byte*) {
        constexpr int count = 100;
        std::uint64_t word = 0;
        auto* const bytes = reinterpret_cast<std::byte*>(&word);
        const auto batch = [&] {
          for (int i = 0; i < count; ++i) {
            write_all(connection.first.get(), bytes, sizeof word);
            read_all(connection.first.get(), bytes, sizeof word);
          }
        };
        (void)median_batch_ns(batch, warm_up_ns);
        const double half_rtt = median_batch_ns(batch) / (2.0 * count);
        shutdown(connection.first.get(), SHUT_WR);
        return half_rtt;
      },
      [&](std::byte*) {
        std::uint64_t word = 0;
        auto* const bytes = reinterpret_cast<std::byte*>(&word);
        while (read_all(connection.second.get(), bytes, sizeof word))
          write_all(connection.second.get(), bytes, sizeof word);
      });
}

double tcp_writes_million_per_s(CorePair cores) { return writes_per_s(cores, 8, 10'000, 64 * 1024) / 1e6; }

double tcp_stream_gb_per_s(CorePair cores, std::size_t bytes) {
  return streamed_gb_per_s(cores, bytes, Data::the_same);
}

double tcp_words_stream_gb_per_s(CorePair cores, std::size_t bytes) {
  return streamed_gb_per_s(cores, bytes, Data::new_words);
}

}  // namespace ambench
