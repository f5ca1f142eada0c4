#include "transports/tcp/tcp_transport.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <am/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "host/clock.hpp"
#include "host/heavy_fence.hpp"
#include "host/own_descriptor.hpp"
#include "transports/number.hpp"
#include "transports/tcp/peer.hpp"

namespace am::tcp {

namespace {

using Outcome = Socket::Moved::Outcome;

constexpr std::size_t write_at_once_bytes = 64 * 1024;  // so many wait for no flush
constexpr std::size_t pieces_per_write = 64;
constexpr std::size_t reads_per_look = 4;  // of one connection: others are to have their turn
constexpr std::size_t most_busy = 4;
constexpr std::uint32_t looks_until_unwatched = 32;            // of a busy one
constexpr std::uint32_t looks_per_event_look = 16;             // while some are busy
constexpr std::uint32_t looks_per_event_look_in_traffic = 64;  // the messages that have come are to run
constexpr std::uint32_t quiet_looks = 256;                     // after so many in vain there are fewer:
constexpr std::uint64_t quiet_ns = 2'000;                      // one in so long
constexpr std::uint64_t busy_ns = 20'000;                      // while messages wait to be run

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

host::Descriptor made(int descriptor, const char* what) {
  host::Descriptor owned(host::own_descriptor(descriptor));
  if (!owned)
    throw Error("use TCP", std::string(what) + ": " + std::strerror(errno), "ulimit -n may be too small");
  return owned;
}

bool has_other_hosts(const host::Board& board) noexcept {
  for (NodeId node = 0; node < board.nodes(); ++node) {
    if (!board.is_here(node)) return true;
  }
  return false;
}

/// Where this node takes connections; written on its card.
Socket open_door(const Site& site) {
  const host::Board& board = site.memory->board();
  host::NodeCard& card = board.card(site.self);
  const bool to_others = has_other_hosts(board);
  Address address = Address::parse(!to_others ? "127.0.0.1:0" : has_ipv6() ? "[::]:0" : "0.0.0.0:0").value();
  Socket socket = listen_at(address);
  const std::string text = !to_others ? address.text()
                                      : text_of(addresses_for_others(interfaces(), site.interfaces),
                                                address.port(), sizeof card.address - 1);
  std::memcpy(card.address, text.c_str(), text.size() + 1);
  return socket;
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
      entrance_(crypto_, key_, party_of(self_, memory_->board(), site.tls), open_door(site), *this),
      peers_(memory_->nodes()),
      arrivals_(memory_->nodes()) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = tagged(Tag::listening)}};
  bool told = epoll_ctl(events_.get(), EPOLL_CTL_ADD, entrance_.listening().descriptor(), &event) == 0;
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

/// Straight from where it lies, as far as the socket takes it at once; the rest is copied.
void TcpTransport::add_long(Peer& to, Payload payload) {
  constexpr static std::array<std::byte, frame_alignment> zeros{};
  const std::size_t padding = aligned_to_frame(payload.size()) - payload.size();
  const std::array<iovec, 2> pieces{{{const_cast<std::byte*>(payload.data()), payload.size()},
                                     {const_cast<std::byte*>(zeros.data()), padding}}};
  const std::size_t taken = write_long(to, pieces);
  const std::size_t left = payload.size() + padding - taken;
  if (!to.is_sent_to()) return;
  if (left == 0) {
    if (!to.stream.is_flushed()) write(to);
    return;
  }
  Block rest = long_blocks_.get(left);
  if (taken < payload.size())
    std::memcpy(rest.bytes().data(), payload.data() + taken, payload.size() - taken);
  const std::size_t zeros_left = std::min(left, padding);
  std::memset(rest.bytes().data() + left - zeros_left, 0, zeros_left);
  to.out.add(std::move(rest), 0, left);
  write(to);
}

/// Writes all that waits, and the payload behind it. How much of that has gone.
std::size_t TcpTransport::write_long(Peer& to, std::span<const iovec> payload) {
  if (to.state != Peer::State::joined || !to.stream || to.cannot_write || to.socket_is_full) return 0;
  std::size_t taken = 0;
  for (std::array<iovec, pieces_per_write> pieces;;) {
    std::size_t count = to.out.front(std::span(pieces).first(pieces.size() - payload.size())).size();
    std::size_t waiting = 0;
    for (const iovec& piece : std::span(pieces).first(count)) waiting += piece.iov_len;
    std::size_t skip = taken;
    for (const iovec& piece : payload) {
      const std::size_t skipped = std::min(skip, piece.iov_len);
      skip -= skipped;
      if (waiting == to.out.bytes() && skipped != piece.iov_len)
        pieces[count++] = {static_cast<std::byte*>(piece.iov_base) + skipped, piece.iov_len - skipped};
    }
    if (count == 0) return taken;
    const Socket::Moved moved = to.stream.write(std::span<const iovec>(pieces).first(count));
    if (moved.outcome == Outcome::ended) cannot_write(to, moved);
    if (moved.outcome != Outcome::some) return taken;
    const std::size_t of_waiting = std::min(moved.bytes, waiting);
    to.written(of_waiting);
    taken += moved.bytes - of_waiting;
  }
}

/// Where the other end is gone, whether it has said farewell is still to be read.
void TcpTransport::cannot_write(Peer& to, const Socket::Moved& ended) {
  to.cannot_write = true;
  to.out.clear();
  if (ended.error != EPIPE && ended.error != ECONNRESET) end(to, to.stream.why(ended));
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

void TcpTransport::is_to_write(Peer& peer) {
  calm_ = false;
  if (!std::exchange(peer.is_to_write, true)) to_write_.push_back(peer.node);
}

void TcpTransport::flush() noexcept {
  for (const NodeId node : to_write_) {
    peers_[node]->is_to_write = false;
    write(*peers_[node]);
  }
  to_write_.clear();
}

/// Words of the control lane, and credit: where it is due, or rides along.
void TcpTransport::add_what_is_due(Peer& to) {
  for (const auto& [word, value] : std::exchange(to.words, {})) {
    to.say({.kind = Frame::Kind::word, .word = word, .value = value});
    to.up_to_last_word = to.out.bytes();
  }
  for (const Priority priority : {Priority::high, Priority::low}) {
    InWindow& window = to.inward[index(priority)];
    if (window.is_due() || (!to.out.empty() && window.rides_along()))
      to.say({.kind = Frame::Kind::credit, .priority = priority, .value = window.tell()});
  }
}

void TcpTransport::tell_all_credit() {
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer == nullptr || peer->state != Peer::State::joined || !peer->is_sent_to()) continue;
    for (const Priority priority : {Priority::high, Priority::low}) {
      InWindow& window = peer->inward[index(priority)];
      if (!window.has_news()) continue;
      peer->say({.kind = Frame::Kind::credit, .priority = priority, .value = window.tell()});
      is_to_write(*peer);
    }
  }
}

