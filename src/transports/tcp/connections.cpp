// How connections come about, and how they end.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "host/clock.hpp"
#include "transports/tcp/peer.hpp"

namespace am::tcp {

namespace {
constexpr std::uint64_t retry_ns = 20'000'000;
constexpr std::uint64_t longest_retry_ns = 320'000'000;
constexpr std::uint64_t between_looks_ns = 500'000'000;  // at whether other hosts answer
constexpr std::uint64_t patience_ns =
    2'000'000'000;  // with a host that answers, but does not take the connection
constexpr std::uint64_t descriptor_patience_ns =
    10'000'000'000;  // while connections that are not to stay hold descriptors
constexpr std::uint64_t sign_of_life_ns =
    1'000'000'000;                               // without an answer, until its host is asked for one
constexpr std::uint32_t most_drops = 30;         // in a row, of connections that were made, and not taken
constexpr std::uint64_t try_ns = 1'000'000'000;  // for an address of a peer that has others

/// Where a node takes connections.
std::vector<Address> addresses_of(const host::NodeCard& card) {
  return parse_addresses({card.address, strnlen(card.address, sizeof card.address)});
}
}  // namespace

bool TcpTransport::add(const Socket& socket, std::uint64_t number) noexcept {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.u64 = tagged(Tag::entrance, number)}};
  return epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket.descriptor(), &event) == 0;
}

void TcpTransport::watch(Peer& peer) noexcept {
  epoll_event event{.events = EPOLLIN | (peer.socket_is_full ? static_cast<std::uint32_t>(EPOLLOUT) : 0u),
                    .data = {.u64 = tagged(Tag::peer, peer.node)}};
  const int operation = std::exchange(peer.in_events, true) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  static_cast<void>(epoll_ctl(events_.get(), operation, peer.stream.socket().descriptor(), &event));
}

void TcpTransport::unwatch(Peer& peer) noexcept {
  if (!std::exchange(peer.in_events, false)) return;
  static_cast<void>(epoll_ctl(events_.get(), EPOLL_CTL_DEL, peer.stream.socket().descriptor(), nullptr));
}

/// There is something to be sent there.
void TcpTransport::reach(Peer& peer) {
  looks_.resume();
  is_to_write(peer);
  if (peer.state != Peer::State::apart) return;
  peer.state = Peer::State::calling;
  peer.calling_since_ns = running_ns();
  calling_.push_back(peer.node);
  call(peer);
}

/// Takes in those who have come. Two nodes that connect to each other at once use two descriptors at each end for a while: where those
/// run out at all nodes, all would wait for each other. So who has none for those who come gives up a call that would not stay anyway.
void TcpTransport::accept() noexcept {
  if (entrance_.accept()) return;
  bool goes_on = false;
  for (int calls = 4; calls > 0 && !goes_on && entrance_.lacks_descriptor() && give_up_a_call(); --calls)
    goes_on = entrance_.accept();
  if (!goes_on) listen(false);
}

/// To a smaller node: of two connections that are opened at once the one that the smaller node opened stays.
bool TcpTransport::give_up_a_call() noexcept {
  const auto may_go = [&](NodeId node) {
    return node < self_ && peers_[node]->state == Peer::State::calling && peers_[node]->retry_ns == 0;
  };
  const auto call = std::ranges::find_if(calling_, may_go);
  if (call == calling_.end()) return false;
  entrance_.hang_up(*call);
  peers_[*call]->retry_ns = running_ns() + longest_retry_ns;
  return true;
}

void TcpTransport::call(Peer& peer) {
  const std::vector<Address> addresses = addresses_of(memory_->board().card(peer.node));
  peer.retry_ns = 0;
  peer.called_ns = running_ns();
  if (addresses.empty())
    return failed(peer, {.why = "it has not said where it can be reached by TCP", .for_good = true});
  peer.addresses = static_cast<std::uint32_t>(addresses.size());
  const Address& address = addresses[peer.calls++ % addresses.size()];
  peer.called = address.text();
  if (address.is_loopback() && !memory_->board().is_here(peer.node))
    peer.called += ", a loopback address, which leads to this host itself";
  entrance_.call(peer.node, address, addresses.size() == 1 ? Entrance::time_limit_ns : try_ns);
  set_timer();
  take_results();
}

