// How nodes come to know each other over libfabric, and how they part. A greeting is a letter without a seal:
//
//   step 1  who begins      its greeting
//   step 2  who was greeted its own, and its proof
//   step 3  who begins      its greeting again, and its proof
//
// (trust::Handshake), filled up with zeros to a multiple of 16. Who was greeted then sends its first sealed letter. It remembers nothing
// before: its random bytes are made of the greeting and of a secret of its own, so that step 3 says all. Strangers cost no memory, and
// whatever they write in a peer's name puts no handshake out: what they greet is answered to the node of that name, and an
// answer or a proof that is none leaves all as it was.
//
// When both begin at once, both answer, and both may have proven what they began before either hears of it: what the smaller node began
// stands then, since the other takes its proof, and it does not take the other's.
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "host/random_bytes.hpp"
#include "host/standstill.hpp"
#include "transports/number.hpp"
#include "transports/ofi/card.hpp"
#include "transports/ofi/peer.hpp"

namespace am::ofi {

namespace {

constexpr std::uint32_t first_step = 1;
constexpr std::uint32_t answer_step = 2;
constexpr std::uint32_t proof_step = 3;

constexpr std::size_t most_greetings = 4;  // that wait for the provider, to one peer

constexpr std::uint64_t retry_every_ns = 20'000'000;
constexpr std::uint64_t patience_ns = 10'000'000'000;             // with a peer to which no greeting leads
constexpr std::uint64_t patience_within_host_ns = 2'000'000'000;  // where no network comes back
constexpr std::uint64_t tick_ns = 1'000'000;                      // where nothing tells of news
constexpr std::uint64_t first_nap_ns =
    20'000;  // right behind traffic; each one after it twice as long, up to a tick

trust::Nonce random_nonce() {
  trust::Nonce nonce;
  host::fill_random(nonce);
  return nonce;
}

}  // namespace

/// Sees to it that what was said to it gets there.
void OfiTransport::reach(Peer& peer) {
  if (peer.state == Peer::State::apart) greet(peer);
}

void OfiTransport::greet(Peer& peer) {
  peer.state = Peer::State::greeting;
  peer.retry_ns = 0;
  const auto reachable = read_card(memory_->board().card(peer.node));
  if (!reachable) return end(peer, "it has no address of libfabric's");
  if (reachable->provider != provider_of(endpoint_.info())) {
    return end(peer, "it uses libfabric's " + reachable->provider + ", this node " +
                         provider_of(endpoint_.info()) + ": AM_TRANSPORT=ofi:NAME makes them agree");
  }
  if (reachable->provider == "shm" && memory_->board().card(peer.node).pid == getpid())
    return end(peer, "libfabric 1.17 crashes when two nodes of one process use it, and one leaves");
  if (reachable->place != 0 && reachable->place != place_of(endpoint_.info()))
    return end(peer, "its address does not hold here: it has a /dev/shm, or a network namespace, of its own");
  if (peer.address == Endpoint::nowhere) peer.address = endpoint_.add(reachable->address);
  if (peer.address == Endpoint::nowhere) return end(peer, "the provider does not take its address");
  if (!memory_->board().is_here(peer.node)) lifelines_.tie(peer.node, reachable->lifeline);
  if (peer.ours == nullptr) {
    peer.ours = std::make_unique<trust::Handshake>(
        trust::Handshake::connecting(crypto_, key_, party_, peer.node, random_nonce()));
  }
  trust::Handshake handshake = *peer.ours;  // which stays as it is: an answer to any of these will do
  send_greeting(peer, first_step, handshake.to_send());
}

void OfiTransport::send_greeting(Peer& peer, std::uint32_t step, std::span<const std::byte> first,
                                 std::span<const std::byte> second) {
  if (peer.greetings.size() == most_greetings) {  // strangers' most of them, and the provider takes none
    if (step == first_step) greet_later(peer);
    return;
  }
  Letter* const letter = paper_.take();
  LetterHead{self_, step, 0}.write(letter->bytes);
  letter->filled += aligned_to_frame(first.size() + second.size());
  std::memset(letter->bytes + letter_head_bytes, 0, letter->filled - letter_head_bytes);
  std::ranges::copy(first, letter->bytes + letter_head_bytes);
  std::ranges::copy(second, letter->bytes + letter_head_bytes + first.size());
  letter->is_greeting = true;
  peer.greetings.push(*letter);
  is_to_write(peer);
  if (armed_) write(peer);
}

void OfiTransport::came_greeting(Peer& peer, std::uint32_t step, std::span<const std::byte> bytes) {
  const bool gives_way = step == proof_step && peer.node < self_;
  const bool is_late = (peer.state == Peer::State::proven && !gives_way) ||
                       peer.state == Peer::State::joined || !(peer.is_sent_to() || is_heard_out(peer));
  using trust::Handshake;
  if (!is_late && step == first_step && bytes.size() >= Handshake::greeting_bytes) {
    came_first_greeting(peer, bytes.first(Handshake::greeting_bytes));
  } else if (!is_late && step == answer_step && peer.ours != nullptr && bytes.size() >= peer.ours->wanted()) {
    came_answer(peer, bytes.first(peer.ours->wanted()));
  } else if (!is_late && step == proof_step &&
             bytes.size() >= Handshake::greeting_bytes + Handshake::proof_bytes) {
    came_proof(peer, bytes.first(Handshake::greeting_bytes),
               bytes.subspan(Handshake::greeting_bytes, Handshake::proof_bytes));
  } else {
    ++turned_away_;
  }
}

/// The handshake of a greeting in that peer's name: the same one each time. None when it is no such greeting.
std::optional<trust::Handshake> OfiTransport::answering(const Peer& peer,
                                                        std::span<const std::byte> greeting) const {
  const std::optional<trust::Digest> nonce = crypto_.hmac_sha256(secret_, greeting);
  if (!nonce) return {};
  trust::Handshake handshake = trust::Handshake::connected(crypto_, key_, party_, *nonce);
  handshake.take(greeting);
  if (handshake.state() == trust::Handshake::State::refused || handshake.peer() != peer.node) return {};
  return handshake;
}

void OfiTransport::came_first_greeting(Peer& peer, std::span<const std::byte> bytes) {
  const std::optional<trust::Handshake> handshake = answering(peer, bytes);
  if (!handshake) {
    ++turned_away_;
    return;
  }
  if (peer.address == Endpoint::nowhere) {
    if (const auto reachable = read_card(memory_->board().card(peer.node))) {
      peer.address = endpoint_.add(reachable->address);
      if (!memory_->board().is_here(peer.node)) lifelines_.tie(peer.node, reachable->lifeline);
    }
    if (peer.address == Endpoint::nowhere) return;
  }
  send_greeting(peer, answer_step, handshake->to_send());
}

void OfiTransport::came_answer(Peer& peer, std::span<const std::byte> bytes) {
  trust::Handshake handshake = *peer.ours;
  const std::span<const std::byte> greeting = peer.ours->to_send();
  handshake.sent(greeting.size());
  handshake.take(bytes);
  if (handshake.state() != trust::Handshake::State::proven || !has_seals(peer, handshake, true)) {
    ++turned_away_;  // a stranger's, or to a stranger's greeting: the peer's own may still come, however slow it is
    return greet_once_more(peer);
  }
  if (peer.greetings.size() == most_greetings) return greet_once_more(peer);
  const std::vector<std::byte> own(greeting.begin(), greeting.end());
  peer.state = Peer::State::proven;  // what fails from here on is the end of it
  peer.ours.reset();
  send_greeting(peer, proof_step, own, handshake.to_send());
}

/// Not later than it was to be: else whoever answers often in its name would put it off for ever.
void OfiTransport::greet_once_more(Peer& peer) {
  if (peer.retry_ns == 0) greet_later(peer);
}

/// What it greets itself is answered.
void OfiTransport::greet_no_more(Peer& peer) {
  peer.state = Peer::State::apart;
  peer.ours.reset();
  peer.retry_ns = 0;
  std::erase(greeting_, peer.node);
}

void OfiTransport::came_proof(Peer& peer, std::span<const std::byte> greeting,
                              std::span<const std::byte> proof) {
  std::optional<trust::Handshake> handshake = answering(peer, greeting);
  if (handshake) handshake->take(proof);
  if (!handshake || handshake->state() != trust::Handshake::State::proven ||
      !has_seals(peer, *handshake, false)) {
    ++turned_away_;
    return;
  }
  join(peer);
  say(peer, {.kind = Frame::Kind::credit});  // the first word
}

/// A seal for each direction. False when they cannot be computed.
bool OfiTransport::has_seals(Peer& peer, const trust::Handshake& handshake, bool ours) {
  const auto secret = handshake.secret();
  if (!secret) return false;
  const std::uint64_t seal_of_beginner = number_at<std::uint64_t>(secret->data()) | 1;  // 0 is none
  const std::uint64_t seal_of_other = number_at<std::uint64_t>(secret->data() + 8) | 1;
  peer.seal_out = ours ? seal_of_beginner : seal_of_other;
  peer.seal_in = ours ? seal_of_other : seal_of_beginner;
  return true;
}

void OfiTransport::join(Peer& peer) {
  peer.state = Peer::State::joined;
  peer.ours.reset();
  peer.failure.clear();
  std::erase(greeting_, peer.node);
  is_to_write(peer);
  if (segment_.memory != nullptr)
    say(peer, {.kind = Frame::Kind::segment, .address = segment_.address, .key = segment_.key});
}

/// An operation for that peer.
void OfiTransport::failed(Peer& peer, bool greeting, std::string why) {
  const bool is_apart = peer.state == Peer::State::apart;  // and the answer to it has not got there
  if (greeting && !peer.closed && (is_apart || peer.state == Peer::State::greeting)) {
    peer.state = Peer::State::greeting;
    try_later(peer, std::move(why));
  } else {
    end(peer, why);
  }
}

/// It may not be there yet.
void OfiTransport::try_later(Peer& peer, std::string why) {
  const std::uint64_t now = host::running_ns(memory_->board().job());
  if (peer.failure.empty()) peer.failing_since_ns = now;
  peer.failure = std::move(why);
  const bool is_here = memory_->board().is_here(peer.node);
  if (now - peer.failing_since_ns > (is_here ? patience_within_host_ns : patience_ns))
    return end(peer, peer.failure);
  greet_later(peer);
}

void OfiTransport::greet_later(Peer& peer) {
  peer.retry_ns = host::running_ns(memory_->board().job()) + retry_every_ns;
  if (std::ranges::find(greeting_, peer.node) == greeting_.end()) greeting_.push_back(peer.node);
  set_timer();
}

void OfiTransport::end(Peer& peer, std::string_view why) {
  const bool was_over = std::exchange(peer.state, Peer::State::over) == Peer::State::over;
  const std::string cause(why);  // it may lie in what goes
  forget(peer);
  while (!peer.greetings.empty()) drop(peer, peer.greetings.pop());
  lifelines_.cut(peer.node);
  for (std::list<Held>& held : peer.held) held.clear();
  drop_transfers(peer);
  peer.early.clear();
  peer.early_bytes = 0;
  std::erase(greeting_, peer.node);
  std::erase(gaps_, peer.node);
  if (was_over || peer.closed || peer.said_farewell || has_left(peer.node) || has_left(self_)) return;
  std::fprintf(stderr, "am: node %u: no way to node %u by libfabric's %s any more: %s\n", self_, peer.node,
               provider_of(endpoint_.info()).c_str(), cause.c_str());
  if (listener_ != nullptr) listener_->lost(peer.node);
}

void OfiTransport::end_all(const std::string& why) {
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer != nullptr && peer->node != self_ && peer->state != Peer::State::over) end(*peer, why);
  }
}

