#include "transports/ofi/ofi_transport.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <am/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/clock.hpp"
#include "host/heavy_fence.hpp"
#include "host/own_descriptor.hpp"
#include "host/random_bytes.hpp"
#include "transports/ofi/card.hpp"
#include "transports/ofi/peer.hpp"

namespace am::ofi {

namespace {

trust::Key key_of(const host::JobHeader& job) {
  trust::Key key;
  std::ranges::copy(job.key, key.begin());
  return key;
}

trust::Key random_key() {
  trust::Key key;
  host::fill_random(key);
  return key;
}

trust::Party party_of(NodeId self, const host::Board& board) {
  trust::Party party{self, board.nodes(), {}};
  std::ranges::copy(board.job().name, party.job.begin());
  return party;
}

host::Descriptor made(int descriptor, const char* what) {
  host::Descriptor owned(host::own_descriptor(descriptor));
  if (!owned)
    throw Error("use libfabric", std::string(what) + ": " + std::strerror(errno),
                "ulimit -n may be too small");
  return owned;
}

Wish wish_of(const Site& site) {
  const host::Board& board = site.memory->board();
  Wish wish{.provider = site.options, .interfaces = site.interfaces};
  for (NodeId node = 0; node < board.nodes(); ++node)
    wish.to_other_hosts = wish.to_other_hosts || !board.is_here(node);
  return wish;
}

std::size_t letter_size(const Endpoint& endpoint) {
  return std::min(letter_bytes, endpoint.info().ep_attr->max_msg_size / frame_alignment * frame_alignment);
}

/// None where peers cannot reach it.
Registration registered_segment(Endpoint& endpoint, const Site& site) {
  if (!endpoint.has(FI_RMA) || site.segment.empty()) return {};
  if (endpoint.touches_memory() && !site.memory->commit_user(site.self, 0, site.segment.size())) {
    throw Error(
        "register this node's segment with libfabric (" + provider_of(endpoint.info()) + ")",
        "no memory for its " + std::to_string(site.segment.size()) + " bytes, all of which are locked",
        std::string("choose a smaller one (AM_SEGMENT), or ") + host::SharedFile::more_room);
  }
  return endpoint.registration(site.segment, Endpoint::Use::read_and_written);
}

}  // namespace

OfiTransport::OfiTransport(const Site& site, const Library& library)
    : self_(site.self),
      memory_(site.memory),
      listener_(site.listener),
      destinations_(site.destinations),
      key_(key_of(memory_->board().job())),
      party_(party_of(self_, memory_->board())),
      secret_(random_key()),
      endpoint_(library, choose(library, wish_of(site))),
      believes_descriptor_(endpoint_.wait_fd() >= 0 && !sends_again(endpoint_.info())),
      events_(made(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      timer_(made(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")),
      paper_(endpoint_, letter_size(endpoint_)),
      letter_box_(endpoint_, letter_size(endpoint_)),
      long_memory_(endpoint_),
      segment_(registered_segment(endpoint_, site)),
      peers_(memory_->nodes()),
      patience_with_gaps_ns_(site.host_timeout_ns),
      arrivals_(memory_->nodes()),
      lifelines_(site) {
  epoll_event event{.events = EPOLLIN, .data = {}};
  bool told = epoll_ctl(events_.get(), EPOLL_CTL_ADD, timer_.get(), &event) == 0;
  if (told && believes_descriptor_)
    told = epoll_ctl(events_.get(), EPOLL_CTL_ADD, endpoint_.wait_fd(), &event) == 0;
  if (!told) throw Error("use libfabric", std::string("epoll_ctl: ") + std::strerror(errno), "");
  write_card();
  endpoint_.let_in(
      [memory = memory_](const tcp::Address& from) { return is_a_nodes(memory->board(), from); });
}

/// Where this node can be reached.
void OfiTransport::write_card() const {
  host::NodeCard& card = memory_->board().card(self_);
  Reachable own{provider_of(endpoint_.info()),
                endpoint_.address(),
                {},
                endpoint_.source_port(),
                place_of(endpoint_.info())};
  const std::size_t without_lifeline = card_text(own).size() + 1;
  if (without_lifeline >= sizeof card.address) {
    throw Error("open a network over libfabric (" + own.provider + ")",
                "its addresses are too long: " + std::to_string(own.address.size()) + " bytes",
                "use another provider");
  }
  own.lifeline = lifelines_.address(sizeof card.address - 1 - without_lifeline);
  const std::string text = card_text(own);
  std::memcpy(card.address, text.c_str(), text.size() + 1);
}

OfiTransport::~OfiTransport() {
  // Before the memory goes that it reads and writes.
  if (!dies_if_closed_reading(endpoint_.info()) || transfers_end_soon()) {
    endpoint_.close();
  } else {
    endpoint_.leave_open();
  }
}

OfiTransport::Peer& OfiTransport::new_peer(NodeId node) {
  peers_[node] = std::make_unique<Peer>(node);
  ++met_;
  if (node == self_) peers_[node]->state = Peer::State::joined;
  return *peers_[node];
}

bool OfiTransport::is_over(NodeId node) const noexcept {
  const Peer* const peer = known(node);
  return peer != nullptr && !peer->is_sent_to();
}

bool OfiTransport::has_left(NodeId node) const noexcept {
  return memory_->board().standing(node) == host::Standing::left;
}

// -- sending ----------------------------------------------------------------------------------------------------------

std::size_t OfiTransport::longest_piece(NodeId to) const noexcept {
  const std::size_t in_a_letter = paper_.letter_room() - letter_head_bytes - longest_head;
  return endpoint_.has(FI_RMA) && to != self_ ? frame_payload_bytes : in_a_letter;
}

Transport::Slot OfiTransport::claim(NodeId to, Priority priority, std::size_t /*words*/,
                                    std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::unreachable, to, priority};
  if (is_over(to)) return slot;
  slot.status = Status::again;
  if (!has_room(to, priority, payload_bytes)) return slot;
  Claim& claim = claim_of(peer(to), priority);
  slot.status = Status::ok;
  slot.packet = &claim.packet;
  slot.room = std::min(payload_bytes, longest_piece(to));
  slot.payload = slot.room > impl::packet_payload_bytes ? nullptr : claim.payload;
  return slot;
}

OfiTransport::Claim& OfiTransport::claim_of(Peer& to, Priority priority) {
  std::unique_ptr<Claim>& claim = to.claims[index(priority)];
  if (claim == nullptr) claim = std::make_unique<Claim>();
  return *claim;
}

/// What fits a letter is copied into one anyway.
Transport::Slot OfiTransport::lend(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::unreachable, to, priority};
  if (is_over(to)) return slot;
  slot.status = Status::too_big;
  if (payload_bytes > longest_piece(to) || !is_read_there(message_bytes(0, payload_bytes))) return slot;
  LongMemory::Part part = long_memory_.get(payload_bytes);
  slot.status = Status::ok;
  slot.payload = part.payload();
  slot.room = payload_bytes;
  slot.mark = ++last_mark_;
  written_by_hand_.emplace(slot.mark, std::move(part));
  return slot;
}

Transport::Slot OfiTransport::claim_lent(const Slot& lent) noexcept {
  Slot slot = lent;
  slot.status = is_over(lent.to)                              ? Status::unreachable
                : has_room(lent.to, lent.priority, lent.room) ? Status::ok
                                                              : Status::again;
  if (slot.status == Status::ok) slot.packet = &claim_of(peer(lent.to), lent.priority).packet;
  return slot;
}

void OfiTransport::fill(const Slot& slot, Payload payload) noexcept {
  if (slot.payload == nullptr) {
    peers_[slot.to]->claims[index(slot.priority)]->long_payload = payload;
  } else {
    Transport::fill(slot, payload);
  }
}

bool OfiTransport::has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  if (is_over(to)) return true;
  const std::size_t bytes = message_bytes(impl::max_words, std::min(payload_bytes, longest_piece(to)));
  if (peer(to).outward[index(priority)].has_room(bytes)) return true;
  refused_.add(to, priority, bytes);
  return false;
}

bool OfiTransport::credit_came() const noexcept {
  return refused_.any([this](NodeId to, Priority priority, std::size_t frame_bytes) {
    return is_over(to) || known(to)->outward[index(priority)].has_room(frame_bytes);
  }) || std::ranges::any_of(moves_refused_,
                            [&](NodeId to) { return is_over(to) || known(to)->takes_moves(); });
}

void OfiTransport::commit(const Slot& slot, impl::Header header) noexcept {
  Peer& to = *peers_[slot.to];
  Claim& claim = *to.claims[index(slot.priority)];
  const impl::Packet& packet = claim.packet;
  const std::size_t words = header.words();
  const std::size_t payload_bytes = header.has(impl::flag::payload) ? packet.payload_bytes : 0;
  to.outward[index(slot.priority)].sent(message_bytes(words, payload_bytes));
  to.asks = true;
  if (is_read_there(message_bytes(words, payload_bytes))) {
    commit_long(to, slot, header, claim);
  } else {
    std::byte* const at = room_for_frame(to, message_bytes(words, payload_bytes));
    write_message_head(at, slot.priority, header, packet.origin, packet.words, payload_bytes);
    const Payload payload = slot.payload != nullptr ? Payload(claim.payload, payload_bytes)
                                                    : Payload(claim.long_payload.data(), payload_bytes);
    write_payload(at + payload_at(words), payload);
  }
  reach(to);
  is_to_write(to);
  if (armed_) write(to);
}

/// Copied to where the receiver can read it, unless it lies there.
void OfiTransport::commit_long(Peer& to, const Slot& slot, impl::Header header, const Claim& claim) {
  const impl::Packet& packet = claim.packet;
  LongMemory::Part part;
  if (const auto lent = written_by_hand_.extract(slot.mark)) {
    part = std::move(lent.mapped());
  } else {
    part = long_memory_.get(packet.payload_bytes);
    std::memcpy(part.payload(), claim.long_payload.data(), packet.payload_bytes);
  }
  write_elsewhere(room_for_frame(to, elsewhere_bytes(header.words())), slot.priority, header, packet.origin,
                  packet.words, packet.payload_bytes, {part.address, part.key});
  to.read_there[index(slot.priority)].push_back(std::move(part));
}

void OfiTransport::publish(NodeId to, std::uint32_t word, std::uint64_t value) noexcept {
  if (is_over(to)) return;
  Peer& other = peer(to);
  const auto same = std::ranges::find(other.words, word, [](const auto& one) { return one.first; });
  if (same != other.words.end()) {
    same->second = value;
  } else {
    other.words.emplace_back(word, value);
  }
  reach(other);
  is_to_write(other);
  if (armed_) write(other);
}

void OfiTransport::ask_clock(NodeId to) noexcept {
  if (is_over(to)) return;
  Peer& other = peer(to);
  say(other, {.kind = Frame::Kind::clock, .value = host::monotonic_ns()});
  reach(other);
}

bool OfiTransport::published() const noexcept {
  return std::ranges::all_of(peers_, [this](const std::unique_ptr<Peer>& peer) {
    return peer == nullptr || !peer->is_sent_to() || peer->node == self_ ||
           (peer->words.empty() && peer->followed == 0);
  });
}

bool OfiTransport::drained() const noexcept {
  bool all = true;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer == nullptr || !peer->is_sent_to()) continue;
    if (peer->node == self_) {
      all = all && peer->open == nullptr && peer->written.empty();
    } else if (peer->asks || peer->probe != peer->seen || !peer->words.empty() || is_owed_farewell(*peer)) {
      all = false;
    }
  }
  asks_what_came_ = !all;
  return all && !stores_are_under_way();
}