std::string TcpTransport::way_to(NodeId peer) const {
  const char* const name = tls_ ? "TCP with TLS" : "TCP";
  const std::vector<Address> addresses = addresses_of(memory_->board().card(peer));
  if (addresses.empty()) return std::string(name) + " to nowhere";
  const std::string others =
      addresses.size() == 1 ? "" : ", else to one of its " + std::to_string(addresses.size() - 1) + " others";
  return std::string(name) + " by " + interface_towards(addresses.front()) + " to " +
         addresses.front().host() + others;
}

void TcpTransport::take_results() {
  for (Entrance::Result& result : entrance_.take_results()) {
    if (result.failure.why.empty()) {
      came_about(std::move(result));
    } else {
      failed(peer(result.peer), std::move(result.failure));
    }
  }
}

/// Of two connections that were opened at once the one that the smaller node opened stays. Who was connected to decides.
void TcpTransport::came_about(Entrance::Result result) {
  Peer& other = peer(result.peer);
  const bool calling = other.state == Peer::State::calling || other.state == Peer::State::proven;
  const bool over = other.closed || other.state == Peer::State::over;
  if (result.ours && !over && other.state == Peer::State::calling)
    return begin(other, std::move(result.stream), true);
  if (result.ours || over || other.state == Peer::State::joined || (calling && self_ < other.node)) {
    if (!result.ours && has_left(other.node)) tell_nothing_is_wanted(result.stream);
    return result.stream.socket().end();
  }
  entrance_.hang_up(other.node);
  std::erase(calling_, other.node);
  other.sign_of_life = {};
  begin(other, std::move(result.stream), false);
}

/// To one that leaves, and wants to tell what is known here: else it would call again.
void TcpTransport::tell_nothing_is_wanted(Stream& stream) noexcept {
  const Frame farewell{.kind = Frame::Kind::farewell};
  std::array<std::byte, 64> bytes;
  static_cast<void>(
      stream.write(std::span<const std::byte>(bytes).first(write_frame(bytes.data(), farewell))));
}

void TcpTransport::begin(Peer& other, Stream stream, bool ours) {
  other.state = ours ? Peer::State::proven : Peer::State::joined;
  last_begun_ns_ = running_ns();
  if (is_watched(other) && !other.stream) ++watched_;
  if (other.stream) other.stream.socket().end();
  other.stream = std::move(stream);
  other.reader = {};
  other.socket_is_full = false;
  other.in_events = true;  // since it was in the entrance
  watch(other);
  other.stream.socket().ask_for_life(is_watched(other) ? host_timeout_ns_ : 0);
  if (!ours) {
    OutQueue said = std::exchange(other.out, {});
    other.say({.kind = Frame::Kind::credit, .priority = Priority::low, .value = 0});
    other.out.add(std::move(said));
  }
  became_busy(other.node);
  is_to_write(other);
}

/// It is tried again, unless there is no more point.
void TcpTransport::failed(Peer& peer, Entrance::Failure failure) {
  if (peer.state != Peer::State::calling) return;
  const bool last = gives_up(peer, failure);
  peer.failure = std::move(failure.why) + (peer.called.empty() ? "" : " (" + peer.called + ")");
  if (has_left(peer.node)) peer.said_farewell = true;  // in effect
  if (last) return end(peer, "");
  // Who was not taken is called by that node itself, most likely, and keeps it from more urgent things by calling again.
  peer.retry_ns = running_ns() + std::min(retry_ns << std::min(peer.drops, 8u), longest_retry_ns);
  set_timer();
}

