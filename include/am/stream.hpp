// Streams: values of one type from one node to another, in order, without a header for each (iWarp's pathways: Borkar et al. 1990, 2.2
// and 3.1).
//
//   am::StreamIn<double> in(node, left, 7);     // opens this end of stream 7 from `left`; does not wait
//   am::StreamOut<double> out(node, right, 7);  // waits until `right` has opened its end
//   double value;
//   while (in.read(value) == am::StreamStatus::ok) out.write(2 * value);
//   out.end();
//
// A stream is reserved when its reading end is opened: room for so many values, in that node's segment (AM_SEGMENT). Between nodes that
// share memory a write is a store there, and a read a load: no message. Elsewhere what was written goes by messages: in pieces of up to
// 512 KiB, at flush(), and when the writing node polls.
//
// Spooling (7.2). in.spool(most) lets values wait in this node's own memory, beside the room of the ring: so a node that waits to write goes
// on reading. It happens in this node's polls.
//
// Blocking. read and write wait, and poll meanwhile; try_read and try_write do not. A cycle of nodes that all wait to write stands still,
// as on the machine (2.2): streams have room for `capacity` values, and no more.
//
// Ends and markers. end() says that nothing follows: the reader gets what was written before, then `ended`. A marker is a word between
// two values (7.3): the reader gets `marker` there, takes it, and goes on. A reader that closes its end makes writes answer `ended`. When
// a node dies or leaves, the other end answers `unreachable`: a reader after all that has arrived.
//
// A splice (3.1.2) hands on what is left of a stream: splice(in, out) makes the reader of `out` get what the writer of `in` writes from
// here on. Where memory is shared it gets that straight from the writer, and this node sees none of it, and may leave; else this node
// passes it on when it polls.
//
// Used in the computation of the end's node, and in its posts, which may come while a call here waits; not in handlers, which have on_values.
// An end lives no longer than its node. Neither copied nor assigned; it may be moved, and what it was moved from is not used any more.
#pragma once

#include <am/impl/plain_value.hpp>
#include <am/impl/stream_ends.hpp>
#include <am/impl/type_tag.hpp>
#include <am/node.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace am {

namespace impl {

/// Types whose names do not tell are held to their size alone.
template <class T>
constexpr StreamType stream_type() noexcept {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : type_name<T>()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return {sizeof(T), type_name<T>().empty() ? 0 : hash | 1u};
}

template <class T>
consteval bool check_stream() {
  static_assert(PlainValue<T> && !std::is_const_v<T> && !std::is_array_v<T>,
                "libam: a stream carries trivially copyable values without pointers: numbers, structs, "
                "std::arrays of them");
  static_assert(sizeof(T) <= 4096, "libam: a value of a stream has at most 4 KiB: send its parts as several");
  return true;
}

Status stream_is_open(Node& node, NodeId to, std::uint64_t tag);
void splice_streams(std::unique_ptr<StreamReader> in, std::unique_ptr<StreamWriter> out);

}  // namespace impl

/// Whether the constructor of StreamOut would return at once: ok; again: `to` has not opened its end; unreachable: it is gone.
[[nodiscard]] inline Status stream_is_open(Node& node, NodeId to, std::uint64_t tag) {
  return impl::stream_is_open(node, to, tag);
}

template <class T>
class StreamIn;

/// The writing end.
template <class T>
class StreamOut {
  static_assert(impl::check_stream<T>());

 public:
  /// Of stream `tag` to node `to`, which may be this one. Waits until the other end is open; where the network has so many pathways
  /// (AM_TRANSPORT=iwarp), also until one is left. Throws am::Error when the other end is of another type, when `to` is gone, and for
  /// an unknown node.
  [[gnu::always_inline]] StreamOut(Node& node, NodeId to, std::uint64_t tag)
      : end_(new impl::StreamWriter(node, to, tag, impl::stream_type<T>())), place_(end_->place()) {}
  [[gnu::always_inline]] StreamOut(StreamOut&& other) noexcept
      : end_(std::exchange(other.end_, nullptr)), place_(std::exchange(other.place_, {})) {}
  StreamOut& operator=(StreamOut&&) = delete;
  [[gnu::always_inline]] ~StreamOut() { delete end_; }

  /// Waits for room.
  StreamStatus write(const T& value) { return put(value, true); }
  /// again: there is no room.
  [[nodiscard]] StreamStatus try_write(const T& value) { return put(value, false); }
  /// All of them; fewer where the status says why.
  StreamProgress write(std::span<const T> values) { return put(values, true); }
  /// As many as there is room for.
  [[nodiscard]] StreamProgress try_write(std::span<const T> values) { return put(values, false); }

  /// A marker behind what was written. Waits for room: up to 15 that were not taken have some.
  StreamStatus mark(std::uint64_t value) {
    return following([&] { return end_->mark(value, true); });
  }
  [[nodiscard]] StreamStatus try_mark(std::uint64_t value) {
    return following([&] { return end_->mark(value, false); });
  }

