// All rings into one node at one priority, and which of them to look at.
//
// A ring is hot while its sender was busy lately: every round looks at it. Any other costs a round nothing: its sender
// sees `watched` 0 after a commit and rings the doorbell, a bit that says "look here". So the price of a round grows
// with the busy peers, not with all.
//
// Doorbells are a hint and may be missed: the sender's load of `watched` is not fenced against its commit, so it may
// read 1 just as the ring is cooled. What makes every message arrive all the same: the rotation, which looks at one cold
// ring every so many rounds, and look_everywhere() before sleeping, which a heavy fence precedes.
//
// A node that may be told by an alarm at any time has its rings watched `briefly`: their senders fence, it need not (arm).
// A sender of many messages pays more for that than one heavy fence costs. So a ring that has given many since it became
// hot is trusted: it is watched as in the polling mode, and the heavy fence is due when it is next cooled.
//
// Used by the owning node's thread only.
#pragma once

#include <vector>

#include "host/bell.hpp"
#include "host/zeroed_array.hpp"
#include "transports/lookout.hpp"
#include "transports/shm/rings.hpp"

namespace am::shm {

class Inbox {
 public:
  struct alignas(impl::line_bytes) Inbound {
    impl::Consumer ring;
    NodeId from;
    std::uint64_t looked_at;    // the position at the last look_after_idle()
    std::uint32_t idle_rounds;  // calls of that since it changed, or a packet was deferred
    std::uint64_t empty_at;     // the position where the ring was last found empty
    std::uint64_t deferred_at;  // 1 + the position of the packet that was deferred last
    std::uint64_t trusted_at;   // from this position on the ring is to be trusted
    bool hot;
  };

  /// `watched`: what its hot rings' senders are told (impl::watch): `on`, or `briefly` where the owner may be told by an
  /// alarm (arm). `credit_at_once`: every packet's lines go back when it is released, so that onlookers see what is left;
  /// otherwise a quarter of the ring at a time. Later calls allocate nothing: they may come from a signal handler.
  Inbox(const Rings& rings, NodeId self, Priority priority, std::uint32_t watched, bool credit_at_once)
      : rings_(rings),
        self_(self),
        priority_(priority),
        watched_(watched),
        credit_at_once_(credit_at_once),
        summary_(&rings.doorbells(self).summary[static_cast<std::size_t>(priority)]),
        inbound_(rings.nodes()) {
    hot_.reserve(rings.nodes());
    connected_.reserve(rings.nodes());
  }

  /// One look at the doorbells and all hot rings: null when nothing waits. Otherwise a round begins, with the first ring
  /// that has something, and this is its first packet, as receive() returns it. Each look starts behind the ring where the
  /// last one ended: a ring that never runs empty must not keep the others waiting.
  [[nodiscard]] const impl::Packet* look(NodeId& from, impl::Header& head) noexcept {
    if (summary_->load(std::memory_order_relaxed) != 0) [[unlikely]]
      answer_doorbells();
    for (std::size_t n = hot_.size(); n != 0; --n) {
      if (++cursor_ >= hot_.size()) cursor_ = 0;
      Inbound& in = *hot_[cursor_];
      impl::Header seen;  // not `head` itself: this one stays in a register
      const impl::Packet* packet = in.ring.receive(seen);
      if (packet == nullptr) continue;
      head = seen;
      current_ = &in;
      left_ = hot_.size() - 1;
      from = in.from;
      return packet;
    }
    return nullptr;
  }

  /// The next packet of any hot ring not yet found empty in this round, its header, and whose it is.
  [[nodiscard]] const impl::Packet* receive(NodeId& from, impl::Header& head) noexcept {
    while (current_ != nullptr) {
      Inbound& in = *current_;
      if (const impl::Packet* packet = in.ring.receive(head)) {
        if (in.ring.position() - in.empty_at > in_a_row) amid_many(in);
        from = in.from;
        return packet;
      }
      found_empty(in);
    }
    return nullptr;
  }

  /// Gives back the packet that receive() returned from that ring.
  void release(NodeId from, std::size_t lines) noexcept {
    if (inbound_[from].ring.release(lines)) [[unlikely]]
      host::wake(rings_.board(), from);
  }

