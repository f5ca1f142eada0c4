// The lists of targets of a node that sends by CARE's network live: which of them is free, since all have what was sent with it.
//
// By the node itself, one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulated_hw/care/live_sites.hpp"

namespace am::care {

class LiveLists {
 public:
  /// The network outlives it.
  LiveLists(LiveSites& sites, NodeNumber self, NodeNumber nodes)
      : sites_(sites), self_(self), sent_(std::size_t{2} * nodes) {}

  /// To be told of every message of this node to one target.
  void is_sent(Counted lane, NodeNumber to) noexcept {
    if (is_ordered(lane)) ++sent(lane, to);
  }
  /// A message to several targets, at most most_targets, which counts as sent to each. None, and nothing has happened: no list is free.
  [[nodiscard]] std::optional<LiveMessage> write(Counted lane, std::span<const NodeNumber> targets) noexcept {
    for (unsigned list = 0; list < lists_of_lane; ++list) {
      Sent& its = lists_[static_cast<unsigned>(lane) * lists_of_lane + list];
      if (!is_free(lane, its)) continue;
      const auto message = sites_.write_list(self_, lane, list, targets);
      if (!message) continue;
      its.targets = 0;
      for (const NodeNumber target : targets) its.due[its.targets++] = {target, ++sent(lane, target)};
      return message;
    }
    return std::nullopt;
  }

 private:
  struct Due {
    NodeNumber target;
    std::uint32_t messages;
  };
  struct Sent {
    std::array<Due, most_targets> due;
    unsigned targets = 0;  // that may not have it yet
  };
  [[nodiscard]] std::uint32_t& sent(Counted lane, NodeNumber to) noexcept {
    return sent_[2 * std::size_t{to} + static_cast<std::size_t>(lane)];
  }
  [[nodiscard]] bool is_free(Counted lane, Sent& its) const noexcept {
    for (; its.targets != 0; --its.targets) {
      const Due& due = its.due[its.targets - 1];
      if (!sites_.has_counted(due.target, self_, lane, due.messages)) return false;
    }
    return true;
  }

  LiveSites& sites_;
  const NodeNumber self_;
  std::vector<std::uint32_t> sent_;  // by target and lane
  std::array<Sent, lists_of_node> lists_{};
};

}  // namespace am::care
