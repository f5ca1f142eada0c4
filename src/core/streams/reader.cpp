// The reading end of a stream.
#include <algorithm>
#include <am/error.hpp>
#include <am/global.hpp>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/node/unknown_node.hpp"
#include "core/streams/stream_relay.hpp"
#include "core/streams/waiting.hpp"
#include "host/relax.hpp"

namespace am::impl {

namespace {

// Of those that the writer may have on the way; it is told of marks by messages of their own.
constexpr std::uint64_t marks_to_tell = StreamRing::most_marks / 2;

// A reader on its writer's heels takes a cache line away from it for each value. Where fewer than these are there at the first look, it
// steps back for a moment, so that the writer gets some lines ahead. (Where the first look found nothing, it waits for that value.)
constexpr std::uint64_t close_values = 32;
constexpr int steps_back = 64;  // pauses of the processor: some 100 to 700 ns

using core::Streams;

}  // namespace

StreamReader::StreamReader(Node& node, NodeId from, std::uint64_t tag, const StreamType& type,
                           std::size_t capacity)
    : streams_(node.engine().streams()), from_(from), opened_from_(from), home_(node.id()), tag_(tag) {
  const Hold hold(node);
  streams_.engine().must_compute("opening a stream");
  if (from >= node.size()) throw core::unknown_node("open a stream", from, node.size());
  peer_.emplace(node, from);
  streams_.open(*this, type, capacity);
}

StreamReader::~StreamReader() {
  const Hold hold(streams_.node());
  streams_.close(*this);
}

void StreamReader::use_ring(StreamRing& ring, std::uint64_t next) noexcept {
  ring_ = &ring;
  next_ = limit_ = next;
  if (spool_) {
    spool_->end = next;
    return;
  }
  values_ = ring.values();
  mask_ = ring.capacity - 1;
}

/// Tells the writer how far this end has read.
void StreamReader::publish() noexcept {
  const std::uint64_t read = taken();
  ring_->read.store(read, std::memory_order_release);
  if (ring_->writer_sleeps.load(std::memory_order_relaxed) != 0 &&
      ring_->writer_sleeps.exchange(0, std::memory_order_relaxed) != 0)
    streams_.say(from_, {.kind = Streams::Word::Kind::wake, .id = ring_->id, .at = home_});
  if (writer_.load(std::memory_order_relaxed) != Writer::by_messages) return;
  const std::uint64_t marks = ring_->marks_read.load(std::memory_order_relaxed);
  if (read - told_ < most_at_once() && marks - marks_told_ < marks_to_tell) return;
  tell_writer(read, marks);
  streams_.engine().network().flush();  // the next poll may be far: behind all that lies in the ring
}

/// The other half of the ring stays for values that were not read. By messages this halves again: the writer may not know yet of a
/// quarter that was read.
std::uint64_t StreamReader::most_at_once() const noexcept {
  const bool by_stores = writer_.load(std::memory_order_relaxed) == Writer::by_stores;
  return std::max<std::uint64_t>(ring_->capacity / (by_stores ? 2 : 4), 1);
}

void StreamReader::tell_writer(std::uint64_t values, std::uint64_t marks) noexcept {
  told_ = values;
  marks_told_ = marks;
  streams_.say(from_, {.kind = Streams::Word::Kind::credit, .id = ring_->id, .at = values, .tag = marks});
}

bool StreamReader::may_go_on() noexcept {
  return next_ != limit_ || ring_->written.load(std::memory_order_relaxed) != next_ ||
         ring_->marks_written.load(std::memory_order_relaxed) !=
             ring_->marks_read.load(std::memory_order_relaxed) ||
         ring_->cut.load(std::memory_order_relaxed) != 0 || peer_->is_missing();
}

/// How far the writer has come.
std::uint64_t StreamReader::written_ahead() noexcept {
  std::uint64_t written = ring_->written.load(std::memory_order_acquire);
  const bool is_close = written - next_ < close_values && written != next_ && !looked_in_vain_;
  if (is_close) {
    for (int step = 0; step < steps_back; ++step) host::relax();
    written = ring_->written.load(std::memory_order_acquire);
  }
  looked_in_vain_ = written == next_;
  return written;
}

void StreamReader::reads_to(std::uint64_t end) noexcept {
  limit_ = std::min(end, StreamLap::end(next_, mask_));
  lap_ = {values_, next_, mask_, ring_->value_bytes};
}

/// Sets the limit anew; what has been written by a stranger leads no further than the ring.
StreamStatus StreamReader::look() {
  for (;;) {
    if (next_ != limit_) return StreamStatus::ok;
    publish();
    // This comes first: then what is below sees all that the writer wrote.
    const bool gone = ring_->cut.load(std::memory_order_acquire) != 0 || peer_->is_missing();
    if (spool_) drain();
    std::uint64_t end = spool_ ? spool_->end : std::min(written_ahead(), next_ + most_at_once());
    end = std::max(end, next_);
    const std::uint64_t taken = ring_->marks_read.load(std::memory_order_relaxed);
    if (ring_->marks_written.load(std::memory_order_acquire) != taken) {
      const StreamMark mark = ring_->marks[taken % StreamRing::most_marks];
      if (mark.at <= next_) {
        if (mark.kind == StreamMark::Kind::marker) return StreamStatus::marker;
        if (mark.kind == StreamMark::Kind::end) return StreamStatus::ended;
        take_over(mark);
        continue;
      }
      end = std::min(end, mark.at);
    }
    reads_to(end);
    if (limit_ != next_) return StreamStatus::ok;
    return gone ? StreamStatus::unreachable : StreamStatus::again;
  }
}

/// The stream goes on in another ring, whose reader was the writer of this one.
void StreamReader::take_over(const StreamMark& splice) {
  Node& node = streams_.node();
  StreamRing* const ring = streams_.handed_over_by(splice);
  if (ring == nullptr || ring->value_bytes != ring_->value_bytes)
    throw Error("read a stream", "node " + std::to_string(from_) + " hands over what is no stream", "");
  streams_.move(*this, splice.node, ring->id);
  from_ = ring->writer;
  writer_ = Writer::by_stores;
  peer_.emplace(node, from_);
  use_ring(*ring,
           ring->read.load(std::memory_order_relaxed));  // of the one who handed it over: R1 of the mark
  ring->reader.store(node.id(), std::memory_order_release);
}

StreamStatus StreamReader::find_values(bool wait) {
  const Hold hold(streams_.node());
  StreamStatus status = look();
  if (status == StreamStatus::again && wait) {
    streams_.wait(
        "a read from a stream", [this] { return from_; }, [this] { return &ring_->reader_sleeps; },
        [&] { return (status = look()) != StreamStatus::again; });
  }
  if (status == StreamStatus::ended || status == StreamStatus::unreachable) is_told_of_end_ = true;
  return status;
}

StreamProgress StreamReader::read(std::byte* into, std::size_t count, bool wait) {
  std::size_t done = 0;
  while (done < count) {
    if (next_ == limit_) {
      const StreamStatus status = find_values(wait);
      if (status != StreamStatus::ok) return {done, status};
    }
    const std::size_t bytes = ring_->value_bytes;
    const std::uint64_t n = std::min(std::uint64_t{count - done}, limit_ - next_);
    std::memcpy(into + done * bytes, lap_.place(next_, bytes), n * bytes);
    done += n;
    next_ += n;
  }
  return {done, StreamStatus::ok};
}

std::uint64_t StreamReader::marker_ahead() const noexcept {
  const std::uint64_t taken = ring_->marks_read.load(std::memory_order_relaxed);
  return ring_->marks[taken % StreamRing::most_marks].value;
}

std::uint64_t StreamReader::take_marker() {
  const Hold hold(streams_.node());
  if (look() != StreamStatus::marker)
    throw Error("take a marker", "none comes next in the stream from node " + std::to_string(from_),
                "a read that answers `marker` says that one does");
  const std::uint64_t value = marker_ahead();
  ring_->marks_read.store(ring_->marks_read.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  publish();
  return value;
}

void StreamReader::on_values(std::function<void()> f) {
  const Hold hold(streams_.node());
  on_values_ = std::move(f);
  is_told_of_end_ = false;
  if (on_values_) {
    streams_.watch(*this);
  } else {
    streams_.watch_no_more(*this);
  }
}

// -- the spool ----------------------------------------------------------------------------------------------------------

void StreamReader::spool(std::size_t most) {
  const Hold hold(streams_.node());
  const std::size_t limit = too_many_bytes / ring_->value_bytes / 4;
  if (most == 0 || most > limit)
    throw Error("spool a stream",
                "it holds 1 to " + std::to_string(limit) + " values, not " + std::to_string(most),
                "say how many of them may wait");
  if (!spool_) {
    spool_.emplace();
    spool_->end = limit_ = next_;
    streams_.spools(*this);
  }
  spool_->most = most;
  drain();
}

bool StreamReader::drain() {
  const std::uint64_t written = ring_->written.load(std::memory_order_acquire);
  const std::uint64_t begin = spool_->end;
  const std::uint64_t end = std::min({written, next_ + spool_->most, begin + ring_->capacity});
  if (end <= begin) return false;
  const std::size_t bytes = ring_->value_bytes;
  // Both rings are powers of two, and a value has the same number in both.
  const auto copy = [&](std::byte* to, std::uint64_t to_mask, const std::byte* from, std::uint64_t from_mask,
                        std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t n = 0; first != last; first += n) {
      n = std::min({last - first, to_mask + 1 - (first & to_mask), from_mask + 1 - (first & from_mask)});
      std::memcpy(to + (first & to_mask) * bytes, from + (first & from_mask) * bytes, n * bytes);
    }
  };
  if (end - next_ > spool_->capacity) {
    const std::uint64_t capacity = std::bit_ceil(std::max(end - next_, ring_->capacity));
    auto values = std::make_unique_for_overwrite<std::byte[]>(capacity * bytes);
    copy(values.get(), capacity - 1, values_, mask_, next_, begin);
    spool_->values = std::move(values);
    spool_->capacity = capacity;
    values_ = spool_->values.get();
    mask_ = capacity - 1;
    reads_to(limit_);
  }
  copy(values_, mask_, ring_->values(), ring_->capacity - 1, begin, end);
  spool_->end = end;
  publish();
  return true;
}

void splice_streams(std::unique_ptr<StreamReader> in, std::unique_ptr<StreamWriter> out) {
  if (in == nullptr || out == nullptr)
    throw Error("splice streams", "one of the ends was moved away before", "splice a stream once");
  StreamReader::splice(std::move(in), std::move(out));
}

/// An exception of what a wait runs does not end the stream behind as if this were all.
class CutUnlessDone {
 public:
  explicit CutUnlessDone(StreamWriter& out) noexcept : out_(&out) {}
  ~CutUnlessDone() {
    if (out_ != nullptr) out_->cut();
  }
  CutUnlessDone(const CutUnlessDone&) = delete;
  CutUnlessDone& operator=(const CutUnlessDone&) = delete;
  void done() noexcept { out_ = nullptr; }

