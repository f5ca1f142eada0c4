#include "transports/tcp/meeting.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <am/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "host/clock.hpp"
#include "host/counted.hpp"
#include "host/layout.hpp"
#include "host/own_descriptor.hpp"
#include "transports/number.hpp"

namespace am::tcp {

namespace {

using Outcome = Socket::Moved::Outcome;

constexpr const char* what = "join the job";
constexpr int tick_ms = 100;  // the entrance looks at the clock so often
constexpr std::size_t length_bytes = 4;
constexpr std::uint64_t listening_number = 0;
constexpr std::uint64_t member_number = std::uint64_t{1} << 63;  // with the node

/// What node 0 says first.
enum class Admission : std::uint8_t { come_in = 1, taken = 2, no_such_node = 3 };

void say(Stream& stream, Admission admission) {
  const std::array byte{static_cast<std::byte>(admission)};
  static_cast<void>(stream.write(
      std::span<const std::byte>(byte)));  // a new connection has room; one that ended is heard of
}

void pause(std::uint64_t ns) noexcept {
  const timespec moment = host::timespec_of(ns);
  nanosleep(&moment, nullptr);
}

bool wait_for(const Socket& socket, short events, int timeout_ms) noexcept {
  pollfd polled{socket.descriptor(), events, 0};
  return poll(&polled, 1, timeout_ms) > 0;
}

bool is_own(const Address& address, const std::vector<Interface>& interfaces) {
  return address.is_loopback() || std::ranges::any_of(interfaces, [&](const Interface& interface) {
           return interface.address.bytes() == address.bytes();
         });
}

std::vector<Socket> open_door(const MeetingPlace& place) {
  const bool loopback_is_meant = place.host == "localhost" || Address::parse(place.text());
  Address at = Address::parse((has_ipv6() ? "[::]:" : "0.0.0.0:") + std::to_string(place.port)).value();
  for (const Address& address : resolve(place.host, place.port)) {
    if (!is_own(address, interfaces()) || (address.is_loopback() && !loopback_is_meant)) continue;
    at = address;
    break;
  }
  try {
    std::vector<Socket> door;
    door.push_back(listen_at(at));
    return door;
  } catch (const Error& error) {
    throw Error(what, error.why(), "another program, or another job, may have that port: AM_JOB names it");
  }
}

/// A connection for each node is open at the same time.
void require_descriptors(NodeId nodes) {
  constexpr rlim_t others = 64 + Entrance::most_strangers;  // of the program, and of strangers
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= nodes + others) return;
  throw Error(what,
              "node 0 needs a connection to each of " + std::to_string(nodes - 1) +
                  " nodes while they join, and this process may have " + std::to_string(limit.rlim_cur) +
                  " open files",
              "ulimit -n " + std::to_string(nodes + others));
}

}  // namespace

// -- texts -----------------------------------------------------------------------------------------------------------

TextSocket::State TextSocket::read() {
  for (;;) {
    std::size_t wanted = length_bytes;
    if (in_.size() >= length_bytes) {
      const std::size_t length = number_at<std::uint32_t>(reinterpret_cast<const std::byte*>(in_.data()));
      if (length > longest) return State::ended;
      wanted += length;
      if (in_.size() == wanted) return State::whole;
    }
    std::array<std::byte, 16384> piece;
    const Socket::Moved moved =
        stream_.read(std::span(piece).first(std::min(piece.size(), wanted - in_.size())));
    if (moved.outcome == Outcome::ended) return State::ended;
    if (moved.outcome == Outcome::blocked) return State::underway;
    in_.append(reinterpret_cast<const char*>(piece.data()), moved.bytes);
  }
}

std::string TextSocket::take() {
  std::string text = in_.substr(length_bytes);
  in_.clear();
  return text;
}

