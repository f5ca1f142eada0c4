// For which peers something short is gathered that is to travel together, and since when. It goes when the node next polls or waits, or
// when the message is full.
//
// Where time alone makes progress, whoever looks after the node while its program computes comes by between any two accesses. What he
// finds has been gathered for a moment only, and more is to come: so it is left for longest_ns.
//
// Used by whoever is in the node.
#pragma once

#include <algorithm>
#include <am/node.hpp>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <vector>

namespace am::core {

class Gathering {
 public:
  /// So long it lasts while the program computes. A thousand puts in a row take less, to a peer that takes them.
  static constexpr Count longest_ns = 100'000;

  explicit Gathering(std::pmr::memory_resource* memory) : peers_(memory) {}

  void begin(NodeId to, Count now) { peers_.push_back({to, now + longest_ns}); }
  void end(NodeId to) noexcept {
    std::erase_if(peers_, [to](const Peer& one) { return one.to == to; });
  }
  [[nodiscard]] bool any() const noexcept { return !peers_.empty(); }

  /// Calls send(to) for those that are due by `now`. What that sends it ends, here; what it answers `again` for is late, and waits for
  /// room alone.
  template <class F>
  void send_due(Count now, F send) noexcept {
    for (std::size_t i = peers_.size(); i-- > 0;) {  // the one that is sent is taken out
      const Peer one = peers_[i];
      if (one.due <= now && send(one.to) == Status::again) peers_[i].due = late;
    }
  }
  template <class F>
  void send_all(F send) noexcept {
    send_due(~Count{0}, send);
  }
  /// When the next one is due that is not late.
  [[nodiscard]] std::optional<Count> next_due() const noexcept {
    std::optional<Count> next;
    for (const Peer& one : peers_) {
      if (one.due != late) next = std::min(next.value_or(one.due), one.due);
    }
    return next;
  }

 private:
  static constexpr Count late = 0;
  struct Peer {
    NodeId to;
    Count due;
  };
  std::pmr::vector<Peer> peers_;
};

}  // namespace am::core
