// What this node has the interfaces of others do by themselves: stores into their memory, fetches out of it (T1 report, 3.9, "Hardware
// Handlers"). Here they are only counted, in its windows; what is moved core moves (MemoryReach::begin_access).
//
// Used by the owning node's thread only.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <vector>

#include "host/zeroed_array.hpp"
#include "transports/emulated/windows.hpp"
#include "transports/memory_reach.hpp"
#include "transports/transport.hpp"

namespace am::emulated {

class Accesses {
 public:
  Accesses(const Windows& windows, NodeId self);

  /// Whether one more may begin: what counts them tells apart so many.
  [[nodiscard]] bool may_begin(MemoryReach::Access access, NodeId peer) noexcept {
    Kind& kind = of(access, peer);
    return kind.begun - kind.done < most_under_way || kind.begun - done(access, peer) < most_under_way;
  }
  /// Whether there is memory for the count of a peer's answers: in the window for what comes from there.
  [[nodiscard]] bool can_be_answered(NodeId peer) noexcept {
    return peers_[peer].has_window || (peers_[peer].has_window = windows_.commit_window(self_, peer));
  }
  void begun(MemoryReach::Access access, NodeId peer);
  /// Transport::accesses_done.
  [[nodiscard]] std::uint64_t done(MemoryReach::Access access, NodeId peer) noexcept;
  /// Whether any has come to its end since done() told of it. Only looks.
  [[nodiscard]] bool any_news() const noexcept;

 private:
  static constexpr std::uint64_t most_under_way = 1 << 18;
  struct Kind {
    std::uint64_t begun;
    std::uint64_t done;
  };
  struct Peer {
    Kind kind[2];
    bool is_asked;
    bool has_window;
  };

  [[nodiscard]] Kind& of(MemoryReach::Access access, NodeId peer) noexcept {
    return peers_[peer].kind[static_cast<std::size_t>(access)];
  }
  /// Acquire pairs with the release of whoever has counted it.
  [[nodiscard]] kit::Entry entry(MemoryReach::Access access, NodeId peer) const noexcept;

  const Windows& windows_;
  const NodeId self_;
  host::ZeroedArray<Peer> peers_;
  std::vector<NodeId> asked_;  // peers of whom something is under way, maybe
};

}  // namespace am::emulated
