// The two ends of a stream without its type: what am/stream.hpp does inline for each value, and the doors to the rest
// (src/core/streams). Used by the node's own thread, in its computation and its posts; what messages change are atomics.
#pragma once

#include <am/impl/needed_peer.hpp>
#include <am/impl/prefetch_to_write.hpp>
#include <am/impl/stream_ring.hpp>
#include <am/types.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

namespace am {

class Node;
namespace core {
class StreamRelay;
class Streams;
}  // namespace core

/// What became of a read or a write.
///  - ok           done
///  - again        no value is there, or there is no room for one; nothing was done
///  - marker       before the next value comes a marker: take it with marker()
///  - ended        read: the writer has ended the stream; write: this end was ended, or the reader has closed its own
///  - unreachable  the node at the other end died or has left
enum class StreamStatus : std::uint8_t { ok, again, marker, ended, unreachable };

/// How far a read or a write of several values came, and why no further.
struct StreamProgress {
  std::size_t count = 0;
  StreamStatus status = StreamStatus::ok;
};

namespace impl {

/// What both ends must agree on.
struct StreamType {
  std::uint32_t bytes = 0;
  std::uint32_t name = 0;  ///< a hash; 0: the type's name does not tell
  bool operator==(const StreamType&) const = default;
};

/// The values from one multiple of the ring's capacity to the next lie one behind the other: a lap. It is told by where value 0 would lie,
/// so that a loop need not mask the number of each value. That may be outside the ring, so it is no pointer.
struct StreamLap {
  std::uintptr_t value_0 = 0;

  StreamLap() = default;
  /// Of the value `number` in a ring at `values` whose capacity is `mask` + 1.
  StreamLap(const std::byte* values, std::uint64_t number, std::uint64_t mask,
            std::size_t value_bytes) noexcept
      : value_0(reinterpret_cast<std::uintptr_t>(values) - (number & ~mask) * value_bytes) {}
  [[nodiscard]] std::byte* place(std::uint64_t number, std::size_t value_bytes) const noexcept {
    return reinterpret_cast<std::byte*>(value_0 + number * value_bytes);  // NOLINT(performance-no-int-to-ptr)
  }
  /// The number of the first value behind the lap of this one.
  [[nodiscard]] static std::uint64_t end(std::uint64_t number, std::uint64_t mask) noexcept {
    return (number | mask) + 1;
  }
};

/// Where the next value goes. The writing end has a copy, which stays in registers in a loop of writes: read back from memory for each value
/// it would cost five cycles. What the writer knows itself is `written`, which each value moves on.
struct StreamPlace {
  /// In front of the place, where a line is asked for that values will go to. Two stores for each value, to lines in turn, leave the
  /// processor too few places to ask for one early enough by itself.
  static constexpr std::size_t bytes_ahead = 1024;

  StreamLap lap{};
  std::uint64_t next = 0;   ///< number of the next value
  std::uint64_t limit = 0;  ///< as far as there is room for certain, in this lap
  std::atomic<std::uint64_t>* written = nullptr;
  std::atomic<std::uint32_t>* asked = nullptr;  ///< not 0: after the next value the end has something to do

  template <class T>
  [[nodiscard]] bool put(const T& value) noexcept {
    if (next == limit) [[unlikely]]
      return false;
    std::byte* const place = lap.place(next, sizeof(T));
    prefetch_to_write(place + bytes_ahead);
    std::memcpy(place, &value, sizeof(T));
    written->store(++next, std::memory_order_release);
    return true;
  }
};

class StreamWriter {
 public:
  /// Waits until `to` has opened its end. Throws am::Error.
  StreamWriter(Node& node, NodeId to, std::uint64_t tag, const StreamType& type);
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  [[nodiscard]] StreamPlace place() const noexcept {
    return {{values_, next(), mask_, value_bytes_}, next(), limit_, written_, asked_by_};
  }
  StreamStatus make_room(bool wait);
  /// As many as there is room for certain; again: make_room may find more.
  StreamProgress write(const std::byte* from, std::size_t count);
  StreamStatus mark(std::uint64_t value, bool wait);
  StreamStatus flush(bool wait);
  StreamStatus end(bool wait);
  /// After a value: a reader sleeps, or what lies staged is to be sent by a poll.
  void was_asked() noexcept;

 private:
  friend class core::StreamRelay;
  friend class core::Streams;
  friend class StreamReader;
  friend class CutUnlessDone;

  /// Nobody else moves it on.
  [[nodiscard]] std::uint64_t next() const noexcept { return written_->load(std::memory_order_relaxed); }
  void publish(std::uint64_t next) noexcept {
    written_->store(next, std::memory_order_release);
    if (asked_by_->load(std::memory_order_relaxed) != 0) was_asked();
  }
  [[nodiscard]] StreamStatus find_room();
  [[nodiscard]] std::uint64_t room_end() const noexcept;
  [[nodiscard]] StreamStatus send_staged();
  [[nodiscard]] StreamStatus try_mark(StreamMark mark);
  [[nodiscard]] StreamStatus put_mark(const StreamMark& mark, bool wait);
  [[nodiscard]] StreamStatus why_not();
  [[nodiscard]] bool is_closed() const noexcept;
  [[nodiscard]] NodeId reader() const noexcept;
  [[nodiscard]] std::atomic<std::uint32_t>* sleeps() noexcept;
  void use(std::uint64_t offset, std::uint64_t capacity);
  void use_ring(StreamRing& ring) noexcept;
  void use_messages();
  void end_at_last() noexcept;
  /// The reader gets what was written, and no end. again: the network has no room for that.
  [[nodiscard]] StreamStatus try_cut();
  /// The same, where that has to do without what was not sent.
  void cut() noexcept;
  void let_go() noexcept;