void TcpTransport::write(Peer& to) {
  if (to.state != Peer::State::joined || !to.is_sent_to()) return;
  add_what_is_due(to);
  if (!to.stream) {  // this node itself: read() takes it out
    if (armed_ && !to.out.empty()) ring_self();
    return;
  }
  while (!to.out.empty()) {
    std::array<iovec, pieces_per_write> pieces;
    const Socket::Moved moved = to.stream.write(to.out.front(pieces));
    if (moved.outcome == Outcome::some) {
      to.written(moved.bytes);
      continue;
    }
    if (moved.outcome == Outcome::ended) return cannot_write(to, moved);
    break;
  }
  if (const bool full = !to.out.empty() || !to.stream.flush(); full != to.socket_is_full) {
    to.socket_is_full = full;
    watch(to);
  }
}

bool TcpTransport::all_have_come() const noexcept {
  return std::ranges::all_of(peers_, [](const std::unique_ptr<Peer>& peer) {
    return peer == nullptr || !peer->stream || !peer->is_sent_to() ||
           (peer->out.empty() && peer->stream.is_flushed() && peer->stream.socket().under_way() == 0);
  });
}

bool TcpTransport::published() const noexcept {
  return std::ranges::all_of(peers_, [](const std::unique_ptr<Peer>& peer) {
    return peer == nullptr || !peer->is_sent_to() ||
           (peer->words.empty() && peer->up_to_last_word == 0 && peer->stream.is_flushed());
  });
}

bool TcpTransport::drained() const noexcept {
  const bool all_written = std::ranges::all_of(peers_, [](const std::unique_ptr<Peer>& peer) {
    return peer == nullptr || !peer->is_sent_to() || (peer->out.empty() && peer->stream.is_flushed());
  });
  return all_written && published() && all_have_come();
}