bool TextSocket::send(const std::string& text, const Patience& patience) {
  std::string out;
  append_number(out, static_cast<std::uint32_t>(text.size()));
  out += text;
  const host::Wait waiting(patience);
  for (std::span<const std::byte> left = std::as_bytes(std::span(out)); !left.empty() || !stream_.flush();) {
    const Socket::Moved moved = stream_.write(left);
    if (moved.outcome == Outcome::ended || waiting.is_over()) return false;
    if (moved.outcome == Outcome::blocked)
      static_cast<void>(wait_for(socket(), POLLOUT, waiting.left_ms(tick_ms)));
    left = left.subspan(moved.bytes);
  }
  return true;
}

// -- where they meet --------------------------------------------------------------------------------------------------

std::string MeetingPlace::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

trust::Party MeetingProof::party(NodeId self) const noexcept {
  trust::Party party{
      self,
      host::max_nodes,
      {},  // so that one of another size of job can be told of it; the name of no job: jobs have random ones
      tls};
  constexpr std::string_view name = "libam meeting";
  std::memcpy(party.job.data(), name.data(), name.size());
  return party;
}

// -- node 0 ------------------------------------------------------------------------------------------------------------

MeetingServer::MeetingServer(MeetingProof proof, const MeetingPlace& place)
    : proof_(std::move(proof)), events_(host::own_descriptor(epoll_create1(EPOLL_CLOEXEC))) {
  require_descriptors(proof_.nodes);
  entrance_ = std::make_unique<Entrance>(*proof_.crypto, proof_.key, proof_.party(0), open_door(place),
                                         static_cast<Entrance::Events&>(*this),
                                         Entrance::most_strangers + proof_.nodes);
  if (!events_ || !add(entrance_->listening().front(), listening_number))
    throw Error(what, std::string("epoll: ") + std::strerror(errno), "raise the limit: ulimit -n");
}

bool MeetingServer::add(const Socket& socket, std::uint64_t number) noexcept {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
  return epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket.descriptor(), &event) == 0;
}

std::vector<std::string> MeetingServer::welcome(const Check& check, const Patience& patience) {
  std::vector<NodeId> late;
  for (NodeId node = 1; node < proof_.nodes; ++node) late.push_back(node);
  std::vector<std::string> texts(proof_.nodes);
  host::Wait waiting(patience);
  while (!late.empty()) {
    if (waiting.is_over()) {
      const std::uint64_t strangers = entrance_->turned_away();
      throw Error(
          what,
          host::name_nodes(late) + " of " + std::to_string(proof_.nodes) + " did not come within " +
              host::in_seconds(waiting.so_far_ns()) +
              (strangers == 0 ? "" : "; " + std::to_string(strangers) + " came that do not know the key"),
          host::every_process_remedy);
    }
    waiting.remind([&] { return host::name_nodes(late) + " to join"; });
    look(waiting.left_ms(tick_ms));
    // A text is kept here, so that its end is what is heard of a node next: then it is late again.
    for (auto& [node, member] : members_) {
      if (!member.whole) continue;
      texts[node] = take(node);
      member.introduced = true;
      check(node, texts[node]);
    }
    late.clear();
    for (NodeId node = 1; node < proof_.nodes; ++node) {
      const auto member = members_.find(node);
      if (member == members_.end() || !member->second.introduced) late.push_back(node);
    }
  }
  entrance_.reset();
  return texts;
}

std::vector<std::string> MeetingServer::gather(std::span<const NodeId> nodes, const Patience& patience) {
  host::Wait waiting(patience);
  for (auto late = missing(nodes); !late.empty(); late = missing(nodes)) {
    for (const NodeId node : late) {
      if (!members_.contains(node))
        throw Error(what, "node " + std::to_string(node) + " has ended", "see what it printed");
    }
    if (waiting.is_over())
      throw Error(what,
                  "the hosts of " + host::name_nodes(late) + " did not all come within " +
                      host::in_seconds(waiting.so_far_ns()),
                  host::every_process_remedy);
    waiting.remind([&] { return "the hosts of " + host::name_nodes(late) + " to join"; });
    look(waiting.left_ms(tick_ms));
  }
  std::vector<std::string> texts;
  for (const NodeId node : nodes) texts.push_back(take(node));
  return texts;
}

