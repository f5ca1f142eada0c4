#include "core/job/rendezvous.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <algorithm>
#include <am/error.hpp>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <deque>
#include <type_traits>

#include "host/own_descriptor.hpp"

namespace am::core {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// The one packet that a client sends.
struct Request {
  std::array<std::byte, 32> key;
  NodeId id;
};

enum class Verdict : std::uint32_t { welcome = 1, taken = 2, no_such_node = 3 };

/// The one packet that it gets, with the descriptor if it is welcome. Who has not shown the key gets none.
struct Answer {
  Verdict verdict;
};

static_assert(std::is_trivially_copyable_v<Request> && std::is_trivially_copyable_v<Answer>);

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// In a time that does not tell how much of it was right.
bool same(const std::array<std::byte, 32>& a, const std::array<std::byte, 32>& b) {
  std::byte difference{};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{};
}

std::string system_text() {
  return std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): set-up, one thread
}

}  // namespace

std::string in_seconds(std::uint64_t duration_ns) {
  constexpr std::uint64_t second = 1'000'000'000;
  if (duration_ns >= second) return std::to_string(duration_ns / second) + " s";
  return "0." + std::to_string(duration_ns * 10 / second) + " s";
}

std::string name_nodes(const std::vector<NodeId>& nodes) {
  constexpr std::size_t most = 8;
  std::string text = nodes.size() == 1 ? "node " : "nodes ";
  const std::size_t named = nodes.size() <= most + 1 ? nodes.size() : most;
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == nodes.size() ? " and " : ", ";
    text += std::to_string(nodes[i]);
  }
  if (named < nodes.size()) text += " and " + std::to_string(nodes.size() - named) + " more";
  return text;
}

RendezvousServer::RendezvousServer(const Invitation& invitation)
    : invitation_(invitation), listener_(listen_local(invitation.socket_name(), SOMAXCONN)) {
  if (!listener_) {
    throw Error("join the job",
                "cannot open the socket where the other nodes fetch its memory: " + system_text(),
                "run aminfo --doctor");
  }
}

/// One serving: who has come, and who stands at the door without having shown the key.
class RendezvousServer::Round {
 public:
  Round(const RendezvousServer& server, int fd, std::span<const NodeId> nodes)
      : key_(server.invitation_.key),
        listener_(server.listener_.get()),
        fd_(fd),
        nodes_(nodes.begin(), nodes.end()),
        missing_(nodes_) {}

  void run(const Patience& patience) {
    const Clock::time_point begin = Clock::now();
    bool reported = patience.report_after_ns == 0 || !patience.report;
    while (!missing_.empty()) {
      const auto waited = static_cast<std::uint64_t>(nanoseconds(Clock::now() - begin).count());
      if (patience.timeout_ns != 0 && waited >= patience.timeout_ns) throw too_late(waited);
      if (!reported && waited >= patience.report_after_ns) {
        patience.report("waits for " + name_nodes(missing_) + " to join since " + in_seconds(waited));
        reported = true;
      }
      const std::uint64_t until = std::min(reported ? UINT64_MAX : patience.report_after_ns,
                                           patience.timeout_ns == 0 ? UINT64_MAX : patience.timeout_ns);
      wait(until == UINT64_MAX ? -1 : to_ms(until - waited));
    }
  }

 private:
  static int to_ms(std::uint64_t ns) {
    return static_cast<int>(std::min<std::uint64_t>(ns / 1'000'000 + 1, INT_MAX));
  }

  Error too_late(std::uint64_t waited) const {
    return Error("join the job",
                 name_nodes(missing_) + " of " + std::to_string(nodes_.size() + 1) + " did not come within " +
                     in_seconds(waited),
                 every_process_remedy);
  }