std::size_t TcpTransport::queued(NodeId to, Priority priority) const noexcept {
  const Peer* const peer = known(to);
  if (peer == nullptr) return 0;
  return (peer->outward[index(priority)].unreleased() + impl::line_bytes - 1) / impl::line_bytes;
}

// -- receiving --------------------------------------------------------------------------------------------------------

Transport::View TcpTransport::receive(Priority priority) noexcept {
  const Arrivals::Message* const message = arrivals_.receive(priority);
  if (message == nullptr) return {nullptr, {}, 0, priority};
  Lent& lent = lent_[index(priority)];
  lent.placed = message->frame.size() < message_bytes(message->head.words(), message->payload.size());
  return lent.show(*message, priority);
}

void TcpTransport::release(const View& view) noexcept {
  Peer& from = *peers_[view.source];
  InWindow& window = from.inward[index(view.priority)];
  const Lent& lent = lent_[index(view.priority)];
  window.released(lent.counts_as());
  if (!lent.placed) --from.to_be_placed[index(view.priority)];
  arrivals_.release(view.priority);
  vain_arms_ = 0;
  if (view.source == self_) {
    static_cast<void>(from.outward[index(view.priority)].released(window.tell()));
  } else if (window.is_due()) {
    is_to_write(from);
  }
}

void TcpTransport::defer(const View& view) noexcept { arrivals_.defer(view.priority); }

bool TcpTransport::progress() noexcept {
  arrivals_.begin_round();
  const bool idle = quiet_ >= quiet_looks && to_write_.empty();
  const bool to_run = arrivals_.any_to_run();
  if (idle || to_run) {
    const std::uint64_t now = host::monotonic_ns();
    if (now - looked_ns_ < (to_run ? busy_ns : quiet_ns)) {
      see_whether_calm();
      return false;
    }
    looked_ns_ = now;
  }
  flush();
  const bool moved = look();
  flush();  // answers, credit, and what waited for a connection
  quiet_ = moved ? 0 : quiet_ + 1;
  see_whether_calm();
  return moved;
}

void TcpTransport::see_whether_calm() noexcept {
  const bool sent_to_self = peers_[self_] != nullptr && !peers_[self_]->out.empty();
  calm_ = quiet_ >= quiet_looks && to_write_.empty() && !sent_to_self &&
          !arrivals_.waits(Priority::high, false) && !arrivals_.waits(Priority::low, false);
}

/// Reads what has come. True when there was something.
bool TcpTransport::look() {
  bool any = peers_[self_] != nullptr && !peers_[self_]->out.empty() && read(*peers_[self_]);
  any = look_at_busy() || any;
  const bool due = ++looks_ >= (any ? looks_per_event_look_in_traffic : looks_per_event_look);
  if (busy_.empty() || quiet_ >= quiet_looks || due) any = look_at_events() || any;
  if (any) news_.fetch_add(1, std::memory_order_relaxed);
  return any;
}

/// Without asking the system which are ready, and after a while without its telling that: both would cost as much as the reading.
/// Whoever sends to a socket that epoll watches pays 0.2 us for each message.
bool TcpTransport::look_at_busy() {
  bool any = false;
  for (std::size_t i = busy_.size(); i-- > 0;) {
    constexpr std::uint32_t quiet_for_good = 1024;
    Peer& peer = *peers_[busy_[i].node];
    const bool some = read(peer);
    any = any || some;
    if (i >= busy_.size() || busy_[i].node != peer.node) continue;  // its connection has ended
    Busy& busy = busy_[i];
    busy.quiet = some ? 0 : busy.quiet + 1;
    if (busy.quiet == quiet_for_good) {
      watch(peer);
      busy = busy_.back();
      busy_.pop_back();
    } else if (++busy.looks == looks_until_unwatched && !peer.socket_is_full) {
      unwatch(peer);
    }
  }
  return any;
}

bool TcpTransport::look_at_events() {
  looks_ = 0;
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(std::max(count, 0)))) {
    const std::uint64_t number = event.data.u64 >> 2;
    const std::uint32_t what = event.events;
    switch (static_cast<Tag>(event.data.u64 & 3)) {
      case Tag::listening:
        if (!entrance_.accept()) listen(false);
        break;
      case Tag::timer:
        look_at_clock();
        break;
      case Tag::entrance:
        entrance_.move(number);
        break;
      case Tag::peer: {
        Peer& peer = *peers_[number];
        if ((what & EPOLLOUT) != 0) write(peer);
        if ((what & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0 && read(peer)) became_busy(peer.node);
        break;
      }
    }
  }
  take_results();
  set_timer();  // also for those who have just come
  return count > 0;
}

