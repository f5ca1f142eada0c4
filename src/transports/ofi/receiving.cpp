// What comes over libfabric, and how it becomes messages.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "transports/ofi/peer.hpp"

namespace am::ofi {

namespace {
constexpr std::size_t done_per_look = 128;
constexpr std::int32_t most_early = 1 << 16;  // letters
/// Letters with messages lie within its two windows. Of the others each tells something of a message of this node's, but for a few.
constexpr std::uint64_t most_early_bytes = 6 * window_bytes;
}  // namespace

Transport::View OfiTransport::receive(Priority priority) noexcept {
  const Arrivals::Message* const message = arrivals_.receive(priority);
  if (message == nullptr) return {nullptr, {}, 0, priority};
  return lent_[index(priority)].show(*message, priority);
}

void OfiTransport::release(const View& view) noexcept {
  Peer& from = *peers_[view.source];
  InWindow& window = from.inward[index(view.priority)];
  window.released(lent_[index(view.priority)].counts_as());
  arrivals_.release(view.priority);
  vain_arms_ = 0;
  if (view.source == self_) {
    static_cast<void>(from.outward[index(view.priority)].released(window.tell()));
  } else if (window.is_due()) {
    is_to_write(from);
  }
}

bool OfiTransport::progress() noexcept {
  arrivals_.begin_round();
  if (asks_what_came_) ask_what_came();
  if (!looks_.are_due(!to_write_.empty(), arrivals_.any_to_run())) {
    take_stock();
    return false;
  }
  flush();
  const bool moved = look();
  flush();                                          // answers, credit, and what waited for room
  if (armed_ && believes_descriptor_) set_timer();  // what the queue does not tell of, since this look
  looks_.looked(moved);
  take_stock();
  return moved;
}

void OfiTransport::take_stock() noexcept {
  empty_ = arrivals_.is_empty();
  calm_ = empty_ && looks_.are_vain() && to_write_.empty() && !has_sent_to_self() && transfers_.empty();
}

/// Takes what is done. True when there was something.
bool OfiTransport::look() {
  std::array<Endpoint::Done, done_per_look> all;
  const std::size_t count = endpoint_.look(all);
  bool told_all = count < all.size();
  for (const Endpoint::Done& one : std::span(all).first(count)) {
    if (one.error != 0)
      told_all = false;  // the queue is read up to such a one: what was behind it is told of later
    done(one);
  }
  letter_box_.provide(arrivals_, told_all, met_);
  if (letter_box_.failure() != 0)
    end_all("it takes no receive buffer: " + endpoint_.why(letter_box_.failure()));
  if (endpoint_.failure() != 0)
    end_all("its completion queue cannot be read: " + endpoint_.why(endpoint_.failure()));
  if (!transfers_.empty()) begin_transfers();
  if (!greeting_.empty() || lifelines_.any() || looks_for_losses()) look_at_clock();
  if (count != 0) false_alarms_ = 0;
  const bool to_self = has_sent_to_self();
  if (to_self) deliver_to_self();
  const bool any = to_self || count != 0;
  if (any) {
    nap_ns_ = 0;
    news_.fetch_add(1, std::memory_order_relaxed);
  }
  return any;
}

bool OfiTransport::has_sent_to_self() const noexcept {
  return known(self_) != nullptr && !known(self_)->written.empty();
}

void OfiTransport::deliver_to_self() {
  Peer& self = *peers_[self_];
  for (LetterQueue letters = std::move(self.written); !letters.empty();) {
    Letter& letter = letters.pop();
    Block block(letter.filled);
    std::memcpy(block.bytes().data(), letter.bytes, letter.filled);
    drop(self, letter);
    read_letter(self, block.bytes(), block);
  }
}

void OfiTransport::done(const Endpoint::Done& done) {
  if (done.operation == nullptr) {  // of an inject: whose, it does not say
    if (done.error != 0) may_have_lost_a_letter(endpoint_.why(done));
    return;
  }
  switch (done.operation->kind) {
    case Operation::Kind::receive: {
      const LetterBox::Came letter = letter_box_.came(done);
      if (!letter.text.empty()) came(letter.text, letter.block);
      // One that is too long for its buffer is a stranger's.
      if (done.error != 0 && done.error != FI_ETRUNC && done.error != FI_ECANCELED)
        may_have_lost_a_letter(endpoint_.why(done));
      break;
    }
    case Operation::Kind::send: {
      auto& letter = static_cast<Letter&>(*done.operation);
      Peer& to = *peers_[letter.peer];
      drop(to, letter);
      if (done.error != 0 && to.is_sent_to()) failed(to, letter.is_greeting, endpoint_.why(done));
      break;
    }
    case Operation::Kind::transfer:
      transferred(static_cast<Transfer&>(*done.operation), done);
      break;
  }
}

/// A letter from anybody.
void OfiTransport::came(std::span<const std::byte> text, const Block& block) {
  const LetterHead head = text.size() < letter_head_bytes ? LetterHead{} : LetterHead::read(text.data());
  if (text.size() < letter_head_bytes || head.from >= peers_.size() || head.from == self_) {
    ++turned_away_;
    return;
  }
  Peer& from = peer(head.from);
  if (head.seal == 0) return came_greeting(from, head.number, text.subspan(letter_head_bytes));
  if (from.seal_in == 0 || head.seal != from.seal_in) {
    ++turned_away_;
    return;
  }
  if (from.state == Peer::State::proven) join(from);
  if (from.state != Peer::State::joined) return;
  const auto ahead = static_cast<std::int32_t>(head.number - from.letters_in);
  if (ahead < 0) return;  // a copy of one that has come
  if (ahead > most_early) return end(from, "its datagrams have numbers that no datagram can have");
  const bool is_at_hand = reinterpret_cast<std::uintptr_t>(text.data()) % frame_alignment == 0;
  if (ahead != 0 || !is_at_hand) {
    Block own(text.size());
    std::memcpy(own.bytes().data(), text.data(), text.size());
    if (ahead != 0) {
      if (from.early.try_emplace(head.number, std::move(own), text.size()).second)
        from.early_bytes += credit_of(text.size());
      if (from.early_bytes > most_early_bytes) return end(from, "it sends more than it has credit for");
      return see_gap(from, false);
    }
    read_letter(from, own.bytes(), own);
  } else {
    read_letter(from, text, block);
  }
  if (from.early.empty()) return;  // as nearly always
  for (auto next = from.early.find(from.letters_in); next != from.early.end();
       next = from.early.find(from.letters_in)) {
    const auto [own, bytes] = std::move(next->second);
    from.early.erase(next);
    from.early_bytes -= credit_of(bytes);
    read_letter(from, own.bytes().first(bytes), own);
  }
  see_gap(from, true);
}

/// The next of that peer's letters.
void OfiTransport::read_letter(Peer& from, std::span<const std::byte> text, const Block& block) {
  ++from.letters_in;
  text = text.subspan(letter_head_bytes);
  while (!text.empty() && from.state == Peer::State::joined) {
    Frame frame;
    const Read read = read_frame(text, frame);
    if (read.outcome != Read::Outcome::frame)
      return end(from,
                 read.outcome == Read::Outcome::more ? "a datagram ends in the middle of a frame" : read.why);
    if (const std::string_view why = take(from, frame, text.first(read.bytes), block); !why.empty())
      return end(from, why);
    text = text.subspan(read.bytes);
  }
}

/// What is wrong with the frame, if something is.
std::string_view OfiTransport::take(Peer& from, const Frame& frame, std::span<const std::byte> bytes,
                                    const Block& block) {
  switch (frame.kind) {
    case Frame::Kind::elsewhere:
      if (!endpoint_.has(FI_RMA)) return "it has a payload that this node cannot read";
      [[fallthrough]];
    case Frame::Kind::message:
      if (!from.inward[index(frame.priority)].received(
              message_bytes(frame.head.words(), frame.payload.size() + frame.bytes_elsewhere)))
        return "it sends more than it has credit for";
      take_message(from, frame, bytes, block);
      break;
    case Frame::Kind::credit:
      if (!from.outward[index(frame.priority)].released(frame.value))
        return "it gives credit for what was not sent";
      break;
    case Frame::Kind::fetched: {
      const std::size_t p = index(frame.priority);
      const std::uint64_t count = frame.value - from.read_there_until[p];
      if (count > from.read_there[p].size()) return "it has read what was not sent";
      from.read_there_until[p] = frame.value;
      const auto first = from.read_there[p].begin();
      from.read_there[p].erase(first, std::next(first, static_cast<std::ptrdiff_t>(count)));
      break;
    }
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
    case Frame::Kind::probe:
      from.probed = from.last_probed = frame.value;
      is_to_write(from);
      break;
    case Frame::Kind::seen:
      if (frame.value > from.probe) return "it has seen what was not asked";
      from.seen = std::max(from.seen, frame.value);
      break;
    case Frame::Kind::farewell:
      from.said_farewell = true;
      break;
    case Frame::Kind::segment:
      if (from.segment) return "it says a second time where its segment is";
      from.segment = {frame.address, frame.key};
      break;
  }
  return {};
}

/// Behind what is held of its link it is held as well, as a copy: it may take a while.
void OfiTransport::take_message(Peer& from, const Frame& frame, std::span<const std::byte> bytes,
                                const Block& block) {
  std::list<Held>& held = from.held[index(frame.priority)];
  if (frame.kind == Frame::Kind::message && held.empty()) {
    arrivals_.add(frame.priority, {from.node, frame.origin, frame.head, bytes, frame.payload, block});
    return;
  }
  if (frame.kind == Frame::Kind::message) {
    Block own(bytes.size());
    std::memcpy(own.bytes().data(), bytes.data(), bytes.size());
    const Payload payload(own.bytes().data() + payload_at(frame.head.words()), frame.payload.size());
    const std::span<const std::byte> copy = own.bytes();
    held.push_back({{from.node, frame.origin, frame.head, copy, payload, std::move(own)}});
    return;
  }
  Transfer& fetch = new_transfer(from, frame.bytes_elsewhere, {from.address, frame.address, frame.key});
  fetch.priority = frame.priority;
  const std::span<std::byte> head = fetch.part.head().first(payload_at(frame.head.words()));
  std::memcpy(head.data(), bytes.data(), head.size());
  held.push_back({{from.node, frame.origin, frame.head, head, Payload(fetch.part.payload(), fetch.bytes),
                   fetch.part.block},
                  &fetch});
}

/// Hands on what is held, up to the next payload that is not there.
void OfiTransport::advance(Peer& from, Priority priority) {
  std::list<Held>& held = from.held[index(priority)];
  for (; !held.empty() && (held.front().fetch == nullptr || held.front().fetch->is_done); held.pop_front()) {
    Held& first = held.front();
    if (first.fetch != nullptr) {
      drop_transfer(*first.fetch);
      ++from.fetched[index(priority)];
      is_to_write(from);
    }
    arrivals_.add(priority, std::move(first.message));
  }
}

}  // namespace am::ofi