void MeetingServer::answer(NodeId node, const std::string& text, const Patience& patience) {
  const auto member = members_.find(node);
  if (member == members_.end() || !member->second.socket.send(text, patience))
    throw Error(what, "node " + std::to_string(node) + " has ended, or does not answer",
                "see what it printed");
}

std::vector<NodeId> MeetingServer::missing(std::span<const NodeId> nodes) const {
  std::vector<NodeId> missing;
  for (const NodeId node : nodes) {
    const auto member = members_.find(node);
    if (member == members_.end() || !member->second.whole) missing.push_back(node);
  }
  return missing;
}

std::string MeetingServer::take(NodeId node) {
  Member& member = members_.at(node);
  member.whole = false;
  listen_to(node, member.socket.socket(), EPOLL_CTL_ADD);
  return member.socket.take();
}

void MeetingServer::listen_to(NodeId node, const Socket& socket, int operation) const noexcept {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = member_number | node}};
  static_cast<void>(epoll_ctl(events_.get(), operation, socket.descriptor(), &event));
}

void MeetingServer::look(int timeout_ms) {
  // Those who have come since the last look: by now the end of one whom they replace has been heard, if it came before.
  if (entrance_ != nullptr) {
    for (Entrance::Result& result : entrance_->take_results()) take_in(std::move(result));
  }
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
    if ((number & member_number) != 0) {
      read(static_cast<NodeId>(number));
    } else if (number != listening_number) {
      entrance_->move(number);
    } else if (!entrance_->accept()) {
      pause(20'000'000);  // some have to wait for a place
    }
  }
  if (entrance_ != nullptr) entrance_->look_at_clock(host::monotonic_ns());
}

/// A process that ended may come again, also when its end has not been heard of yet. Two at a time cannot.
void MeetingServer::take_in(Entrance::Result proven) {
  if (proven.peer >= proof_.nodes) {
    say(proven.stream, Admission::no_such_node);
    throw Error(what,
                "a process came as node " + std::to_string(proven.peer) + " of a job that has " +
                    host::counted(proof_.nodes, "node"),
                "give all nodes the same size");
  }
  read(proven.peer);
  const bool is_new = !members_.contains(proven.peer);
  say(proven.stream, is_new ? Admission::come_in : Admission::taken);
  if (!is_new) return;
  const auto member = members_.try_emplace(proven.peer, Member{TextSocket(std::move(proven.stream))}).first;
  listen_to(proven.peer, member->second.socket.socket(), EPOLL_CTL_MOD);
}

void MeetingServer::read(NodeId node) {
  const auto member = members_.find(node);
  if (member == members_.end() || member->second.whole) return;
  const TextSocket::State state = member->second.socket.read();
  member->second.whole = state == TextSocket::State::whole;
  if (state == TextSocket::State::ended) {
    members_.erase(member);
    return;
  }
  // What comes behind a text waits for its turn.
  if (member->second.whole) listen_to(node, member->second.socket.socket(), EPOLL_CTL_DEL);
}

// -- the others --------------------------------------------------------------------------------------------------------