  void wait(int timeout_ms) {
    std::vector<pollfd> polled{{listener_, POLLIN, 0}};
    for (const Descriptor& guest : guests_) polled.push_back({guest.get(), POLLIN, 0});
    if (poll(polled.data(), polled.size(), timeout_ms) <= 0) return;
    std::deque<Descriptor> silent;
    for (std::size_t i = 0; i < guests_.size(); ++i) {
      if (polled[i + 1].revents == 0) {
        silent.push_back(std::move(guests_[i]));
      } else {
        hear(guests_[i].get());
      }
    }
    guests_ = std::move(silent);  // closes those that were heard
    if (polled[0].revents != 0) admit();
  }

  void admit() {
    Descriptor guest(
        host::own_descriptor(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
    if (!guest) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
      throw Error("join the job", "cannot accept the other nodes: " + system_text(),
                  "raise the limit: ulimit -n");
    }
    if (!own_peer(guest.get())) return;
    // A node speaks as soon as it is connected: those who stand here long and silent are none.
    if (guests_.size() == most_guests) guests_.pop_front();
    guests_.push_back(std::move(guest));
  }

  void hear(int guest) {
    Request request{};
    const Received received = receive_packet(guest, bytes_of(request));
    if (received.bytes != ssize_t{sizeof request} || !same(request.key, key_)) return;
    Answer answer{Verdict::welcome};
    const auto awaited = std::ranges::find(missing_, request.id);
    if (std::ranges::find(nodes_, request.id) == nodes_.end()) {
      answer.verdict = Verdict::no_such_node;
    } else if (awaited == missing_.end()) {
      answer.verdict = Verdict::taken;
    }
    const bool welcome = answer.verdict == Verdict::welcome;
    if (!send_packet(guest, bytes_of(answer), welcome ? fd_ : -1) || !welcome) return;
    missing_.erase(awaited);
  }

  static constexpr std::size_t most_guests = 256;

  const std::array<std::byte, 32>& key_;
  int listener_;
  int fd_;
  const std::vector<NodeId> nodes_;
  std::vector<NodeId> missing_;
  std::deque<Descriptor> guests_;  // the oldest first
};

void RendezvousServer::serve(int fd, std::span<const NodeId> nodes, const Patience& patience) {
  Round(*this, fd, nodes).run(patience);
}

Descriptor fetch(const Invitation& invitation, NodeId first, NodeId id, std::uint64_t timeout_ns) {
  constexpr const char* what = "join the job";
  const std::string server = "node " + std::to_string(first);
  const std::string see_server = "see what " + server + " printed";
  const std::uint64_t timeout_ms = std::min<std::uint64_t>((timeout_ns + 999'999) / 1'000'000, INT_MAX);
  const Descriptor socket = connect_local(invitation.socket_name(), static_cast<int>(timeout_ms));
  if (!socket) {
    if (errno == ECONNREFUSED) return {};
    throw Error(what,
                "cannot reach " + server + ": " + (errno == EAGAIN ? "it does not answer" : system_text()),
                see_server);
  }
  if (!own_peer(socket.get())) {
    throw Error(what, "the process that waits in the place of " + server + " belongs to another user",
                see_server);
  }
  Request request{invitation.key, id};
  Answer answer{};
  Received received;
  if (send_packet(socket.get(), bytes_of(request), -1))
    received = receive_packet(socket.get(), bytes_of(answer));
  if (received.bytes < 0 && errno == EAGAIN) {
    throw Error(what, server + " does not answer since " + in_seconds(timeout_ns), see_server);
  }
  if (received.bytes != ssize_t{sizeof answer}) {
    throw Error(what, server + " turned this process away, or ended", see_server);
  }
  if (answer.verdict == Verdict::taken) {
    throw Error(what, "another process has joined as node " + std::to_string(id) + " already",
                "start one process per node: was the program started twice by a wrapper?");
  }
  if (answer.verdict != Verdict::welcome || !received.fd) {
    throw Error(what, server + " knows no node " + std::to_string(id),
                "start all nodes of the job with one launcher");
  }
  return std::move(received.fd);
}

}  // namespace am::core