void TcpTransport::became_busy(NodeId node) {
  if (!peers_[node]->stream) return;
  const auto same = std::ranges::find(busy_, node, &Busy::node);
  if (same != busy_.end()) {
    same->quiet = 0;
  } else if (busy_.size() < most_busy) {
    busy_.push_back({node});
  }
}

bool TcpTransport::read(Peer& from) {
  bool any = false;
  for (std::size_t i = 0; i < reads_per_look || from.stream.has_more(); ++i) {
    if (from.node != self_ && !from.stream) break;
    const FrameReader::Result result = from.reader.read(
        arrivals_,
        [&](std::span<const iovec> pieces) {
          return from.node == self_ ? from.out.read(pieces) : from.stream.read(pieces);
        },
        [&](const BegunMessage& message) { return destination(from, message); },
        [&](const Frame& frame, std::span<const std::byte> bytes, const Block& block) {
          return take(from, frame, bytes, block);
        });
    if (!result.malformed.empty()) {
      end(from, result.malformed);
      return true;
    }
    if (result.moved.outcome == Outcome::ended) {
      end(from, from.stream.why(result.moved));
      return true;
    }
    if (result.moved.outcome == Outcome::blocked) break;
    any = true;
    if (result.moved.bytes < Arrivals::least_room && !from.stream.has_more())
      break;  // that was all, most likely
  }
  return any;
}

/// Where the payload of the message that is coming belongs. What came before it on its link has been released, or written there.
std::byte* TcpTransport::destination(const Peer& from, const BegunMessage& message) const noexcept {
  const Frame& frame = message.frame;
  if (destinations_ == nullptr || from.to_be_placed[index(frame.priority)] != 0) return nullptr;
  return destinations_->destination({from.node, frame.priority, frame.head,
                                     std::span(frame.words).first(frame.head.words()),
                                     message.payload_bytes});
}

/// What is wrong with the frame, if something is.
std::string_view TcpTransport::take(Peer& from, const Frame& frame, std::span<const std::byte> bytes,
                                    const Block& block) {
  if (from.said_farewell) return "it speaks after it has said farewell";
  if (from.state == Peer::State::proven) {  // this connection is the one
    from.state = Peer::State::joined;
    from.drops = 0;
    std::erase(calling_, from.node);
    is_to_write(from);
  }
  switch (frame.kind) {
    case Frame::Kind::message:
      if (!from.inward[index(frame.priority)].received(frame_bytes(frame)))
        return "it sends more than it has credit for";
      if (bytes.size() == frame_bytes(frame)) ++from.to_be_placed[index(frame.priority)];
      arrivals_.add(frame.priority, {from.node, frame.origin, frame.head, bytes, frame.payload, block});
      break;
    case Frame::Kind::credit:
      if (!from.outward[index(frame.priority)].released(frame.value))
        return "it gives credit for what was not sent";
      break;
    case Frame::Kind::word:
      if (listener_ != nullptr) listener_->heard(from.node, frame.word, frame.value);
      break;
    case Frame::Kind::clock:
      from.say({.kind = Frame::Kind::answer, .value = frame.value, .clock = host::monotonic_ns()});
      is_to_write(from);
      break;
    case Frame::Kind::answer:
      if (listener_ != nullptr) listener_->heard_clock(from.node, frame.value, frame.clock);
      break;
    case Frame::Kind::farewell:
      from.said_farewell = true;
      break;
    case Frame::Kind::elsewhere:
    case Frame::Kind::fetched:
    case Frame::Kind::segment:
    case Frame::Kind::probe:
    case Frame::Kind::seen:
      return "it speaks of memory that is not reached this way";
  }
  return {};
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
  const bool sent_to_self = known(self_) != nullptr && !known(self_)->out.empty();
  return has_come(wanted) || credit_came() || sent_to_self || !to_write_.empty();
}

void TcpTransport::disarm() noexcept {
  armed_ = false;
  quiet_ = 0;
  calm_ = false;
  refused_.clear();
}

bool TcpTransport::describe(Lookout& lookout, Wanted wanted) const {
  lookout.watch(news_);
  return has_come(wanted);
}

}  // namespace am::tcp
