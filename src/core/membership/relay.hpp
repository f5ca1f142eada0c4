// What the hosts of a job tell each other about their nodes, on the control lane of the network between them: who has left,
// who is dead, and how far the barrier is (together/barrier.cpp).
//
// A host speaks by its first node that is still in the job, and to each such node of the others, as none of them may be about to
// look; who hears it writes it on the board of its own host. Whoever notices a departure asks whether it is the one to speak
// now, and says all that it has not said yet. So when a speaker departs, which is a departure as well, the next one says it
// again; to hear it twice does no harm. The last node of a host that leaves speaks for itself. A host that is gone with all its
// nodes tells nothing: the network says that it is lost. A departure is told when the speaker next makes progress.
//
// A node of the same host that the network cannot reach any more may just be ending, or leaving: its launcher and its life lock know
// better, and have a second to say so. After that it counts as dead though it lives: it will never answer.
//
// Nothing that a node says is believed of nodes of other hosts than its own, nor that somebody came back, nor what comes from one
// that is dead.
//
// Used by whoever is in the node.
#pragma once

#include <array>
#include <vector>

#include "core/membership/count_keeper.hpp"
#include "core/membership/hosts.hpp"
#include "transports/site.hpp"
#include "transports/transport.hpp"

namespace am::core {

class Relay final : public Listener {
 public:
  static constexpr std::uint32_t barrier_rounds = 12;  // twice as many hosts in each: enough for max_nodes

  Relay(const host::Board& board, NodeId self);

  [[nodiscard]] const Hosts& hosts() const noexcept { return hosts_; }

  /// Tells the other hosts who of this one has departed, if that is this node's to do.
  void tell(Transport& network) noexcept;
  /// The same, by a node that is about to end because another one has: so that those who hear of its end have heard of that before.
  void tell_at_the_end(Transport& network) const noexcept;
  /// A step of the barrier between hosts: says, or has heard, that the barrier of this number came so far.
  void tell_barrier(Transport& network, NodeId to, std::uint32_t round, std::uint32_t number) noexcept;
  [[nodiscard]] std::uint32_t heard_barrier(std::uint32_t round) const noexcept { return barriers_[round]; }

  [[nodiscard]] CountKeeper& count() noexcept { return count_; }

  void heard(NodeId from, std::uint32_t word, std::uint64_t value) noexcept override;
  void heard_clock(NodeId from, std::uint64_t asked, std::uint64_t told) noexcept override;
  void lost(NodeId peer) noexcept override;
  /// Marks those of this host that have been out of reach for a second, and of whom nobody has said more. To be called now and then.
  void give_up_the_lost() noexcept;

 private:
  [[nodiscard]] bool speaks() const noexcept;
  void tell_all(Transport& network, NodeId departed) const noexcept;
  void departed(NodeId from, NodeId node, std::uint64_t value) noexcept;
  void barrier_came(NodeId from, std::uint32_t round, std::uint32_t number) noexcept;

  const host::Board& board_;
  const NodeId self_;
  const Hosts hosts_;
  CountKeeper count_;
  struct Lost {
    NodeId node;
    std::uint64_t since_ns;
  };
  std::vector<Lost> lost_here_;
  std::vector<bool> told_;  // by node of this host: this node has told of its departure
  std::array<std::uint32_t, barrier_rounds> barriers_{};
};

}  // namespace am::core