 private:
  StreamWriter* out_;
};

void StreamReader::splice(std::unique_ptr<StreamReader> in, std::unique_ptr<StreamWriter> out) {
  Streams& streams = in->streams_;
  const Hold hold(streams.node());
  if (out->over_) throw Error("splice streams", "the writing end has ended its stream", "splice it before");
  in->on_values(nullptr);
  CutUnlessDone cut(*out);
  streams.wait(
      "am::splice, until the writer has opened its end", [&] { return in->from_; },
      []() -> std::atomic<std::uint32_t>* { return nullptr; },
      [&] {
        return in->writer_ != Writer::unknown || in->ring_->cut.load(std::memory_order_relaxed) != 0 ||
               in->peer_->is_missing();
      });
  if (in->writer_ == Writer::by_stores && out->ring_ != nullptr && !in->spool_) {
    hand_over(*in, *out);
    cut.done();
  } else {
    cut.done();
    streams.relay(std::move(in), std::move(out));
  }
}

/// Once the mark stands there, another may read the ring of `in`, and have done with it: nothing of it is touched then, but where it lies here.
void StreamReader::hand_over(StreamReader& in, StreamWriter& out) {
  Streams& streams = in.streams_;
  in.publish();
  StreamRing& ring = *in.ring_;
  const bool lies_here = in.home_ == streams.node().id();
  const std::byte* const base = streams.reach(in.home_, 0, 1);
  const StreamMark mark{.value = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(&ring) - base),
                        .kind = StreamMark::Kind::splice,
                        .node = in.home_};
  NodeId told = out.reader();
  streams.hand_over(in, told);
  if (out.put_mark(mark, true) != StreamStatus::ok) return;  // its reader has closed: so does this one
  if (out.ring_->handing.exchange(StreamRing::handed, std::memory_order_seq_cst) != StreamRing::gone) {
    in.ring_ = nullptr;
    const NodeId now = out.reader();  // it may have handed the stream on itself meanwhile
    if (lies_here && now != told) ring.reader.compare_exchange_strong(told, now, std::memory_order_acq_rel);
  }
  out.let_go();
}

}  // namespace am::impl
