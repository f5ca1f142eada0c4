#include "transports/tcp/tcp_transport.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <am/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/clock.hpp"
#include "host/heavy_fence.hpp"
#include "host/own_descriptor.hpp"
#include "transports/tcp/doors.hpp"
#include "transports/tcp/peer.hpp"

namespace am::tcp {

namespace {

constexpr std::size_t write_at_once_bytes = 64 * 1024;  // so many wait for no flush

trust::Key key_of(const host::JobHeader& job) {
  trust::Key key;
  std::ranges::copy(job.key, key.begin());
  return key;
}

trust::Party party_of(NodeId self, const host::Board& board, bool tls) {
  trust::Party party{self, board.nodes(), {}, tls};
  std::ranges::copy(board.job().name, party.job.begin());
  return party;
}

host::Descriptor made(int descriptor, const char* call) {
  host::Descriptor owned(host::own_descriptor(descriptor));
  if (!owned)
    throw Error("use TCP", std::string(call) + ": " + std::strerror(errno), "ulimit -n may be too small");
  return owned;
}

bool has_other_hosts(const host::Board& board) noexcept {
  for (NodeId node = 0; node < board.nodes(); ++node) {
    if (!board.is_here(node)) return true;
  }
  return false;
}

Doors open_door_of_this_host() {
  Doors doors{.told = {Address::parse("127.0.0.1:0").value()}};
  doors.listening.push_back(listen_at(doors.told.front()));
  return doors;
}

/// Where this node takes connections; written on its card.
std::vector<Socket> open_doors_of(const Site& site) {
  const host::Board& board = site.memory->board();
  host::NodeCard& card = board.card(site.self);
  Doors doors = has_other_hosts(board) ? open_doors(site.interfaces) : open_door_of_this_host();
  const std::string text = text_of(doors.told, sizeof card.address - 1);
  std::memcpy(card.address, text.c_str(), text.size() + 1);
  return std::move(doors.listening);
}

}  // namespace

TcpTransport::TcpTransport(const Site& site)
    : self_(site.self),
      memory_(site.memory),
      listener_(site.listener),
      destinations_(site.destinations),
      host_timeout_ns_(site.host_timeout_ns),
      tls_(site.tls),
      key_(key_of(memory_->board().job())),
      events_(made(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      timer_(made(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")),
      entrance_(crypto_, key_, party_of(self_, memory_->board(), site.tls), open_doors_of(site), *this),
      peers_(memory_->nodes()),
      arrivals_(memory_->nodes()) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = tagged(Tag::listening)}};
  bool told = true;
  for (const Socket& door : entrance_.listening())
    told = told && epoll_ctl(events_.get(), EPOLL_CTL_ADD, door.descriptor(), &event) == 0;
  event.data.u64 = tagged(Tag::timer);
  told = told && epoll_ctl(events_.get(), EPOLL_CTL_ADD, timer_.get(), &event) == 0;
  if (!told) throw Error("use TCP", std::string("epoll_ctl: ") + std::strerror(errno), "");
}

/// Says farewell, and sees to it that the others' hosts have it before the connections end: what they have not read yet by then
/// is not lost.
TcpTransport::~TcpTransport() {
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer == nullptr || peer->state != Peer::State::joined || !peer->stream) continue;
    bid_farewell(*peer);
  }
  constexpr int tries = 1000;
  for (int i = 0; i < tries && !all_have_come(); ++i) {
    constexpr timespec a_millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&a_millisecond, nullptr);
  }
}

TcpTransport::Peer& TcpTransport::new_peer(NodeId node) {
  peers_[node] = std::make_unique<Peer>(node);
  if (node == self_) peers_[node]->state = Peer::State::joined;
  return *peers_[node];
}

bool TcpTransport::is_over(NodeId node) const noexcept {
  const Peer* const peer = known(node);
  return peer != nullptr && (peer->closed || peer->state == Peer::State::over);
}

// -- sending ----------------------------------------------------------------------------------------------------------

Transport::Slot TcpTransport::claim(NodeId to, Priority priority, std::size_t /*words*/,
                                    std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::unreachable, to, priority};
  if (is_over(to)) return slot;
  slot.status = Status::again;
  if (!has_room(to, priority, payload_bytes)) return slot;
  std::unique_ptr<Claim>& claim = peer(to).claims[index(priority)];
  if (claim == nullptr) claim = std::make_unique<Claim>();
  slot.status = Status::ok;
  slot.packet = &claim->packet;
  slot.room = std::min(payload_bytes, frame_payload_bytes);
  slot.payload = slot.room > impl::packet_payload_bytes ? nullptr : claim->payload;
  return slot;
}