MeetingClient::MeetingClient(MeetingProof proof, const MeetingPlace& place, NodeId self,
                             const Patience& patience)
    : proof_(std::move(proof)), where_("node 0 at " + place.text()) {
  Entrance entrance(*proof_.crypto, proof_.key, proof_.party(self), {}, *this);
  host::Wait waiting(patience);
  std::string why;
  constexpr std::uint64_t longest_pause_ns = 250'000'000;  // a name server may be asked each time
  for (std::uint64_t pause_ns = 10'000'000;; pause(pause_ns)) {
    pause_ns = std::min(2 * pause_ns, longest_pause_ns);
    const auto addresses = resolve(place.host, place.port);
    if (addresses.empty()) why = "there is no address for " + place.host;
    for (const Address& address : addresses) {
      auto result = call(entrance, address, waiting);
      if (!result) break;
      why = result->failure.why;
      if (why.empty()) why = let_in(result->stream, waiting);
      if (why.empty()) {
        socket_ = std::make_unique<TextSocket>(std::move(result->stream));
        return;
      }
      if (result->failure.for_good)
        throw Error(what, where_ + ": " + why,
                    "give all nodes the same key file and address (AM_JOB), and the same libam");
    }
    if (why.empty()) why = "the process that takes connections there says nothing";
    if (waiting.is_over())
      throw Error(what,
                  where_ + " takes no connection since " + host::in_seconds(waiting.so_far_ns()) + ": " + why,
                  "is node 0 running there, and has its job begun without this node?");
    waiting.remind([&] { return where_ + " (" + why + ")"; });
  }
}

bool MeetingClient::add(const Socket& socket, std::uint64_t number) noexcept {
  number_ = number;
  descriptor_ = socket.descriptor();
  return true;
}

std::optional<Entrance::Result> MeetingClient::call(Entrance& entrance, const Address& address,
                                                    host::Wait& waiting) {
  entrance.call(0, address, Entrance::time_limit_ns);
  for (short events = POLLOUT;;) {
    if (auto results = entrance.take_results(); !results.empty()) return std::move(results.front());
    pollfd polled{descriptor_, events, 0};
    if (poll(&polled, 1, tick_ms) > 0) {
      entrance.move(number_);
      events = POLLIN;
    }
    entrance.look_at_clock(host::monotonic_ns());
    waiting.remind([&] { return where_ + ", which says nothing,"; });
    if (!waiting.is_over()) continue;
    entrance.hang_up(0);
    return std::nullopt;
  }
}

/// Why not, for people, where it may be tried again. Throws am::Error where not.
std::string MeetingClient::let_in(Stream& stream, host::Wait& waiting) const {
  std::array<std::byte, 1> admission{};
  while (!waiting.is_over()) {
    const Socket::Moved came = stream.read(std::span<std::byte>(admission));
    if (came.outcome == Outcome::ended) break;
    if (came.outcome == Outcome::blocked) {
      waiting.remind([&] { return where_ + ", which says nothing,"; });
      static_cast<void>(wait_for(stream.socket(), POLLIN, waiting.left_ms(tick_ms)));
    } else if (admission[0] == static_cast<std::byte>(Admission::come_in)) {
      return {};
    } else if (admission[0] == static_cast<std::byte>(Admission::no_such_node)) {
      throw Error(what, where_ + ": its job has no such node", "give all nodes the same size (AM_JOB)");
    } else {
      throw Error(what, where_ + ": another process has come as this node already",
                  "start one process per node, each with a rank of its own (AM_JOB)");
    }
  }
  return "it closed the connection";
}

Error MeetingClient::gone() const { return {what, where_ + " has ended", "see what it printed"}; }

void MeetingClient::require_meeting() const {
  if (wait_for(socket_->socket(), POLLIN | POLLRDHUP, 0)) throw gone();
}

std::string MeetingClient::ask(const std::string& text, const Patience& patience) {
  if (!socket_->send(text, patience)) throw gone();
  host::Wait waiting(patience);
  for (;;) {
    const TextSocket::State state = socket_->read();
    if (state == TextSocket::State::whole) return socket_->take();
    if (state == TextSocket::State::ended) throw gone();
    if (waiting.is_over())
      throw Error(what, where_ + " does not answer since " + host::in_seconds(waiting.so_far_ns()),
                  "see what node 0 printed");
    waiting.remind([&] { return where_ + ", which waits for others,"; });
    static_cast<void>(wait_for(socket_->socket(), POLLIN, waiting.left_ms(tick_ms)));
  }
}

}  // namespace am::tcp