/// Because it has left, none of its addresses is of any use, or it was tried for long enough.
bool TcpTransport::gives_up(Peer& peer, const Entrance::Failure& failure) const noexcept {
  const bool hopeless =
      failure.for_good ||
      (failure.nobody && has_left(self_));  // who leaves does not wait for one that has gone
  if (hopeless && peer.addresses != 0)
    peer.hopeless |= std::uint64_t{1} << (peer.calls + peer.addresses - 1) % peer.addresses;
  if (has_left(peer.node) || static_cast<std::uint32_t>(std::popcount(peer.hopeless)) >= peer.addresses)
    return true;
  const std::uint64_t now = running_ns();
  const bool was_taken = !failure.silent && now - peer.called_ns >= patience_ns;  // by one who computed
  if (was_taken || (failure.unanswered && host_lives(peer))) peer.calling_since_ns = now;
  const bool may_be_cut_off = failure.silent && !memory_->board().is_here(peer.node);
  const std::uint64_t patience = may_be_cut_off          ? host_timeout_ns_
                                 : failure.no_descriptor ? descriptor_patience_ns
                                                         : patience_ns;
  // Descriptors become free as long as other connections come about.
  const std::uint64_t since =
      failure.no_descriptor ? std::max(peer.calling_since_ns, last_begun_ns_) : peer.calling_since_ns;
  return patience != 0 && now - since >= patience;
}

/// More peers may call a node that computes than its system keeps for it (net.core.somaxconn); the rest gets no answer, as from a host
/// that is gone. But that refuses nothing either.
bool TcpTransport::host_lives(Peer& peer) const noexcept {
  if (memory_->board().is_here(peer.node)) return true;
  const Socket asked = std::exchange(peer.sign_of_life, {});
  return asked && asked.failure() == ECONNREFUSED;
}

/// At a port where nobody listens: a system that is there refuses that.
void TcpTransport::ask_for_sign_of_life(Peer& peer) noexcept {
  std::vector<Address> addresses = addresses_of(memory_->board().card(peer.node));
  if (addresses.empty() || memory_->board().is_here(peer.node)) return;
  Address& address = addresses[(peer.calls + addresses.size() - 1) % addresses.size()];
  address.set_port(1);
  peer.sign_of_life = connect_to(address);
}

/// The connection has ended, or there is no way to make one.
void TcpTransport::end(Peer& peer, std::string_view why) {
  if (peer.stream) {
    if (is_watched(peer)) --watched_;
    peer.stream.socket().end();  // closed alone it would live on, and go on telling, where a child was forked
    unwatch(peer);
    peer.stream = {};
  }
  std::erase_if(busy_, [&](const Busy& busy) { return busy.node == peer.node; });
  // The other end chose another one, or could not take this one.
  if (peer.state == Peer::State::proven && !peer.closed && ++peer.drops < most_drops) {
    peer.state = Peer::State::calling;
    peer.calling_since_ns = running_ns();
    return failed(peer, {.why = std::string(why)});
  }
  std::erase(calling_, peer.node);
  peer.sign_of_life = {};
  entrance_.hang_up(peer.node);
  const bool was_over = std::exchange(peer.state, Peer::State::over) == Peer::State::over;
  peer.out.clear();
  peer.words.clear();
  peer.asked.reset();
  if (was_over || peer.said_farewell || peer.closed || has_left(peer.node) || has_left(self_)) return;
  const std::string_view cause = why.empty() ? std::string_view(peer.failure) : why;
  std::fprintf(stderr, "am: node %u: no connection to node %u any more: %.*s\n", self_, peer.node,
               static_cast<int>(cause.size()), cause.data());
  if (listener_ != nullptr) listener_->lost(peer.node);
}

/// What the peer has sent may still be read. One that left in order is bid farewell; should another one live, it finds that nothing
/// more comes.
void TcpTransport::close(NodeId node) noexcept {
  Peer& other = peer(node);
  if (other.state == Peer::State::joined && other.is_sent_to() && other.stream) {
    if (has_left(node)) {
      bid_farewell(other);
    } else {
      other.stream.socket().end_writing();
    }
  }
  other.closed = true;
  other.out.clear();
  other.words.clear();
  if (other.state != Peer::State::joined && other.state != Peer::State::proven) end(other, "");
}

/// Writes what waits, and that nothing comes behind it, as far as the socket takes it at once.
void TcpTransport::bid_farewell(Peer& peer) {
  write(peer);
  peer.words.clear();  // for which the socket has no room
  peer.asked.reset();
  peer.say({.kind = Frame::Kind::farewell});
  write(peer);
  if (peer.stream) peer.stream.socket().end_writing();
}