/// Nodes of other hosts are to know, when its lifelines end, that it has left in order. (Those of its own see its card.)
bool OfiTransport::is_owed_farewell(const Peer& peer) const noexcept {
  return has_left(self_) && peer.state == Peer::State::joined && !peer.is_bid_farewell &&
         !memory_->board().is_here(peer.node);
}

/// Of all who were sent something since they were last asked.
void OfiTransport::ask_what_came() {
  asks_what_came_ = false;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer == nullptr || peer->node == self_ || peer->state != Peer::State::joined || !peer->is_sent_to())
      continue;
    if (is_owed_farewell(*peer)) {
      peer->is_bid_farewell = true;
      peer->asks = true;
      say(*peer, {.kind = Frame::Kind::farewell});
    }
    const bool is_read =
        std::ranges::all_of(peer->read_there, [](const auto& parts) { return parts.empty(); });
    if (peer->asks && is_read) {
      peer->asks = false;
      say(*peer, {.kind = Frame::Kind::probe, .value = ++peer->probe});
    }
  }
}

std::size_t OfiTransport::queued(NodeId to, Priority priority) const noexcept {
  const Peer* const peer = known(to);
  if (peer == nullptr) return 0;
  return (peer->outward[index(priority)].unreleased() + impl::line_bytes - 1) / impl::line_bytes;
}