  /// Sends what lies here still. (Where memory is shared nothing does.) Polls do so, too.
  StreamStatus flush() {
    return following([&] { return end_->flush(true); });
  }
  /// Nothing follows. Waits until all of it is sent. The destructor ends a stream that was not ended, and waits as this does; while an
  /// exception goes by it does not, and the reader may get `unreachable` in place of the rest.
  StreamStatus end() {
    return following([&] { return end_->end(true); });
  }

 private:
  template <class U>
  friend void splice(StreamIn<U>&& in, StreamOut<U>&& out);

  StreamStatus put(const T& value, bool wait) {
    while (!place_.put(value)) [[unlikely]] {
        const StreamStatus status = following([&] { return end_->make_room(wait); });
        if (status != StreamStatus::ok) return status;
      }
    if (place_.asked->load(std::memory_order_relaxed) != 0) [[unlikely]]
      end_->was_asked();
    return StreamStatus::ok;
  }
  /// Waits between writes of the end, not within one: posts that run meanwhile may write here, and find the place where it is.
  StreamProgress put(std::span<const T> values, bool wait) {
    for (std::size_t done = 0;;) {
      const std::span<const T> rest = values.subspan(done);
      const StreamProgress now = following(
          [&] { return end_->write(reinterpret_cast<const std::byte*>(rest.data()), rest.size()); });
      done += now.count;
      if (now.status == StreamStatus::ok) return {done, StreamStatus::ok};
      const StreamStatus status = following([&] { return end_->make_room(wait); });
      if (status != StreamStatus::ok) return {done, status};
    }
  }
  /// A call of the end, and what posts wrote meanwhile, moves the place on; also where it throws.
  template <class Call>
  [[gnu::always_inline]] auto following(Call call) {
    const struct Follow {
      explicit Follow(StreamOut& stream) noexcept : out(stream) {}
      [[gnu::always_inline]] ~Follow() { out.place_ = out.end_->place(); }
      Follow(const Follow&) = delete;
      Follow& operator=(const Follow&) = delete;
      StreamOut& out;
    } follow(*this);
    return call();
  }

  // A loop of writes has the place in registers, as long as no call gets this object's address. So what constructs, follows and destroys
  // it is inline always, and the end is no unique_ptr, whose destructor would be such a call.
  impl::StreamWriter* end_;
  impl::StreamPlace place_;
};

/// The reading end.
template <class T>
class StreamIn {
  static_assert(impl::check_stream<T>());

 public:
  /// Of stream `tag` from node `from`, which may be this one, with room for at least `capacity` values that were not read; 0: 32 KiB of
  /// them; where they come by messages up to 512 KiB, fewer where many streams, or one of each other node, would fill the segment. The
  /// segment gives twice that, or more. Throws am::Error when it has no room, for an
  /// unknown node, and where the program has such a stream already: it has one reader.
  StreamIn(Node& node, NodeId from, std::uint64_t tag, std::size_t capacity = 0)
      : end_(std::make_unique<impl::StreamReader>(node, from, tag, impl::stream_type<T>(), capacity)) {}

  /// Waits for a value, or for what comes in its place.
  StreamStatus read(T& value) { return take(value, true); }
  /// again: nothing is there.
  [[nodiscard]] StreamStatus try_read(T& value) { return take(value, false); }
  /// As many as `into` has room for; fewer where a marker or the end comes.
  StreamProgress read(std::span<T> into) { return take(into, true); }
  /// What is there.
  [[nodiscard]] StreamProgress try_read(std::span<T> into) { return take(into, false); }

  /// From now on this node's polls move values that were not read out of the stream's ring into this node's memory: up to so many. So
  /// the writer has room again. Throws am::Error for none, or more than memory may hold.
  void spool(std::size_t most) { end_->spool(most); }

  /// The marker that a read met. Throws am::Error where there is none.
  std::uint64_t marker() { return end_->take_marker(); }

  /// Posts f to the node's computation whenever something may be there to read, until it is replaced or the end closes. f reads by
  /// try_read as much as it likes; where values or a marker are left it is posted again. Of the end, and of the other node's death, it
  /// is told once.
  void on_values(std::function<void()> f) { end_->on_values(std::move(f)); }

 private:
  template <class U>
  friend void splice(StreamIn<U>&& in, StreamOut<U>&& out);

  StreamStatus take(T& value, bool wait) {
    while (!end_->take(value)) [[unlikely]] {
        const StreamStatus status = end_->find_values(wait);
        if (status != StreamStatus::ok) return status;
      }
    return StreamStatus::ok;
  }
  StreamProgress take(std::span<T> into, bool wait) {
    return end_->read(reinterpret_cast<std::byte*>(into.data()), into.size(), wait);
  }

  std::unique_ptr<impl::StreamReader> end_;
};

/// What is left of `in`, its end and markers too, goes on into `out`. Both ends are over for this node. Waits until the writer of `in` has
/// opened its end, and for room for a mark. Throws am::Error when either is over already.
template <class T>
void splice(StreamIn<T>&& in, StreamOut<T>&& out) {
  out.place_ = {};
  impl::splice_streams(std::move(in.end_),
                       std::unique_ptr<impl::StreamWriter>(std::exchange(out.end_, nullptr)));
}

}  // namespace am