/// What was to be sent there, but for greetings: one that has left may wait for them. What libfabric is at it gives back itself; and what
/// that peer may still read stays as it is, for as long as this node: it may be given up here and live.
void OfiTransport::forget(Peer& peer) noexcept {
  seal_open_letter(peer);
  while (!peer.written.empty()) drop(peer, peer.written.pop());
  peer.words.clear();
  peer.asked.reset();
  peer.probed.reset();
  drop_moves(peer);
}

/// What the peer has sent may still be read. The answer to its last question, or this node's first word to it, may be in what is forgotten:
/// where it waits for them they are said again.
void OfiTransport::close(NodeId node) noexcept {
  Peer& other = peer(node);
  if (other.closed) return;
  other.closed = true;
  other.closed_ns = host::running_ns(memory_->board().job());
  const bool has_unsent_letters = !other.written.empty() || other.open != nullptr || other.has_newest();
  forget(other);
  if (has_unsent_letters && is_heard_out(other) && other.state == Peer::State::joined) {
    other.probed = other.last_probed;
    other.fetched_told = {};
    say(other, {.kind = Frame::Kind::credit,
                .value = other.inward[index(Priority::low)].tell()});  // as the first word
  }
  lifelines_.cut(node);
  if (other.state == Peer::State::joined || other.state == Peer::State::proven) return;
  if (is_heard_out(other)) {
    greet_no_more(other);
  } else {
    end(other, "");
  }
}