std::string OfiTransport::way_to(NodeId /*peer*/) const {
  return "libfabric's " + provider_of(endpoint_.info()) + " on " + domain_of(endpoint_.info());
}

// -- being told -------------------------------------------------------------------------------------------------------

bool OfiTransport::arm(Wanted wanted) noexcept {
  if (vain_arms_ == 1) tell_all_credit();
  flush();
  host::own_fence();
  std::uint64_t expired = 0;
  if (timer_every_ns_ != 0) static_cast<void>(!::read(timer_.get(), &expired, sizeof expired));
  armed_ = !stirs(wanted) && (!believes_descriptor_ || endpoint_.may_sleep());
  if (armed_) {
    set_timer();  // before the look at it: a nap that was too short for this machine to look in becomes longer
    armed_ = !news_at_descriptors();
  }
  if (!armed_) disarm();
  if (armed_ && vain_arms_ < 2) ++vain_arms_;
  return armed_;
}

/// A provider's descriptor that says again and again that there is something, when there is nothing, is not believed any more.
bool OfiTransport::news_at_descriptors() noexcept {
  constexpr std::uint32_t most_false_alarms = 64;
  pollfd events{.fd = events_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&events, 1, 0) == 0) {
    false_alarms_ = 0;
    return false;
  }
  if (believes_descriptor_ && ++false_alarms_ == most_false_alarms) {
    believes_descriptor_ = false;
    static_cast<void>(epoll_ctl(events_.get(), EPOLL_CTL_DEL, endpoint_.wait_fd(), nullptr));
  }
  return true;
}

/// Something is to be done here that nothing tells of.
bool OfiTransport::stirs(Wanted wanted) const noexcept {
  return has_come(wanted) || credit_came() || has_sent_to_self();
}

void OfiTransport::disarm() noexcept {
  armed_ = false;
  looks_.resume();
  calm_ = false;
  refused_.clear();
  moves_refused_.clear();
}

bool OfiTransport::describe(Lookout& lookout, Wanted wanted) const {
  lookout.watch(news_);
  return has_come(wanted);
}

}  // namespace am::ofi
