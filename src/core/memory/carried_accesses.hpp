// Puts and gets that a network carries without the peer's node, where loads and stores reach the memory all the same
// (MemoryReach): what is put is written when the network has accepted it, what is got is read when it has been there
// and back. So neither side needs memory for what is under way.
//
// Used by whoever is in the node; put() and get() by the node's own thread, from the computation: they may wait for room, and poll.
#pragma once

#include <am/impl/global_access.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>

#include "transports/memory_reach.hpp"
#include "transports/transport.hpp"

namespace am {
class Counter;
}

namespace am::core {

class Engine;

class CarriedAccesses {
 public:
  explicit CarriedAccesses(Engine& engine);

  /// Where a place in a peer's memory lies in this process; null: accesses to it are not for the network to carry. Throws am::Error.
  [[nodiscard]] std::byte* place(impl::GlobalAddress at, std::size_t bytes);

  // Each begins one, at such a place. Throws am::Error when the peer is gone, and what a
  // handler throws meanwhile: then nobody is told of its end; of a put, parts may be written, a get writes nothing.
  /// Without a counter nobody waits; what is sent to that node at low priority later comes after it.
  void put(NodeId to, std::byte* there, const std::byte* from, std::size_t bytes, Counter* counter);
  void get(NodeId from, std::byte* there, std::byte* into, std::size_t bytes, Counter& counter);

  /// Asks the network what it has carried by now, tells the counters, and brings what was got.
  void complete() noexcept;
  /// Whether any are under way.
  [[nodiscard]] bool any() const noexcept { return !under_way_.empty(); }

  /// A node to which accesses of that counter are under way, and which is gone.
  [[nodiscard]] std::optional<NodeId> gone_peer_of(const Counter& counter) const;
  /// Calls f(counter) for each that waits for one, once or more often.
  template <class F>
  void for_each_counter(F f) const {
    for (const auto& [peer, accesses] : under_way_) {
      for (const auto& begun : accesses) {
        if (begun.counter != nullptr) f(*begun.counter);
      }
    }
  }
  /// Forgets the counter's accesses to that node, or all; how many there were.
  std::uint64_t forget(const Counter& counter, std::optional<NodeId> peer) noexcept;
  void forget_all() noexcept;

 private:
  using Access = MemoryReach::Access;
  /// Done when that many of the kind are, of all with the peer.
  struct Begun {
    Access access;
    std::uint64_t number = 0;
    Counter* counter = nullptr;  // null: nobody's, or forgotten
    std::byte* there = nullptr;  // of a get, as the rest
    std::byte* into = nullptr;
    std::size_t bytes = 0;
  };
  using Accesses = std::pmr::deque<Begun>;
  struct Peer {
    std::span<std::byte> memory;  // not GlobalMemory's: there what is mapped is reached without the network
    std::uint64_t begun[2] = {0, 0};  // by kind
    std::uint64_t done[2] = {0, 0};   // of these, as far as the network has told
    [[nodiscard]] bool rests() const noexcept { return begun[0] == done[0] && begun[1] == done[1]; }
  };

  /// All its pieces, with f(at, bytes) for each that the network has accepted, and then itself.
  template <class F>
  void begin(const char* what, NodeId peer, std::size_t bytes, Begun begun, F f);
  void ask(NodeId node, Peer& peer) noexcept;
  [[nodiscard]] static bool end_if_done(const Peer& peer, const Begun& begun) noexcept;

  Engine& engine_;
  std::pmr::unordered_map<NodeId, Peer> peers_;
  std::pmr::unordered_map<NodeId, Accesses> under_way_;  // of peers that do not rest
};

}  // namespace am::core
