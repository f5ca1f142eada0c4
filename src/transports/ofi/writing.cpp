// What goes out over libfabric: frames are written into the open letter of each peer, and letters handed to the endpoint, with what
// is due to that peer besides.
#include <memory>
#include <utility>
#include <vector>

#include "host/clock.hpp"
#include "host/standstill.hpp"
#include "transports/ofi/card.hpp"
#include "transports/ofi/peer.hpp"

namespace am::ofi {

namespace {
constexpr std::uint64_t patience_with_answers_ns = 2'000'000'000;
}  // namespace

void OfiTransport::say(Peer& peer, const Frame& frame) {
  add(peer, frame);
  is_to_write(peer);
}

void OfiTransport::add(Peer& peer, const Frame& frame) {
  write_frame(room_for_frame(peer, frame_bytes(frame)), frame);
}

std::byte* OfiTransport::room_for_frame(Peer& peer, std::size_t bytes) {
  if (peer.open != nullptr && peer.open->filled + bytes > paper_.letter_room()) seal_open_letter(peer);
  if (peer.open == nullptr) peer.open = paper_.take();
  std::byte* const at = peer.open->bytes + peer.open->filled;
  peer.open->filled += bytes;
  return at;
}

void OfiTransport::seal_open_letter(Peer& peer) {
  if (peer.open != nullptr) peer.written.push(*std::exchange(peer.open, nullptr));
}

void OfiTransport::is_to_write(Peer& peer) {
  calm_ = false;
  if (!std::exchange(peer.is_to_write, true)) to_write_.push_back(peer.node);
}

void OfiTransport::write_all() noexcept {
  std::vector<NodeId> now = std::exchange(to_write_, std::move(spare_list_));
  for (const NodeId node : now) {  // who finds no room is in the next list
    peers_[node]->is_to_write = false;
    write(*peers_[node]);
  }
  now.clear();
  spare_list_ = std::move(now);
}

/// Words of the control lane, and answers, of which the last is wanted: while letters wait for the provider so do they, and do not pile
/// up.
void OfiTransport::add_newest(Peer& to) {
  for (const auto& [word, value] : to.words) {
    add(to, {.kind = Frame::Kind::word, .word = word, .value = value});
    if (!std::exchange(to.open->is_followed, true)) ++to.followed;
    to.asks = true;
  }
  to.words.clear();
  if (const auto asked = std::exchange(to.asked, std::nullopt))
    add(to, {.kind = Frame::Kind::answer, .value = *asked, .clock = host::monotonic_ns()});
  if (const auto probed = std::exchange(to.probed, std::nullopt))
    add(to, {.kind = Frame::Kind::seen, .value = *probed});
}

/// Besides these what was read of the peer's memory, and credit: where it is due, or rides along.
void OfiTransport::add_what_is_due(Peer& to) {
  if (to.written.empty()) add_newest(to);
  for (const Priority priority : {Priority::high, Priority::low}) {
    const std::size_t p = index(priority);
    if (to.fetched[p] != to.fetched_told[p]) {
      to.fetched_told[p] = to.fetched[p];
      add(to, {.kind = Frame::Kind::fetched, .priority = priority, .value = to.fetched[p]});
      to.asks = true;
    }
    InWindow& window = to.inward[p];
    const bool goes = to.open != nullptr || !to.written.empty();
    if (window.is_due() || (goes && window.rides_along()))
      add(to, {.kind = Frame::Kind::credit, .priority = priority, .value = window.tell()});
  }
}

void OfiTransport::tell_all_credit() {
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer == nullptr || peer->state != Peer::State::joined || !peer->is_sent_to()) continue;
    for (const Priority priority : {Priority::high, Priority::low}) {
      InWindow& window = peer->inward[index(priority)];
      if (!window.has_news()) continue;
      say(*peer, {.kind = Frame::Kind::credit, .priority = priority, .value = window.tell()});
    }
  }
}

/// Who leaves waits until it knows what has come. Of its leaving core may have heard by another node, and have closed the link since: also
/// of one that greets only now.
bool OfiTransport::is_heard_out(const Peer& peer) const noexcept {
  return peer.closed && peer.state != Peer::State::over && has_left(peer.node);
}

/// What is written to it is such an answer: all else was forgotten. It asks when all of its payloads were read.
bool OfiTransport::is_owed_answer(const Peer& peer) const noexcept {
  return is_heard_out(peer) &&
         (peer.probed || peer.fetched != peer.fetched_told || peer.open != nullptr || !peer.written.empty());
}

/// It has gone without the answers that libfabric does not take.
bool OfiTransport::is_past_answers(const Peer& peer) const noexcept {
  return peer.closed && host::running_ns(memory_->board().job()) - peer.closed_ns > patience_with_answers_ns;
}

void OfiTransport::write(Peer& to) {
  while (!to.greetings.empty() && (to.is_sent_to() || is_heard_out(to))) {
    if (!post_first(to, to.greetings)) return;
  }
  if (to.state != Peer::State::joined || !(to.is_sent_to() || is_owed_answer(to))) return;
  add_what_is_due(to);
  seal_open_letter(to);
  if (to.node == self_) {  // progress() delivers it
    if (armed_ && !to.written.empty()) ring_self();
    return;
  }
  while (!to.written.empty()) {
    LetterHead{self_, to.letters_out, to.seal_out}.write(to.written.front().bytes);
    if (!post_first(to, to.written)) return;
    ++to.letters_out;
  }
  if (to.has_newest()) write(to);
}

/// Nobody needs it any more.
void OfiTransport::drop(Peer& to, Letter& letter) {
  if (letter.is_followed) --to.followed;
  paper_.give_back(&letter);
}

/// False when there is no room for it, so that it stays where it is, to be tried again; or when it failed.
bool OfiTransport::post_first(Peer& to, LetterQueue& letters) {
  Letter& letter = letters.front();
  letter.peer = to.node;
  const bool is_greeting = letter.is_greeting;
  const bool at_once =
      !letter.is_followed && !is_greeting && letter.filled <= endpoint_.info().tx_attr->inject_size;
  const int result = at_once ? endpoint_.inject(letter.text(), to.address)
                             : endpoint_.send(letter.text(), letter.descriptor, to.address, letter);
  const bool greets = is_greeting && (to.state == Peer::State::greeting || to.state == Peer::State::apart);
  const bool refused = result == -FI_EAGAIN && greets && is_refused(to);
  if (result == -FI_EAGAIN && is_past_answers(to)) {
    end(to, "");
    return false;
  }
  if (result == -FI_EAGAIN && !refused) {
    is_to_write(to);
    if (armed_) set_timer();
    return false;
  }
  letters.pop();
  if (result != 0 || at_once) drop(to, letter);
  if (result != 0) failed(to, is_greeting, refused ? "it takes no connections" : endpoint_.why(result));
  return result == 0;
}

bool OfiTransport::is_refused(const Peer& peer) const {
  const auto reachable = read_card(memory_->board().card(peer.node));
  return reachable && endpoint_.is_refused(reachable->address);
}

}  // namespace am::ofi
