// Keeps Count the same on hosts that have clocks of their own: asks the first host for its clock when the job begins, a few times,
// and four times a second from then on, while this node makes progress. The first node of a host that is still in the job does that
// for all of it; the first one of the first host is asked. (Hosts that are one machine have one clock, and nothing is asked.)
//
// Used by whoever is in the node.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/membership/clock_follower.hpp"
#include "core/membership/hosts.hpp"
#include "host/board.hpp"
#include "transports/transport.hpp"

namespace am::core {

class CountKeeper {
 public:
  CountKeeper(const host::Board& board, NodeId self, const Hosts& hosts)
      : board_(board), self_(self), hosts_(hosts), agreed_(hosts.count()) {}

  /// By every node, when all have joined, and before it computes: returns when Count is the same on all hosts; where some do not
  /// answer, after seconds.
  void agree(Transport& network);
  /// Asks, when it is time to. To be called now and then.
  void keep(Transport& network) noexcept {
    if (follows_) [[unlikely]]
      ask_when_due(network);
  }

  /// An answer (Listener::heard_clock).
  void heard(NodeId from, std::uint64_t asked, std::uint64_t told) noexcept;
  /// So does the host of that node: About::count.
  void agrees(NodeId from) noexcept { agreed_[board_.card(from).on_host] = true; }

 private:
  [[nodiscard]] bool follows(std::uint32_t host) const noexcept;
  [[nodiscard]] bool all_agree() const noexcept;
  void begin_line() const noexcept;
  [[nodiscard]] std::uint64_t epoch_of_first() const noexcept;
  void ask_when_due(Transport& network) noexcept;
  void ask(Transport& network, NodeId whom) noexcept;

  const host::Board& board_;
  const NodeId self_;
  const Hosts& hosts_;
  bool follows_ = false;      // this host has a clock of its own
  bool agreed_here_ = false;  // there is a line that others may have seen
  ClockFollower follower_;
  std::uint32_t answers_ = 0;
  std::optional<NodeId> asked_;  // who has not answered yet
  std::uint64_t next_ns_ = 0;    // when to ask again
  std::vector<bool> agreed_;     // by host
};

}  // namespace am::core
