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
    const auto of_lane =
        std::span(lists_).subspan(static_cast<std::size_t>(lane) * lists_of_lane, lists_of_lane);
    for (Sent& its : of_lane) strike_off(lane, its);
    for (unsigned list = 0; list < lists_of_lane; ++list) {
      Sent& its = of_lane[list];
      if (its.count != 0) continue;
      const auto message = sites_.write_list(self_, lane, list, targets);
      if (!message) continue;
      for (const NodeNumber target : targets) {
        its.targets[its.count++] = target;
        ++sent(lane, target);
      }
      return message;
    }
    return std::nullopt;
  }

 private:
  struct Sent {
    std::array<NodeNumber, most_targets> targets;
    unsigned count = 0;  // of those that may not have it yet
  };
  [[nodiscard]] std::uint32_t& sent(Counted lane, NodeNumber to) noexcept {
    return sent_[2 * std::size_t{to} + static_cast<std::size_t>(lane)];
  }
  /// Targets that have all that was sent to them. What was sent up to this list is not enough: a copy of it may lie in a storage while later
  /// messages pass it, and counts name no message.
  void strike_off(Counted lane, Sent& its) noexcept {
    while (its.count != 0) {
      const NodeNumber target = its.targets[its.count - 1];
      if (!sites_.has_counted(target, self_, lane, sent(lane, target))) return;
      --its.count;
    }
  }

  LiveSites& sites_;
  const NodeNumber self_;
  std::vector<std::uint32_t> sent_;  // by target and lane
  std::array<Sent, lists_of_node> lists_{};
};

}  // namespace am::care
