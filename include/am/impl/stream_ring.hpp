// A stream's memory: a ring of values with one writer and one reader, and the marks between values. It lies in the segment of the node
// that opened the reading end. Where the writer's process maps that, both ends use it; else messages of the writer fill it
// (src/core/streams).
//
// Invariants
//  I1  The writer owns the places from `read` + capacity down to `written`, the reader those from `written` down to `read`.
//  I2  A mark stands in the ring before a value behind it does.
// Pairs of release and acquire
//  R1  the writer's store of `written`        ->  the reader's load of it (the values in front of it)
//  R2  the reader's store of `read`           ->  the writer's load of it (the places may be written over)
//  R3  the writer's store of `marks_written`  ->  the reader's load of it (the marks); I2: the reader loads `written` first
//  R4  the reader's store of `marks_read`     ->  the writer's load of it
//  R5  the reader's store of `reader_sleeps`, behind that of `reader`  ->  the writer's exchange of it: it wakes the right node
//  R6  the reader's store of `closed`         ->  the writer's load of it
//  R7  the exchanges of `handing` by a writer that hands another ring over, behind its mark, and by a reader that closes: who comes second
//      knows of the other, and sees to the ring that was handed over
//  R8  the store of `cut`, behind that of `written`  ->  the reader's load of it
// Sleeping. Who is about to sleep sets its flag, passes a fence on all processors (host/heavy_fence.hpp), and looks once more. So the
// other end needs no fence between its store and its look at the flag.
#pragma once

#include <am/impl/packet.hpp>
#include <am/types.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace am::impl {

/// What stands between two values.
struct StreamMark {
  enum class Kind : std::uint32_t { marker, end, splice, cut };

  std::uint64_t at = 0;  ///< in front of the value of this number
  std::uint64_t value =
      0;  ///< the program's; of a splice: where the ring that goes on lies in its node's segment
  Kind kind = Kind::marker;
  NodeId node = 0;  ///< of a splice: that node
};

struct StreamRing {
  static constexpr std::uint64_t most_marks = 32;  ///< one is kept for the last one: the end, or a splice
  enum Handing : std::uint32_t { nothing, handed, gone };

  alignas(line_bytes) std::atomic<std::uint64_t> written{
      0};  ///< by the writer: how many values since the start
  std::atomic<std::uint64_t> marks_written{0};
  alignas(line_bytes) std::atomic<std::uint64_t> read{0};  ///< by the reader, now and then
  std::atomic<std::uint64_t> marks_read{0};
  std::atomic<std::uint32_t> closed{0};  ///< the reader takes nothing any more
  std::atomic<std::uint32_t> handing{nothing};
  alignas(line_bytes) std::atomic<std::uint32_t> writer_sleeps{0};
  alignas(line_bytes) std::atomic<std::uint32_t> reader_sleeps{0};
  alignas(line_bytes) std::atomic<NodeId> reader{0};  ///< or who will be, once it comes to the splice
  std::atomic<std::uint32_t> cut{0};                  ///< the writer sends no more, and no end
  NodeId writer = 0;
  std::uint32_t id = 0;           ///< among those that its node has opened
  std::uint32_t value_bytes = 0;  ///< of one value
  std::uint64_t capacity = 0;     ///< in values: a power of two
  StreamMark marks[most_marks]{};

  /// That the writer put; there is one.
  [[nodiscard]] StreamMark& last_mark() noexcept {
    return marks[(marks_written.load(std::memory_order_acquire) - 1) % most_marks];
  }
  [[nodiscard]] std::byte* values() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  /// Where values from number `at` on belong that a message brings: in places of the writer's (I1), which do not go around the ring's
  /// end. Null: there are none for so many bytes.
  [[nodiscard]] std::byte* place_of(std::uint64_t at, std::size_t bytes) noexcept {
    const std::uint64_t count = bytes / value_bytes;
    const std::uint64_t place = at & (capacity - 1);
    const std::uint64_t ahead = at - read.load(std::memory_order_acquire);  // R2
    const bool has_room = at >= written.load(std::memory_order_relaxed) && ahead <= capacity &&
                          count <= capacity - ahead && count <= capacity - place;
    return has_room && bytes % value_bytes == 0 ? values() + place * value_bytes : nullptr;
  }
  static constexpr std::size_t bytes(std::uint64_t capacity, std::size_t value_bytes) noexcept {
    return sizeof(StreamRing) + capacity * value_bytes;
  }
};

}  // namespace am::impl
