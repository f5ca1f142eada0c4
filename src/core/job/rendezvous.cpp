#include "core/job/rendezvous.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <algorithm>
#include <am/error.hpp>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <type_traits>

#include "host/own_descriptor.hpp"

namespace am::core {

namespace {

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

Patience patience_of(const Settings& settings, NodeId self) {
  return {.timeout_ns = settings.timeout_ns,
          .report_after_ns = settings.report_after_ns,
          .report = [self](const std::string& text) {
            std::fprintf(stderr, "am: node %u %s\n", self, text.c_str());
          }};
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
    host::Wait waiting(patience);
    while (!missing_.empty()) {
      if (waiting.is_over()) throw too_late(waiting.so_far_ns());
      waiting.remind([&] { return name_nodes(missing_) + " to join"; });
      wait(waiting.left_ms());
    }
  }

 private:
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

Descriptor fetch_when_there(const std::function<std::optional<Invitation>()>& invitation, NodeId first,
                            NodeId id, const Patience& patience) {
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};
  const std::string node = "node " + std::to_string(first);
  host::Wait waiting(patience);
  for (bool invited = false;; nanosleep(&pause, nullptr)) {
    if (const auto found = invitation()) {
      if (Descriptor fd = fetch(*found, first, id, patience.timeout_ns)) return fd;
      invited = true;
    }
    if (waiting.is_over()) {
      const std::string waited = in_seconds(waiting.so_far_ns());
      if (!invited)
        throw Error("join the job", node + " did not come within " + waited, every_process_remedy);
      throw Error(
          "join the job",
          node +
              " does not wait for this node: it has ended, or is in another network namespace (tried for " +
              waited + ")",
          "see what " + node + " printed; nodes in containers of one host need a common network namespace");
    }
    waiting.remind([&] { return node + " to join"; });
  }
}

}  // namespace am::core
