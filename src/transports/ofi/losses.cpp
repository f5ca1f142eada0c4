// Letters that libfabric loses. It promises to deliver what it takes, or to say that it could not; but a send by inject that failed says
// not to whom, and a receive that failed not from whom. The numbers of the letters tell: one is missing for good where others behind it
// have come, and it does not, for AM_HOST_TIMEOUT (10 s). Its peer is lost then, with libfabric's last words.
//
// So that something comes behind one that was the last: when an operation has failed that names nobody, this node asks all whether
// everything has come (probe, seen). The question shows its peer what it has not got, the answer this node.
//
// Only looking counts, at both ends. A node that was stopped finds what came meanwhile before it concludes anything; and whoever misses
// a letter asks its peer again and again, and counts only when something has come since, as an answer does, which is behind the gap: the
// peer may have kept the letter back because it does not look.
#include <algorithm>
#include <bit>
#include <utility>

#include "transports/ofi/peer.hpp"

namespace am::ofi {

/// Of letters that have come from that peer there is one behind the next, or there is none any more, or the next has come.
void OfiTransport::see_gap(Peer& from, bool next_has_come) {
  const auto at = std::ranges::find(gaps_, from.node);
  const bool is_new = at == gaps_.end() && !from.early.empty();
  if (at != gaps_.end() && from.early.empty()) gaps_.erase(at);
  if (is_new) gaps_.push_back(from.node);
  if (is_new || next_has_come) {
    from.looks_at_gap = 0;
    from.vain_looks_at_gap = 0;
    from.early_at_look = from.early.size();
  }
}

void OfiTransport::may_have_lost_a_letter(std::string why) {
  loss_ = std::move(why);
  asks_for_losses_ = true;
}

void OfiTransport::look_for_losses(std::uint64_t now) {
  if (now < next_look_for_losses_ns_) return;
  next_look_for_losses_ns_ = now + patience_with_gaps_ns_ / looks_at_a_gap;
  if (std::exchange(asks_for_losses_, false) && !has_left(self_)) {
    for (const std::unique_ptr<Peer>& peer : peers_) {
      if (peer != nullptr && peer->node != self_) ask_for_losses(*peer);
    }
  }
  for (const NodeId node : std::vector<NodeId>(gaps_)) {
    Peer& from = *peers_[node];
    const bool answers = from.early.size() > std::exchange(from.early_at_look, from.early.size());
    if (answers || !may_be_asked(from)) ++from.looks_at_gap;
    from.vain_looks_at_gap = answers ? 0 : from.vain_looks_at_gap + 1;
    if (from.looks_at_gap < looks_at_a_gap) {
      if (answers || std::has_single_bit(from.vain_looks_at_gap)) ask_for_losses(from);  // ever more rarely
    } else {
      end(from, "its datagram " + std::to_string(from.letters_in) + " does not come, " +
                    std::to_string(from.early.size()) + " behind it have come" +
                    (loss_.empty() ? "" : "; libfabric's last failure was: " + loss_));
    }
  }
}

bool OfiTransport::may_be_asked(const Peer& peer) const noexcept {
  return peer.state == Peer::State::joined && peer.is_sent_to() && !peer.said_farewell &&
         !has_left(peer.node);
}

/// The same question as the last time: nobody who leaves waits for an answer. It is followed: a send that fails names the peer.
void OfiTransport::ask_for_losses(Peer& peer) {
  if (!may_be_asked(peer)) return;
  say(peer, {.kind = Frame::Kind::probe, .value = peer.probe});
  if (!std::exchange(peer.open->is_followed, true)) ++peer.followed;
}

}  // namespace am::ofi
