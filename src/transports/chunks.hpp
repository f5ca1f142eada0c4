// The memory in which one node puts payloads that are too long for a ring, within a host: the receiver's handler reads them there. A line
// in the ring names the chunk, so the order, and that it comes exactly once, are the ring's; and so is the way back: a chunk is
// free again once the receiver has released that line (RingControl::released). Nothing else is shared.
//
// One for each priority: low never takes what high needs. A link may have half of it at most. A link that has none of it under
// way never waits for it: its payloads go in pieces through its ring then. So no link waits for another.
//
// What came back is looked for now and then: each look takes the line away in which the receiver counts, and costs as much as
// a short payload (a stream of 1040 bytes has 1.2 times the rate without). Who has nothing else to do looks more often (foresee).
//
// Short chunks are found from the beginning on: what was used lately, and lies in caches, is used again. Long ones go round: the
// receiver's cache has what it has read last, and there the sender would wait for each line that it writes; after a round the
// caches have put it out (with 1 MiB of cache per processor, half round trips of 64 to 256 KiB take 0.6 times as long, and a
// stream of 64 KiB has three times the rate). Both begin with little memory, which grows with use: a page that is used for the first
// time takes as long as 10 KiB of payload, so who sends few would pay more for new pages than for the rest.
//
// A dead sender's chunks stay readable, for they are the job's memory; those under way to a dead receiver come back by close().
//
// Allocates nothing after it is made: also for signal handlers. Used by the owning node's thread only; receivers use find().
#pragma once

#include <am/types.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/zeroed_array.hpp"

namespace am {

inline constexpr std::size_t chunk_bytes = std::size_t{5} << 20;  ///< of one sender at one priority

/// Where a network has its nodes' chunks.
class ChunkRegion {
 public:
  [[nodiscard]] virtual NodeId receivers() const noexcept = 0;
  [[nodiscard]] virtual std::byte* chunks(NodeId sender, Priority priority) const noexcept = 0;
  /// As those of host::Memory.
  [[nodiscard]] virtual bool commit_chunks(NodeId sender, Priority priority, std::size_t offset,
                                           std::size_t bytes) const noexcept = 0;
  /// RingControl::released of the ring by which `to` hears of that sender's. Acquire pairs with Consumer::publish (R2): whoever read a
  /// chunk has done with it.
  [[nodiscard]] virtual std::uint64_t released(NodeId to, NodeId sender,
                                               Priority priority) const noexcept = 0;

 protected:
  ~ChunkRegion() = default;
};

class Chunks {
 public:
  /// A chunk is a row of units, named by the first, which fits into Header::place. 0: none.
  using Name = std::uint16_t;

  /// Behind each payload some lines stay empty. A processor that reads it fetches ahead; beyond its end that would be lines which the
  /// sender is about to write for the next one.
  static constexpr std::size_t gap_bytes = 512;
  static constexpr std::size_t unit_bytes = 2048 + gap_bytes;
  static constexpr std::size_t units = chunk_bytes / unit_bytes;
  static constexpr std::size_t largest = std::size_t{1} << 20;
  static constexpr std::size_t most_units_of_a_link = units / 2;
  /// A link that has no more than so many under way looks for none that came back. About as many as a full ring's messages of 2 to 4 KiB
  /// have: who streams these waits for the ring, and need not look here besides (with 32 that took 2.3 and 1.4 times as long).
  static constexpr std::size_t units_before_collecting = 128;
  static constexpr std::size_t first_units_before_collecting = 32;
  static constexpr std::size_t long_units = 4;  ///< from so many on a chunk is long
  static constexpr std::size_t round_units =
      1024;  ///< in which long ones go round, where it is free: more than a processor's own cache
  static constexpr std::size_t first_round_units = 64;  ///< as many as get memory at once
  static constexpr std::size_t times_before_growing =
      4;  ///< that memory is gone through before it is twice as much

  /// `memory` outlives it.
  Chunks(const ChunkRegion& memory, NodeId self, Priority priority);

