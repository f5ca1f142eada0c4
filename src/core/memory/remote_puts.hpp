// Puts that travel as messages. Short ones to the same node are gathered (gathering.hpp), and go in one message; the owner says once a
// poll up to which one it has written: what a link carries at one priority comes in order, so that says it of all before.
//
// So a put costs its caller a copy, and a thousand of them a few dozen messages. Nothing is promised of the order of puts that
// were begun and messages that were sent later: who wants that waits, or uses put_notify.
//
// Used by whoever is in the node; put() by the node's own thread, from the computation: it may wait for room, and polls.
#pragma once

#include <am/handler.hpp>
#include <am/impl/packet.hpp>
#include <am/types.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/memory/gathering.hpp"
#include "transports/site.hpp"

namespace am {
class Counter;
}

namespace am::core {

class Engine;

class RemotePuts {
 public:
  /// A longer one goes by itself.
  static constexpr std::size_t longest_gathered = 64;
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;

  explicit RemotePuts(Engine& engine);

  /// Begins a put: `from` may be changed again when this returns. Throws am::Error when the peer is gone, and what a handler
  /// throws meanwhile: then nobody is told of its end, though parts of it may be written.
  void put(NodeId to, std::uint64_t offset, const std::byte* from, std::size_t bytes, Counter& counter);
  /// The same for one that nobody waits for; what is sent to that node at low priority later comes after it.
  void put_ahead(NodeId to, std::uint64_t offset, const std::byte* from, std::size_t bytes);

  /// Sends what was gathered and says what was written here, as far as there is room.
  void push() noexcept;
  /// The same while the program computes, of what has been gathered for long enough.
  void push_what_is_due() noexcept;
  [[nodiscard]] std::optional<Count> next_due() const noexcept { return gathering_.next_due(); }
  /// Whether there is something to push.
  [[nodiscard]] bool any() const noexcept { return gathering_.any() || !owed_.empty(); }

  /// A node to which puts of that counter are under way, and which is gone.
  [[nodiscard]] std::optional<NodeId> gone_peer_of(const Counter& counter) const;
  /// Calls f(counter) for each that waits for a put, once or more often.
  template <class F>
  void for_each_counter(F f) const {
    for (const auto& [node, peer] : peers_) {
      for (const Begun& begun : peer.begun) {
        if (begun.counter != nullptr) f(*begun.counter);
      }
      for (const Begun& begun : peer.gathered_for) {
        if (begun.counter != nullptr) f(*begun.counter);
      }
    }
  }
  /// Forgets the counter's puts to that node, or all; how many there were.
  std::uint64_t forget(const Counter& counter, std::optional<NodeId> peer) noexcept;

  /// Whether something that put_ahead sent there may not have been written yet.
  [[nodiscard]] bool any_ahead(NodeId to) const noexcept {
    const auto found = peers_.find(to);
    return found != peers_.end() && found->second.ahead;
  }

  /// Destinations::destination, for what a put sends.
  [[nodiscard]] std::byte* destination(const Coming& message) noexcept;

  // what handlers say
  void was_written(NodeId by, std::uint64_t number) noexcept;
  void owe(NodeId from, std::uint64_t number);

 private:
  /// Of the counter, so many; done when the messages up to that number are.
  struct Begun {
    std::uint64_t number;
    Counter* counter;  // null: forgotten
    std::uint64_t count;
  };
  struct Peer {
    explicit Peer(std::pmr::memory_resource* memory) : begun(memory), gathered_for(memory) {}
    std::uint64_t sent = 0;        // messages that are to be answered
    std::uint64_t done = 0;        // of these
    bool ahead = false;            // put_ahead has sent something there,
    std::uint64_t ahead_of = 0;    // before the messages from this one on
    std::pmr::deque<Begun> begun;  // in the order of their numbers
    std::array<std::byte, impl::packet_payload_bytes> gathered;
    std::size_t gathered_bytes = 0;
    std::pmr::vector<Begun> gathered_for;  // without number: they get that of their message
  };

  Peer& peer(NodeId node);
  void gather(NodeId to, Peer& peer, std::uint64_t offset, const std::byte* from, std::size_t bytes);
  [[nodiscard]] Status send_gathered(NodeId to, Peer& peer) noexcept;
  void say_what_is_owed() noexcept;
  template <class List>
  static void note(List& list, std::uint64_t number, Counter& counter);
  static void complete(Peer& peer) noexcept;

  Engine& engine_;
  std::pmr::unordered_map<NodeId, Peer> peers_;
  Gathering gathering_;
  struct Owed {
    NodeId to;
    std::uint64_t number;
  };
  std::pmr::vector<Owed> owed_;  // what is to be said
};

}  // namespace am::core