bool TcpTransport::has_left(NodeId node) const noexcept {
  return memory_->board().standing(node) == host::Standing::left;
}

/// Whether those who come are looked at: while they have to wait they would be there at every look.
void TcpTransport::listen(bool yes) noexcept {
  listens_ = yes;
  epoll_event event{.events = yes ? static_cast<std::uint32_t>(EPOLLIN) : 0u,
                    .data = {.u64 = tagged(Tag::listening)}};
  for (const Socket& door : entrance_.listening())
    static_cast<void>(epoll_ctl(events_.get(), EPOLL_CTL_MOD, door.descriptor(), &event));
}

void TcpTransport::look_at_clock() {
  std::uint64_t expired = 0;
  static_cast<void>(!::read(timer_.get(), &expired, sizeof expired));
  entrance_.look_at_clock(host::monotonic_ns());  // who is turned away because of a standstill calls again
  const std::uint64_t now = running_ns();
  if (!listens_) listen(true);
  for (const NodeId node : std::vector<NodeId>(calling_)) {
    Peer& peer = *peers_[node];
    if (peer.state != Peer::State::calling) continue;
    if (!peer.sign_of_life && now - peer.calling_since_ns >= sign_of_life_ns) ask_for_sign_of_life(peer);
    if (peer.retry_ns != 0 && now >= peer.retry_ns) call(peer);
  }
  look_for_silent_hosts(now);
  set_timer();
}

/// Whether its host may vanish without a word.
bool TcpTransport::is_watched(const Peer& peer) const noexcept {
  return host_timeout_ns_ != 0 && !memory_->board().is_here(peer.node);
}

void TcpTransport::look_for_silent_hosts(std::uint64_t now) {
  if (watched_ == 0 || now < next_look_for_silent_) return;
  next_look_for_silent_ = now + between_looks_ns / 2;  // the timer is not to miss it
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer == nullptr || !peer->stream || !is_watched(*peer)) continue;
    const std::uint64_t silent = peer->stream.socket().silent_ns();
    if (silent >= host_timeout_ns_)
      lose_host_of(peer->node,
                   "its host does not answer since " + std::to_string(silent / 1'000'000) + " ms");
  }
}

/// With all its nodes, also those that this one has not spoken to.
void TcpTransport::lose_host_of(NodeId lost, std::string_view why) {
  const host::Board& board = memory_->board();
  for (NodeId node = 0; node < board.nodes(); ++node) {
    if (board.card(node).on_host != board.card(lost).on_host) continue;
    if (known(node) != nullptr) {
      if (peers_[node]->state == Peer::State::proven) peers_[node]->state = Peer::State::calling;
      end(*peers_[node], why);
    } else if (listener_ != nullptr && !has_left(node)) {
      listener_->lost(node);
    }
  }
}

/// Runs the timer as long as somebody may have to be turned away, called again, or found to be silent.
void TcpTransport::set_timer() noexcept {
  const bool often = !entrance_.empty() || !calling_.empty() || !listens_;
  const std::uint64_t every_ns = often ? retry_ns : watched_ != 0 ? between_looks_ns : 0;
  if (every_ns == timer_every_ns_) return;
  timer_every_ns_ = every_ns;
  const timespec every{.tv_sec = 0, .tv_nsec = static_cast<long>(every_ns)};
  const itimerspec times{.it_interval = every, .it_value = every};
  static_cast<void>(timerfd_settime(timer_.get(), 0, &times, nullptr));
}

/// What this node sends to itself no descriptor tells of: the timer does, at once.
void TcpTransport::ring_self() noexcept {
  timer_every_ns_ = retry_ns;
  const itimerspec times{.it_interval = {.tv_sec = 0, .tv_nsec = static_cast<long>(retry_ns)},
                         .it_value = {.tv_sec = 0, .tv_nsec = 1}};
  static_cast<void>(timerfd_settime(timer_.get(), 0, &times, nullptr));
}

}  // namespace am::tcp
