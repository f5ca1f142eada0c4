// The writing end of a stream.
#include <algorithm>
#include <am/error.hpp>
#include <am/global.hpp>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "core/membership/peers_gone.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/unknown_node.hpp"
#include "core/streams/messages.hpp"
#include "core/streams/waiting.hpp"

namespace am::impl {

namespace {

// Of a message of values, at most; and half of the ring. Over TCP on one machine each message ends in a packet of a few hundred bytes, which
// costs both kernels what a long one does, and brings a credit back: 256 KiB carry 5% fewer values, and 1 MiB, which no cache holds, 6%.
constexpr std::size_t piece_bytes = 524288;
// Long memory of malloc's begins 16 bytes behind a page's begin, where a kernel copies slowly (tcp/writing.cpp).
constexpr std::size_t before_staged = 1008;
constexpr std::size_t batch_bytes =
    8192;  // that a write of several values publishes at a time: the reader begins meanwhile

using core::Streams;

const char* const opening = "am::StreamOut, until the other end opens";

bool agree(const StreamType& a, const StreamType& b) noexcept {
  return a.bytes == b.bytes && (a.name == b.name || a.name == 0 || b.name == 0);
}

constexpr auto no_flag = []() -> std::atomic<std::uint32_t>* { return nullptr; };

}  // namespace

Status stream_is_open(Node& node, NodeId to, std::uint64_t tag) {
  const Hold hold(node);
  if (to >= node.size()) return Status::no_such_node;
  Streams& streams = node.engine().streams();
  if (streams.find_offer(to, tag) != nullptr && streams.reserve(to)) {
    streams.give_back(to);
    return Status::ok;
  }
  return node.is_gone(to) ? Status::unreachable : Status::again;
}

StreamWriter::StreamWriter(Node& node, NodeId to, std::uint64_t tag, const StreamType& type)
    : streams_(node.engine().streams()),
      to_(to),
      value_bytes_(type.bytes),
      watched_(to),
      peer_(std::in_place, node, to),
      exceptions_(std::uncaught_exceptions()) {
  const Hold hold(node);
  if (to >= node.size()) throw core::unknown_node("open a stream", to, node.size());
  std::optional<Streams::Offer> offer;
  streams_.wait(
      opening, [to] { return to; }, no_flag,
      [&] {
        if (streams_.find_offer(to, tag) != nullptr && streams_.reserve(to))
          offer = streams_.take_offer(to, tag);
        return offer || peer_->is_missing();
      });
  if (!offer) throw core::peer_gone_error(streams_.engine(), "open a stream", to);
  id_ = offer->word.id;
  try {
    if (!agree(type, offer->word.type))
      throw Error("open a stream", "node " + std::to_string(to) + " reads values of another type from it",
                  "open both ends as streams of one type");
    use(offer->word.at, offer->word.capacity);
    streams_.add(*this);
  } catch (...) {  // the reader is not to wait for an end that is none
    cut();
    throw;
  }
  streams_.say(to, {.kind = Streams::Word::Kind::taken, .id = id_, .at = ring_ == nullptr ? 1u : 0u});
}

void StreamWriter::use(std::uint64_t offset, std::uint64_t capacity) {
  capacity_ = capacity;
  mask_ = capacity - 1;
  if (std::byte* ring = streams_.reach(to_, offset, StreamRing::bytes(capacity, value_bytes_))) {
    use_ring(*reinterpret_cast<StreamRing*>(ring));
  } else {
    use_messages();
  }
}

StreamWriter::~StreamWriter() {
  const Hold hold(streams_.node());
  if (!over_) end_at_last();
  streams_.remove(*this);
}

/// While an exception goes by that has come since it was opened nothing waits. What handlers and posts throw meanwhile goes on behind the
/// end: thrown in the next poll, it would come here again. One that throws each time is not waited for.
void StreamWriter::end_at_last() noexcept {
  constexpr std::size_t most_thrown = 16;
  const bool may_wait = std::uncaught_exceptions() <= exceptions_;
  std::vector<std::exception_ptr> thrown;
  for (StreamStatus status = StreamStatus::ok; !over_ && status != StreamStatus::again;) {
    try {
      status = end(may_wait && thrown.size() < most_thrown);
    } catch (...) {
      thrown.push_back(std::current_exception());
    }
  }
  if (!over_) cut();
  for (const std::exception_ptr& one : thrown)
    streams_.node().post([one](Node&) { std::rethrow_exception(one); });
}

void StreamWriter::use_ring(StreamRing& ring) noexcept {
  ring_ = &ring;
  values_ = ring.values();
  written_ = &ring.written;
  asked_by_ = &ring.reader_sleeps;
}

void StreamWriter::use_messages() {
  staged_ = std::make_unique_for_overwrite<std::byte[]>(before_staged + capacity_ * value_bytes_);
  values_ = staged_.get() + before_staged;
  piece_ = std::min<std::uint64_t>(piece_bytes / value_bytes_, std::max<std::uint64_t>(capacity_ / 2, 1));
}

StreamStatus StreamWriter::try_cut() {
  if (ring_ != nullptr) {
    ring_->cut.store(1, std::memory_order_release);
    streams_.say(reader(), {.kind = Streams::Word::Kind::wake, .id = id_, .at = to_});
  } else {
    if (send_staged() == StreamStatus::again) return StreamStatus::again;
    const core::Engine::OwnSend own(streams_.engine());
    const StreamMark mark{.kind = StreamMark::Kind::cut};
    if (streams_.node().try_request<core::stream_mark>(to_, id_, mark) == Status::again)
      return StreamStatus::again;
  }
  let_go();
  return StreamStatus::ok;
}

void StreamWriter::cut() noexcept {
  if (over_ || try_cut() == StreamStatus::ok) return;
  streams_.say(to_, {.kind = Streams::Word::Kind::cut, .id = id_, .at = to_});
  let_go();
}

/// From now on the ring may be given back, and the next one may lie there: a place that is asked for leads here.
void StreamWriter::let_go() noexcept {
  over_ = true;
  limit_ = next();
  own_written_.store(limit_, std::memory_order_relaxed);
  written_ = &own_written_;
  asked_.store(0, std::memory_order_relaxed);
  asked_by_ = &asked_;
  streams_.give_back(to_);
  streams_.say(to_, {.kind = Streams::Word::Kind::let_go, .id = id_});
}

void StreamWriter::was_asked() noexcept {
  if (ring_ == nullptr) {
    asked_.store(0, std::memory_order_relaxed);
    const Hold hold(streams_.node());
    return streams_.flush_in_a_poll(*this);
  }
  if (asked_by_->exchange(0, std::memory_order_acquire) == 0) return;
  const Hold hold(streams_.node());
  streams_.say(reader(), {.kind = Streams::Word::Kind::wake, .id = id_, .at = to_});
}

StreamStatus StreamWriter::why_not() {
  if (const NodeId its_reader = reader(); its_reader != watched_) {  // by a splice
    watched_ = its_reader;
    peer_.emplace(streams_.node(), its_reader);
  }
  return peer_->is_missing() ? StreamStatus::unreachable : StreamStatus::again;
}

/// As far as the other end has room.
std::uint64_t StreamWriter::room_end() const noexcept {
  const std::uint64_t read =
      ring_ != nullptr ? ring_->read.load(std::memory_order_acquire) : read_.load(std::memory_order_acquire);
  return std::min(read, next()) + capacity_;
}

/// Sets the limit anew.
StreamStatus StreamWriter::find_room() {
  if (over_ || is_closed()) return StreamStatus::ended;
  const std::uint64_t here = next();
  const std::uint64_t lap_end = StreamLap::end(here, mask_);
  if (ring_ != nullptr) {
    limit_ = std::min(room_end(), lap_end);
  } else {
    if (here == room_end() || here - sent_ >= piece_) {
      if (send_staged() == StreamStatus::unreachable) return StreamStatus::unreachable;
    }
    limit_ = std::min({room_end(), lap_end, here - sent_ < piece_ ? sent_ + piece_ : here + piece_});
  }
  return limit_ != here ? StreamStatus::ok : why_not();
}

/// Who reads: another node than the ring's once that has handed it over.
NodeId StreamWriter::reader() const noexcept {
  return ring_ != nullptr && !over_ ? ring_->reader.load(std::memory_order_acquire) : to_;
}

bool StreamWriter::is_closed() const noexcept {
  return ring_ != nullptr ? ring_->closed.load(std::memory_order_acquire) != 0
                          : closed_.load(std::memory_order_relaxed);
}

/// What the reader has told of lies in the network until a poll, and without it there seems to be no room for a whole message: behind each
/// of these comes a poll.
StreamStatus StreamWriter::make_room(bool wait) {
  const Hold hold(streams_.node());
  const bool has_message = ring_ == nullptr && !over_ && next() - sent_ >= piece_;
  if (wait && has_message && send_staged() == StreamStatus::ok) streams_.engine().poll();
  StreamStatus status = find_room();
  if (status == StreamStatus::again && wait) {
    streams_.wait(
        "a write to a stream", [this] { return reader(); }, [this] { return sleeps(); },
        [&] { return (status = find_room()) != StreamStatus::again; });
  }
  return status;
}

/// Null once it has let go, which a post may do while a write waits.
std::atomic<std::uint32_t>* StreamWriter::sleeps() noexcept {
  return ring_ != nullptr && !over_ ? &ring_->writer_sleeps : nullptr;
}

StreamProgress StreamWriter::write(const std::byte* from, std::size_t count) {
  const std::uint64_t batch = std::max<std::uint64_t>(batch_bytes / value_bytes_, 1);
  std::size_t done = 0;
  while (done < count && next() != limit_) {
    const std::uint64_t here = next();
    const std::uint64_t n = std::min({std::uint64_t{count - done}, limit_ - here, batch});
    std::memcpy(values_ + (here & mask_) * value_bytes_, from + done * value_bytes_, n * value_bytes_);
    done += n;
    publish(here + n);
  }
  return {done, done == count ? StreamStatus::ok : StreamStatus::again};
}

/// Does not wait, so nothing else of this stream happens meanwhile: what a wait runs may write to it, too.
StreamStatus StreamWriter::send_staged() {
  Node& node = streams_.node();
  const core::Engine::OwnSend own(streams_.engine());
  while (sent_ < next()) {
    const std::uint64_t place = sent_ & mask_;
    const std::uint64_t n = std::min({next() - sent_, capacity_ - place, piece_});
    const Payload values(values_ + place * value_bytes_, n * value_bytes_);
    const Status status = node.try_request<core::stream_values>(to_, std::uint64_t{id_}, sent_, values);
    if (status == Status::again) return StreamStatus::again;
    if (status != Status::ok) return StreamStatus::unreachable;
    sent_ += n;
  }
  asked_.store(1, std::memory_order_relaxed);  // the next write has a flush in a poll
  return StreamStatus::ok;
}

StreamStatus StreamWriter::try_mark(StreamMark mark) {
  if (over_ || is_closed()) return StreamStatus::ended;
  mark.at = next();
  const std::uint64_t most = StreamRing::most_marks - (mark.kind == StreamMark::Kind::marker ? 1 : 0);
  const std::uint64_t read = ring_ != nullptr ? ring_->marks_read.load(std::memory_order_acquire)
                                              : marks_read_.load(std::memory_order_relaxed);
  if (marks_ - read >= most) return why_not();
  if (ring_ != nullptr) {
    ring_->marks[marks_ % StreamRing::most_marks] = mark;
    ring_->marks_written.store(++marks_, std::memory_order_release);
    if (ring_->reader_sleeps.load(std::memory_order_relaxed) != 0) was_asked();
    return StreamStatus::ok;
  }
  if (const StreamStatus sent = send_staged(); sent != StreamStatus::ok) return sent;
  const core::Engine::OwnSend own(streams_.engine());
  const Status status = streams_.node().try_request<core::stream_mark>(to_, id_, mark);
  if (status == Status::ok) ++marks_;
  return status == Status::ok      ? StreamStatus::ok
         : status == Status::again ? StreamStatus::again
                                   : StreamStatus::unreachable;
}

StreamStatus StreamWriter::put_mark(const StreamMark& mark, bool wait) {
  StreamStatus status = try_mark(mark);
  if (status == StreamStatus::again && wait) {
    streams_.wait(
        "a mark in a stream", [this] { return reader(); }, [this] { return sleeps(); },
        [&] { return (status = try_mark(mark)) != StreamStatus::again; });
  }
  return status;
}

StreamStatus StreamWriter::mark(std::uint64_t value, bool wait) {
  const Hold hold(streams_.node());
  return put_mark({.value = value}, wait);
}

StreamStatus StreamWriter::flush(bool wait) {
  const Hold hold(streams_.node());
  if (over_ || ring_ != nullptr) return StreamStatus::ok;
  if (is_closed()) return StreamStatus::ended;
  StreamStatus status = send_staged();
  if (status == StreamStatus::again && wait)
    streams_.wait(
        "a flush of a stream", [this] { return to_; }, no_flag,
        [&] { return (status = send_staged()) != StreamStatus::again; });
  streams_.engine().network().flush();
  return status;
}

StreamStatus StreamWriter::end(bool wait) {
  const Hold hold(streams_.node());
  if (over_) return StreamStatus::ok;
  const StreamStatus status = put_mark({.kind = StreamMark::Kind::end}, wait);
  if (status != StreamStatus::again && !over_) let_go();  // a post may have ended it meanwhile
  if (ring_ == nullptr) streams_.engine().network().flush();
  return status;
}

}  // namespace am::impl