  std::byte* values_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t limit_ = 0;  // of values: as far as there is room for certain, and no further than this lap
  std::atomic<std::uint64_t>* written_ = &own_written_;
  std::atomic<std::uint32_t>* asked_by_ = &asked_;

  core::Streams& streams_;
  const NodeId to_;
  std::uint32_t id_ = 0;
  std::uint32_t value_bytes_ = 0;
  std::uint64_t capacity_ = 0;
  StreamRing* ring_ = nullptr;  // null: it is reached by messages
  bool over_ = false;           // ended, or handed over
  NodeId watched_;              // who reads, as far as peer_ knows
  std::optional<NeededPeer> peer_;
  const int exceptions_;     // that went by when it was opened
  std::uint64_t marks_ = 0;  // written
  // by messages
  std::unique_ptr<std::byte[]> staged_{};
  std::uint64_t sent_ = 0;
  std::uint64_t piece_ = 0;             // values of a message, at most
  bool flush_is_due_ = false;           // in a poll
  std::atomic<std::uint64_t> read_{0};  // as the reader has told
  std::atomic<std::uint64_t> marks_read_{0};
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> own_written_{0};
  std::atomic<std::uint32_t> asked_{1};
};

/// Values that have left a ring and were not read: a ring of their own, in which they have the same numbers.
struct StreamSpool {
  std::uint64_t most = 0;
  std::uint64_t end = 0;  ///< behind the last one
  std::uint64_t capacity = 0;
  std::unique_ptr<std::byte[]> values{};
};

class StreamReader {
 public:
  /// Opens without waiting. Throws am::Error.
  StreamReader(Node& node, NodeId from, std::uint64_t tag, const StreamType& type, std::size_t capacity);
  ~StreamReader();
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  template <class T>
  [[nodiscard]] bool take(T& value) noexcept {
    if (next_ == limit_) [[unlikely]]
      return false;
    std::memcpy(static_cast<void*>(&value), lap_.place(next_, sizeof(T)), sizeof(T));
    ++next_;
    return true;
  }
  StreamStatus find_values(bool wait);
  StreamProgress read(std::byte* into, std::size_t count, bool wait);
  [[nodiscard]] std::uint64_t take_marker();
  void on_values(std::function<void()> f);
  void spool(std::size_t most);
  static void splice(std::unique_ptr<StreamReader> in, std::unique_ptr<StreamWriter> out);

 private:
  friend class core::StreamRelay;
  friend class core::Streams;

  static void hand_over(StreamReader& in, StreamWriter& out);
  enum class Writer : std::uint8_t { unknown, by_stores, by_messages };

  [[nodiscard]] StreamStatus look();
  /// It may read so far, or to the end of the lap.
  void reads_to(std::uint64_t end) noexcept;
  /// Into the spool, as much as has come and may wait there. Whether anything.
  bool drain();
  /// That it has taken from the ring.
  [[nodiscard]] std::uint64_t taken() const noexcept { return spool_ ? spool_->end : next_; }
  void publish() noexcept;
  void tell_writer(std::uint64_t values, std::uint64_t marks) noexcept;
  /// Something came, or will never come; as it looks from here.
  [[nodiscard]] bool may_go_on() noexcept;
  [[nodiscard]] std::uint64_t written_ahead() noexcept;
  void take_over(const StreamMark& splice);
  void use_ring(StreamRing& ring, std::uint64_t next) noexcept;
  /// Values that it may read before it tells how far it has come.
  [[nodiscard]] std::uint64_t most_at_once() const noexcept;
  /// After a look that found a marker.
  [[nodiscard]] std::uint64_t marker_ahead() const noexcept;

  StreamLap lap_{};
  std::uint64_t next_ = 0;
  std::uint64_t limit_ = 0;  // no further than this lap
  std::byte* values_ = nullptr;
  std::uint64_t mask_ = 0;
  bool looked_in_vain_ = false;

  core::Streams& streams_;
  StreamRing* ring_ = nullptr;
  NodeId from_;  // who writes
  const NodeId opened_from_;
  NodeId home_;  // in whose segment the ring lies
  std::uint64_t tag_;
  std::uint32_t number_ = 0;      // among those that this node has opened
  bool is_relayed_ = false;       // the program has it no more
  bool is_told_of_end_ = false;   // or of the other node's death
  std::uint64_t told_ = 0;        // to the writer: taken(), where messages fill the ring
  std::uint64_t marks_told_ = 0;  // likewise
  std::atomic<Writer> writer_{Writer::unknown};
  std::optional<NeededPeer> peer_{};
  std::function<void()> on_values_{};
  std::optional<StreamSpool> spool_{};
};

}  // namespace impl
}  // namespace am
