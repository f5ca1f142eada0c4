// Short gets that travel as messages: those from the same node are gathered (gathering.hpp), and go in one request; its answer brings
// the bytes of all, one behind the other. Answers of a node come in the order of its requests, so each belongs to the oldest.
//
// Used by whoever is in the node; get() by the node's own thread, from the computation: it may wait for room, and polls.
#pragma once

#include <am/impl/packet.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <unordered_map>

#include "core/memory/gathering.hpp"

namespace am {
class Counter;
}

namespace am::core {

class Engine;

class RemoteGets {
 public:
  /// A longer one goes by itself.
  static constexpr std::size_t longest_gathered = 64;
  /// Of all that go together.
  static constexpr std::size_t most_bytes = impl::packet_payload_bytes;

  explicit RemoteGets(Engine& engine);

  /// Begins a get. Throws am::Error when the peer is gone, and what a handler throws meanwhile: then it has not begun.
  void get(NodeId from, std::uint64_t offset, std::byte* into, std::size_t bytes, Counter& counter);

  /// Asks for what was gathered, as far as there is room.
  void push() noexcept;
  /// The same while the program computes.
  void push_what_is_due() noexcept;
  [[nodiscard]] std::optional<Count> next_due() const noexcept { return gathering_.next_due(); }
  /// Whether there is something to push.
  [[nodiscard]] bool any() const noexcept { return gathering_.any(); }

  /// A node from which the counter waits for something, and which is gone.
  [[nodiscard]] std::optional<NodeId> gone_peer_of(const Counter& counter) const;
  /// Calls f(counter) for each that waits for a get, once or more often.
  template <class F>
  void for_each_counter(F f) const {
    for (const auto& [node, peer] : peers_) {
      for (const Wanted& wanted : peer.wanted) {
        if (wanted.counter != nullptr) f(*wanted.counter);
      }
    }
  }
  /// Forgets the counter's gets from that node, or all; how many there were. Their targets are not written any more.
  std::uint64_t forget(const Counter& counter, std::optional<NodeId> peer) noexcept;

  // what handlers say
  void were_read(NodeId by, Payload data) noexcept;

 private:
  struct Wanted {
    Counter* counter;  // null: forgotten
    std::byte* into;
    std::size_t bytes;
  };
  /// One by one what a peer is asked for, and how many of these go, or went, together.
  struct Peer {
    explicit Peer(std::pmr::memory_resource* memory) : wanted(memory), asked(memory) {}
    std::pmr::deque<Wanted> wanted;
    std::pmr::deque<std::size_t> asked;  // of the requests that are under way
    std::array<std::uint64_t, most_bytes / sizeof(std::uint64_t)> gathered;  // not asked for yet: heads
    std::size_t gathered_count = 0;
    std::size_t gathered_bytes = 0;  // that their answer will have
  };

  Peer& peer(NodeId node);
  [[nodiscard]] Status send_gathered(NodeId to, Peer& peer) noexcept;

  Engine& engine_;
  std::pmr::unordered_map<NodeId, Peer> peers_;
  Gathering gathering_;
};

}  // namespace am::core
