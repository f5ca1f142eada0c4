// Global memory by messages, for peers whose segments loads and stores do not reach: the same operations, done by
// handlers on the node that owns the memory. It has to poll for them. Puts and gets go without it where the network carries them
// (carried_accesses.hpp).
//
// Long ranges travel in pieces, so that neither side needs more memory than a piece has. Bounds are checked by the
// caller (GlobalMemory::reach) and again by the owner, which trusts nobody's arithmetic. Atomics are done by
// std::atomic_ref there, so they are atomic with respect to nodes that reach the same memory directly.
//
// Used by the node's own thread, from the computation: a send may wait for room, and polls.
#pragma once

#include <algorithm>
#include <am/impl/global_access.hpp>
#include <am/payload.hpp>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <unordered_map>

#include "core/memory/carried_accesses.hpp"
#include "core/memory/remote_gets.hpp"
#include "core/memory/remote_puts.hpp"
#include "transports/memory_reach.hpp"

namespace am::core {

class Engine;

/// A copy into and out of shared memory in which an aligned word is never half done.
void write_bytes(std::byte* place, const void* from, std::size_t bytes) noexcept;
void read_bytes(void* into, std::byte* place, std::size_t bytes) noexcept;
void apply_atomic(std::byte* place, const impl::Atomic& atomic, void* old) noexcept;

class RemoteMemory {
 public:
  explicit RemoteMemory(Engine& engine);
  /// Counters that live longer, and wait for something, have nothing to wait for any more.
  ~RemoteMemory();

  // Each sends what is to be done and returns; the counter learns of the end. Throws am::Error when the peer is gone.
  // put without a counter: nobody waits, and what is sent to the peer at low priority later comes after it.
  void put(impl::GlobalAddress to, const std::byte* from, std::size_t bytes, Counter* counter);
  void get(impl::GlobalAddress from, std::byte* into, std::size_t bytes, Counter& counter);
  void change(impl::GlobalAddress at, const impl::Atomic& atomic, void* old, Counter& counter);

  /// Polls until n operations of the counter's life are complete. Throws am::Error when a node that it waits for is gone,
  /// and forgets what was under way to that node.
  void wait(Counter& counter, std::uint64_t n, const char* what);
  [[nodiscard]] RemotePuts& puts() noexcept { return puts_; }
  [[nodiscard]] RemoteGets& gets() noexcept { return gets_; }
  /// Sends what was gathered, says what was written here, and what the network has carried: as far as there is room.
  void push() noexcept {
    puts_.push();
    gets_.push();
    complete();
  }
  /// The same while the program computes: it may be about to gather more.
  void push_what_is_due() noexcept {
    puts_.push_what_is_due();
    gets_.push_what_is_due();
    complete();
  }
  /// When there is more of that.
  [[nodiscard]] std::optional<Count> next_due() const noexcept {
    const std::optional<Count> puts = puts_.next_due();
    const std::optional<Count> gets = gets_.next_due();
    return puts && gets ? std::min(*puts, *gets) : puts ? puts : gets;
  }
  /// Tells of what the network has carried. Runs nothing: on every level.
  void complete() noexcept { carried_.complete(); }
  /// What the network carries goes on, and nobody hears of it any more: what it was for may be gone.
  void forget_accesses() noexcept { carried_.forget_all(); }
  /// Whether there is something to push.
  [[nodiscard]] bool any() const noexcept { return puts_.any() || gets_.any() || carried_.any(); }
  static void count_done(Counter& counter, std::uint64_t n) noexcept;
  /// Where a request of another node may read or write; null for what no node of this library asks for (Engine::distrust).
  [[nodiscard]] static std::byte* own_place(const Request& request, std::uint64_t offset, std::size_t bytes);
  /// Forgets everything under way for a counter.
  void abandon(const Counter& counter) noexcept;

  /// Destinations::destination, for what puts and gets send.
  [[nodiscard]] std::byte* destination(const Coming& message) noexcept;

  // Answers, which name their operation by its ticket. One that nobody waits for any more, or that another node should have
  // given, is dropped.
  void was_read(NodeId from, std::uint64_t ticket, std::size_t at, Payload data);
  void changed(NodeId from, std::uint64_t ticket, std::uint64_t old);
  /// Destinations::moved. On every level.
  void moved(const MemoryReach::Move& move, Payload fetched) noexcept;

 private:
  enum class Kind : std::uint8_t { get, change, store, fetch };
  struct Operation {
    Kind kind;
    Counter* counter;  // null: nobody hears of it any more (let_go)
    NodeId peer;
    std::byte* into;        // where answers go
    std::size_t bytes;      // room there
    std::size_t pieces;     // answers still to come
    std::size_t moves = 0;  // of these, what the network is at
  };
  using Operations = std::pmr::unordered_map<std::uint64_t, Operation>;

  /// Counts an operation that begin_it() begins, unless that throws.
  template <class F>
  void counted(Counter& counter, F begin_it);
  template <class Send>
  void begin(const char* what, const Operation& operation, Send send_pieces);
  /// Whether the network reads or writes the peer's memory itself.
  [[nodiscard]] bool moves(MemoryReach::Access access, NodeId peer, std::size_t bytes) const noexcept;
  void move(MemoryReach::Access access, impl::GlobalAddress there, const std::byte* from, std::byte* into,
            std::size_t bytes, Counter& counter);
  /// Nobody hears of that operation any more. What the network is still storing for it goes on: settle() waits for that.
  Operations::iterator let_go(Operations::iterator operation) noexcept;
  /// Waits for what is still being stored there, though nobody hears of it, so that it is not written over what is put from now on.
  void settle(NodeId peer, const char* what);
  /// What an answer of `from` belongs to: nothing when that is not its to answer.
  [[nodiscard]] Operations::iterator find(NodeId from, std::uint64_t ticket, Kind kind) noexcept;
  /// Where so much of an answer belongs; null when that is more than was asked for.
  [[nodiscard]] static std::byte* place_in(const Operation& operation, std::size_t at,
                                           std::size_t bytes) noexcept {
    return bytes > operation.bytes || at > operation.bytes - bytes ? nullptr : operation.into + at;
  }
  void end_piece(Operations::iterator operation) noexcept;
  [[nodiscard]] std::optional<NodeId> gone_peer_of(const Counter& counter) const;

  Engine& engine_;
  RemotePuts puts_;
  RemoteGets gets_;
  CarriedAccesses carried_;
  Operations under_way_;
  std::uint64_t last_ticket_ = 0;
  std::size_t let_go_ = 0;  // operations of which nobody hears
};

}  // namespace am::core
