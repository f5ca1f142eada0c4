// What comes over TCP: which connections are read, how often, and how bytes become messages.
#include <sys/epoll.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <utility>

#include "transports/tcp/peer.hpp"

namespace am::tcp {

namespace {
using Outcome = Socket::Moved::Outcome;

constexpr std::size_t reads_per_look = 4;  // of one connection: others are to have their turn
constexpr std::size_t most_busy = 4;
constexpr std::uint32_t looks_until_unwatched = 32;            // of a busy one
constexpr std::uint32_t looks_per_event_look = 16;             // while some are busy
constexpr std::uint32_t looks_per_event_look_in_traffic = 64;  // the messages that have come are to run
}  // namespace

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
  if (!looks_.are_due(!to_write_.empty(), arrivals_.any_to_run())) {
    take_stock();
    return false;
  }
  flush();
  const bool moved = look();
  flush();  // answers, credit, and what waited for a connection
  looks_.looked(moved);
  take_stock();
  return moved;
}

void TcpTransport::take_stock() noexcept {
  empty_ = arrivals_.is_empty();
  calm_ = empty_ && looks_.are_vain() && to_write_.empty() && !has_sent_to_self();
}

bool TcpTransport::has_sent_to_self() const noexcept {
  return known(self_) != nullptr && !known(self_)->out.empty();
}

/// Reads what has come. True when there was something.
bool TcpTransport::look() {
  bool any = has_sent_to_self() && read(*peers_[self_]);
  any = look_at_busy() || any;
  const bool due = ++looks_at_busy_ >= (any ? looks_per_event_look_in_traffic : looks_per_event_look);
  if (busy_.empty() || looks_.are_vain() || due) any = look_at_events() || any;
  if (any) news_.fetch_add(1, std::memory_order_relaxed);
  return any;
}

/// Without asking the system which are ready, and after a while without its telling that: both would cost as much as the reading.
/// Whoever sends to a socket that epoll watches pays 0.2 us for each message. (An armed node is told by nothing else, and stays so.)
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
    } else if (!armed_ && ++busy.looks == looks_until_unwatched && !peer.socket_is_full) {
      unwatch(peer);
    }
  }
  return any;
}

bool TcpTransport::look_at_events() {
  looks_at_busy_ = 0;
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(std::max(count, 0)))) {
    const std::uint64_t number = event.data.u64 >> 2;
    const std::uint32_t what = event.events;
    switch (static_cast<Tag>(event.data.u64 & 3)) {
      case Tag::listening:
        accept();
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
      from.asked = frame.value;
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

}  // namespace am::tcp