/// Greets again those whose time has come, and looks for who is gone.
void OfiTransport::look_at_clock() {
  const std::uint64_t now = host::running_ns(memory_->board().job());
  for (const NodeId node : std::vector<NodeId>(greeting_)) {
    Peer& peer = *peers_[node];
    if (peer.state == Peer::State::greeting && peer.retry_ns != 0 && now >= peer.retry_ns) greet(peer);
  }
  if (looks_for_losses()) look_for_losses(now);
  for (const Lifelines::Broken& broken : lifelines_.broken(now, has_left(self_))) {
    if (broken.host) {
      lose_host_of(broken.node, broken.why);
    } else {
      end(peer(broken.node), broken.why);
    }
  }
}

/// With all its nodes, also those that this one has not spoken to.
void OfiTransport::lose_host_of(NodeId lost, std::string_view why) {
  const host::Board& board = memory_->board();
  for (NodeId node = 0; node < board.nodes(); ++node) {
    if (board.card(node).on_host != board.card(lost).on_host) continue;
    if (known(node) != nullptr) {
      end(*peers_[node], why);
    } else if (listener_ != nullptr && !has_left(node)) {
      listener_->lost(node);
    }
  }
}

/// Runs the timer while something is to be done that the completion queue does not tell of.
void OfiTransport::set_timer() noexcept {
  const bool is_blind = armed_ && !believes_descriptor_;
  if (is_blind) nap_ns_ = nap_ns_ == 0 ? first_nap_ns : std::min(2 * nap_ns_, tick_ns);
  const bool untold = !to_write_.empty() || letter_box_.is_refused() || transfers_wait();
  const std::uint64_t every_ns = is_blind             ? nap_ns_
                                 : untold             ? tick_ns
                                 : !greeting_.empty() ? retry_every_ns
                                 : looks_for_losses() ? std::clamp(patience_with_gaps_ns_ / looks_at_a_gap,
                                                                   tick_ns, Lifelines::between_looks_ns)
                                 : lifelines_.any()   ? Lifelines::between_looks_ns
                                                      : 0;
  if (every_ns == timer_every_ns_) return;
  timer_every_ns_ = every_ns;
  const timespec every{.tv_sec = 0, .tv_nsec = static_cast<long>(every_ns)};
  const itimerspec times{.it_interval = every, .it_value = every};
  static_cast<void>(timerfd_settime(timer_.get(), 0, &times, nullptr));
}

/// What this node sends to itself no descriptor tells of: the timer does, at once.
void OfiTransport::ring_self() noexcept {
  timer_every_ns_ = tick_ns;
  const itimerspec times{.it_interval = {.tv_sec = 0, .tv_nsec = static_cast<long>(tick_ns)},
                         .it_value = {.tv_sec = 0, .tv_nsec = 1}};
  static_cast<void>(timerfd_settime(timer_.get(), 0, &times, nullptr));
}

}  // namespace am::ofi