  /// The same at once: its sender waits for more than lines.
  void release_now(NodeId from, std::size_t lines) noexcept {
    impl::Consumer& ring = inbound_[from].ring;
    const bool starved = ring.release(lines);
    if (ring.publish() || starved) host::wake(rings_.board(), from);
  }

  /// Leaves the ring that receive() returned last until the next round.
  void skip() noexcept {
    current_->deferred_at = 1 + current_->ring.position();
    current_->idle_rounds =
        0;  // it stays hot: each round is to try again, and to ask for the credit that is missing
    next();
  }

  /// Looks at one cold ring; call it every so many rounds.
  void rotate() noexcept;
  /// Hands back what credit is still here and cools the rings that gave nothing, and had nothing deferred, for many of these
  /// calls.
  void look_after_idle() noexcept;
  /// Takes every hot ring off the list, so that every sender rings from now on: those of trusted rings after a heavy fence.
  /// True when there was a trusted one since the last call.
  [[nodiscard]] bool cool_all() noexcept;
  /// Looks at every ring that was ever used and makes those hot that have something. True when a doorbell had been rung,
  /// or, if packets are wanted, when there was one that was not deferred.
  bool look_everywhere(bool packets_wanted) noexcept;
  [[nodiscard]] bool any_hot() const noexcept { return !hot_.empty(); }
  /// Whether a packet has come besides `lent`, which is the one that receive() gave last (null: none). Only looks, at every
  /// ring that was ever used: the round goes on as if nobody had asked.
  [[nodiscard]] bool waits(const impl::Packet* lent) noexcept;
  /// Adds the places where this inbox's news will show. True when a packet has come already that was not deferred.
  bool describe(Lookout& lookout) const;

 private:
  void give_credit(Inbound& in) noexcept {
    if (in.ring.publish()) [[unlikely]]
      host::wake(rings_.board(), in.from);
  }
  /// This ring has given many packets in a row.
  void amid_many(Inbound& in) noexcept {
    in.ring.prefetch();
    trust_if_busy(in);
  }
  void found_empty(Inbound& in) noexcept {
    in.empty_at = in.ring.position();
    give_credit(in);
    next();
  }
  void next() noexcept {
    if (left_ == 0) return end_round();
    --left_;
    if (++cursor_ >= hot_.size()) cursor_ = 0;
    current_ = hot_[cursor_];
  }
  void end_round() noexcept { current_ = nullptr; }
  template <class Read, class F>
  bool for_each_rung(Read read, F f);
  bool answer_doorbells() noexcept;
  Inbound& connect(NodeId from) noexcept;
  void warm(Inbound& in) noexcept;
  void trust_if_busy(Inbound& in) noexcept {
    if (in.ring.position() >= in.trusted_at) [[unlikely]]
      trust(in);
  }
  void trust(Inbound& in) noexcept;
  void cool(Inbound& in) noexcept;

  static constexpr std::uint32_t cool_after_rounds = 64;
  /// Lines. A ring that gave so many in a row is well filled: fetching a line ahead of its turn is then safe. Fetching
  /// one that the sender is about to write would take it away from him.
  static constexpr std::uint32_t in_a_row = 16;
  /// Lines. So many fences of a sender, of some 50 ns, take as long as a heavy fence (16 us on two processors).
  static constexpr std::uint64_t trust_after = 256;
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  const Rings& rings_;
  const NodeId self_;
  const Priority priority_;
  const std::uint32_t watched_;
  const bool credit_at_once_;
  std::atomic<std::uint64_t>* const summary_;
  bool trusts_ = false;                   // a ring, since all were cooled last
  std::atomic<std::uint64_t> warmed_{0};  // how many rings became hot so far; for lookouts
  host::ZeroedArray<Inbound> inbound_;
  std::vector<Inbound*> hot_;
  std::vector<Inbound*> connected_;
  Inbound* current_ = nullptr;  // the ring that the round looks at; null: it is over
  std::size_t left_ = 0;        // hot rings that it has not come to yet
  std::size_t cursor_ = 0;      // where in hot_ the ring is that was looked at last
  std::size_t rotation_ = 0;    // where in connected_ the rotation looks next
};

}  // namespace am::shm
