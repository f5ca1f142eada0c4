// Who is in the job, who left, who died: as one node knows it (contract, clause 11).
//
// Who notices. Under amrun, amrun itself, which marks the dead node on the board (standing.hpp) and tells everybody. Besides,
// each node's thread holds a lock that the kernel gives up with the thread (host::LifeLock), and nodes that wait look at 16 of
// their peers' locks four times a second. Under amrun, too, at those that are not its children: where a wrapper outlives its
// node, amrun does not learn of the death. But it has the first word, because it may know how the node died: there a peer
// without lock is dead only when it still is unmarked at the next look. Either way the board counts a departure, and one load
// of that tells a node that there is news.
//
// The end of amrun ends the node as well, whether it survives its peers' or not. So does, by default, the death of a peer.
//
// Used by whoever is in the node (impl::Hold); is_gone also by its computation outside, for Node::is_gone takes no Hold.
#pragma once

#include <am/types.hpp>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/job/job.hpp"
#include "core/reports/onlooker.hpp"
#include "core/settings/settings.hpp"

namespace am::core {

class Membership {
 public:
  Membership(const Job& job, const Settings& settings, const Onlooker& onlooker);

  /// Takes note of what the board says, and calls gone(peer, died) for each peer that left or died since the last look; ends
  /// this process where a death, or the launcher's end, is to end it. `thoroughly`: looks after peers' life locks, too.
  template <class F>
  void look(bool thoroughly, F gone) {
    if (board_.launcher_has_ended()) end_with_launcher();
    if (thoroughly && looks_at_locks_) look_at_life_locks();
    // Acquire pairs with tell_all (standing.cpp): the peer's standing is seen.
    const std::uint32_t departures = board_.job().departures.load(std::memory_order_acquire);
    if (departures == departures_seen_) return;
    departures_seen_ = departures;
    for (NodeId peer = 0; peer < board_.nodes(); ++peer) {
      const host::Standing standing = board_.standing(peer);
      const bool died = standing == host::Standing::dead;
      if (!(died || standing == host::Standing::left) || is_gone(peer) || peer == self_) continue;
      gone_[peer].store(true, std::memory_order_relaxed);
      gone(peer, died);
      if (died && !survives()) end_with(cause(peer));
    }
  }

  /// As far as this node has noticed. Nothing but the board is read because of it: relaxed.
  [[nodiscard]] bool is_gone(NodeId peer) const noexcept {
    return gone_[peer].load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool any_gone() const noexcept { return departures_seen_ != 0; }

  /// Whether this node means to go on when another one dies. Known to all.
  [[nodiscard]] bool survives() const noexcept {
    return board_.card(self_).survives.load(std::memory_order_relaxed) != 0;
  }
  void set_survives(bool survives) noexcept {
    board_.card(self_).survives.store(survives ? 1 : 0, std::memory_order_relaxed);
  }

 private:
  /// Of nodes that are dead, the one that the others have ended because of, as far as this host can tell.
  [[nodiscard]] NodeId cause(NodeId seen) const noexcept;
  void look_at_life_locks() noexcept;
  [[noreturn]] void end_with_launcher() const noexcept;
  [[noreturn]] void end_with(NodeId peer) const noexcept;

  const Onlooker& onlooker_;
  const host::Board& board_;
  const NodeId self_;
  const bool looks_at_locks_;
  const bool supervised_;  // by amrun
  std::uint32_t departures_seen_ = 0;
  std::uint64_t looked_at_ns_ = 0;  // life locks, last
  NodeId next_lock_ = 0;            // to be looked at
  std::vector<std::atomic<bool>> gone_;
  std::vector<bool> suspects_;  // under amrun: had no life lock at the last look
};

}  // namespace am::core