  /// Whose payload is so long goes in pieces of less: so long that a piece's price does not count, so short that the receiver takes one
  /// out while the next is filled.
  [[nodiscard]] static constexpr std::size_t bytes_for(std::size_t payload_bytes) noexcept {
    return payload_bytes <= largest ? payload_bytes : std::size_t{128} << 10;
  }

  /// Room for `bytes`, at most `largest`, on their way to `to`; 0 while there is none.
  [[nodiscard]] Name take(NodeId to, std::size_t bytes) noexcept;
  /// Whether there is; only looks.
  [[nodiscard]] bool has_room(NodeId to, std::size_t bytes) noexcept;
  [[nodiscard]] std::byte* at(Name chunk) const noexcept { return begin_ + (chunk - 1) * unit_bytes; }

  /// Looks what came back; then where the next of `bytes` to `to` will lie, unless something else is taken before. Nobody reads there.
  /// Empty where it has no memory yet, or there is no room.
  [[nodiscard]] std::span<const std::byte> foresee(NodeId to, std::size_t bytes) noexcept;

  /// The chunk was not sent.
  void give_back(Name chunk) noexcept;
  /// It was: it comes back when the ring to its receiver has been released up to `position`.
  void sent(Name chunk, std::uint64_t position) noexcept;
  /// Whether one is under way to `to`, and will come back.
  [[nodiscard]] bool any_sent(NodeId to) const noexcept { return links_[to].first != 0; }
  /// Whether more than two of so many bytes are under way to `to`, as far as anybody has looked: it gets a stream, or what its last one
  /// still lends.
  [[nodiscard]] bool is_streamed_to(NodeId to, std::size_t bytes) const noexcept;
  /// `to` reads no more.
  void close(NodeId to) noexcept;

  /// Where the chunk of that name lies, of those at `chunks`, and that has `bytes`; null when there can be none.
  [[nodiscard]] static const std::byte* find(const std::byte* chunks, std::size_t name,
                                             std::size_t bytes) noexcept;

 private:
  /// By the name of a chunk.
  struct Chunk {
    std::uint64_t position;  // of the ring, from which it is free
    NodeId to;
    Name next;  // that was sent to the same node after it
    std::uint16_t units;
  };
  /// By node: what is under way to it, oldest first, and how many units it has in all.
  struct Link {
    Name first;
    Name last;
    std::uint16_t units;
  };

  /// Units that are gone through before the first ones are used again.
  class Round {
   public:
    Round(std::size_t first, std::size_t most) noexcept : units_(first), most_(most) {}
    [[nodiscard]] std::size_t units() const noexcept { return units_; }
    void is_through() noexcept;

   private:
    std::size_t units_;
    const std::size_t most_;
    std::size_t times_ = 0;  // since it is as long
  };

  /// Takes back what `to` has released.
  void collect(NodeId to) noexcept;
  void collect_all() noexcept;
  [[nodiscard]] Name find_free(std::size_t count) const noexcept;
  [[nodiscard]] Name find_free_from(std::size_t first, std::size_t count) const noexcept;
  /// The first unit from `at` on that is used, or free; `end`, or one behind it, when there is none before.
  [[nodiscard]] std::size_t next_unit(std::size_t at, bool used, std::size_t end) const noexcept;
  /// A long chunk has been taken there. The next long one goes behind it.
  void go_on_behind(std::size_t first, std::size_t end) noexcept;
  void mark(std::size_t first, std::size_t count, bool used) noexcept;
  /// Sees to it that there is memory up to that unit.
  [[nodiscard]] bool commit(std::size_t end) noexcept;

  const ChunkRegion& memory_;
  const NodeId self_;
  const Priority priority_;
  std::byte* const begin_;
  std::array<std::uint64_t, units / 64> used_{};  // a bit for each unit
  std::size_t next_long_ = 0;                     // the unit from which on the next long chunk is looked for
  Round long_round_{first_round_units, round_units};
  Round short_round_{first_units_before_collecting, units_before_collecting};  // of each link
  std::size_t committed_ = 0;                                                  // units that have memory
  std::size_t limit_ = units;  // units that may have; fewer once there was no more memory
  host::ZeroedArray<Chunk> chunks_;
  host::ZeroedArray<Link> links_;
};

}  // namespace am