void TcpTransport::fill(const Slot& slot, Payload payload) noexcept {
  if (slot.payload == nullptr) {
    peers_[slot.to]->claims[index(slot.priority)]->long_payload = payload;
  } else {
    Transport::fill(slot, payload);
  }
}

bool TcpTransport::has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  if (is_over(to)) return true;
  const std::size_t bytes = message_bytes(impl::max_words, std::min(payload_bytes, frame_payload_bytes));
  if (peer(to).outward[index(priority)].has_room(bytes)) return true;
  refused_.add(to, priority, bytes);
  return false;
}

bool TcpTransport::credit_came() const noexcept {
  return refused_.any([this](NodeId to, Priority priority, std::size_t frame_bytes) {
    return is_over(to) || known(to)->outward[index(priority)].has_room(frame_bytes);
  });
}

void TcpTransport::commit(const Slot& slot, impl::Header header) noexcept {
  Peer& to = *peers_[slot.to];
  if (!to.is_sent_to()) return;  // since claim
  const impl::Packet& packet = *slot.packet;
  const std::byte* const at =
      slot.payload != nullptr ? slot.payload : to.claims[index(slot.priority)]->long_payload.data();
  const Payload payload = header.has(impl::flag::payload) ? Payload(at, packet.payload_bytes) : Payload{};
  const std::size_t bytes = message_bytes(header.words(), payload.size());
  const bool is_long = payload.size() > impl::packet_payload_bytes;
  if (is_long) add_what_is_due(to);
  std::byte* const frame = to.out.add(is_long ? payload_at(header.words()) : bytes);
  write_message_head(frame, slot.priority, header, packet.origin, packet.words, payload.size());
  if (!is_long) write_payload(frame + payload_at(header.words()), payload);
  to.outward[index(slot.priority)].sent(bytes);
  reach(to);
  if (!to.is_sent_to()) return;  // it cannot be reached
  if (is_long) {
    add_long(to, payload);
  } else if (armed_ || (to.out.bytes() >= write_at_once_bytes && !to.socket_is_full)) {
    write(to);
  }
}

void TcpTransport::publish(NodeId to, std::uint32_t word, std::uint64_t value) noexcept {
  if (is_over(to)) return;
  Peer& other = peer(to);
  const auto same = std::ranges::find(other.words, word, [](const auto& one) { return one.first; });
  if (same != other.words.end()) {
    same->second = value;
  } else {
    other.words.emplace_back(word, value);
  }
  reach(other);
  if (armed_) write(other);
}

void TcpTransport::ask_clock(NodeId to) noexcept {
  if (is_over(to)) return;
  Peer& other = peer(to);
  other.say({.kind = Frame::Kind::clock, .value = host::monotonic_ns()});
  reach(other);
}

std::size_t TcpTransport::queued(NodeId to, Priority priority) const noexcept {
  const Peer* const peer = known(to);
  if (peer == nullptr) return 0;
  return (peer->outward[index(priority)].unreleased() + impl::line_bytes - 1) / impl::line_bytes;
}

// -- being told -------------------------------------------------------------------------------------------------------

bool TcpTransport::arm(Wanted wanted) noexcept {
  if (vain_arms_ == 1) tell_all_credit();
  flush();
  for (Busy& busy : busy_) {
    busy.looks = 0;
    if (!peers_[busy.node]->in_events) watch(*peers_[busy.node]);
  }
  host::own_fence();
  pollfd events{.fd = events_.get(), .events = POLLIN, .revents = 0};
  // Not by epoll_wait, which takes some of them away.
  if (stirs(wanted) || ::poll(&events, 1, 0) != 0) {
    disarm();
    return false;
  }
  armed_ = true;
  if (vain_arms_ < 2) ++vain_arms_;
  return true;
}

/// Something is to be done here that no descriptor tells of.
bool TcpTransport::stirs(Wanted wanted) const noexcept {
  return has_come(wanted) || credit_came() || has_sent_to_self() || !to_write_.empty();
}

void TcpTransport::disarm() noexcept {
  armed_ = false;
  looks_.resume();
  calm_ = false;
  refused_.clear();
}

bool TcpTransport::describe(Lookout& lookout, Wanted wanted) const {
  lookout.watch(news_);
  return has_come(wanted);
}

}  // namespace am::tcp
