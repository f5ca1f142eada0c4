// One ring: one producer, one consumer, lines of 64 bytes. A message is written where it will be read: claim, fill,
// commit on one side; receive, release on the other. Every (sender, receiver, priority) has a ring of its own, so a
// sender that is slow or dies in the middle of a send blocks nobody else (M-Machine thesis, chapter 5).
//
// Producer and Consumer are private to their node and thread; only the lines and the RingControl are shared.
//
// Invariants
//  I1  A line is owned by the producer from its release (RingControl::released passed it) until it is committed, and
//      by the consumer from then until released. Only the owner writes it.
//  I2  The consumer takes line p as a packet exactly when its header's lap equals p's lap. Before a packet at p is
//      published, the header at the following packet position is known not to carry that position's lap: it holds
//      the header of an earlier lap, or zero, or, where payload or padding may have left arbitrary bits in the last
//      lap (dirty_until), the producer has overwritten it with a header of lap 0, which no lap ever has.
//  I3  A packet is contiguous: where it would cross the end, a pad packet fills the rest.
// Pairs of release and acquire
//  R1  Producer::commit's store of a header  ->  Consumer::receive's load of it (the packet's content)
//  R2  Consumer::publish's store of released ->  Producer::refresh's load of it (the lines may be overwritten)
#pragma once

#include <am/impl/packet.hpp>

namespace am::impl {

/// The shared words beside a ring, each on the line of its one writer.
struct RingControl {
  alignas(line_bytes) std::atomic<std::uint64_t> released;  ///< consumer: lines handed back since the start
  alignas(line_bytes)
      std::atomic<std::uint32_t> watched;  ///< consumer: whether it looks at this ring in every poll (watch)
  alignas(line_bytes)
      std::atomic<std::uint32_t> starved;  ///< producer: 1 while it sleeps until lines are released
};

/// What RingControl::watched says.
namespace watch {
inline constexpr std::uint32_t off = 0;      ///< ring the doorbell
inline constexpr std::uint32_t on = 1;       ///< nothing to do
inline constexpr std::uint32_t briefly = 2;  ///< it may stop at any time: fence, and look again
}  // namespace watch

class Producer {
 public:
  Producer() = default;  // not connected: every claim fails, so the fast path needs no further question

  void connect(Packet* lines, std::uint32_t count, RingControl* control) noexcept {
    begin_ = next_ = lines;
    lap_ = 1;
    end_ = lines + count;
    control_ = control;
    limit_ = fast_limit_ = count;
  }
  [[nodiscard]] bool connected() const noexcept { return control_ != nullptr; }

  /// One line where nobody reserved the ring and no payload lay before; or nullptr: then ask claim_unless_reserved().
  [[nodiscard]] Packet* claim_line() noexcept { return head_ < fast_limit_ ? next_ : nullptr; }

  /// Room for a packet of `lines` in one piece, or nullptr while the ring is full. Claims nothing lasting: without a
  /// commit the next claim returns the same place. Requires 2 * lines <= ring size.
  [[nodiscard]] Packet* claim(std::size_t lines) noexcept;
  /// The same for who does not own what is reserved, as claim_line().
  [[nodiscard]] Packet* claim_unless_reserved(std::size_t lines) noexcept;
  /// Whether claim(lines) would succeed. Writes nothing: also while somebody fills in what was claimed last.
  [[nodiscard]] bool has_room(std::size_t lines) noexcept {
    return connected() && room_for(padding_before(lines) + lines + (must_clear(lines) ? 1 : 0));
  }

  /// Publishes the packet that the last claim returned; `header` is without lap.
  [[gnu::always_inline]] void commit(Packet* packet, Header header) noexcept {
    const std::size_t lines = header.lines();
    packet->header.store(header.with_lap(lap_).bits, std::memory_order_release);  // R1
    head_ += lines;
    next_ += lines;
    if (next_ == end_) wrap();
  }

  /// True while the consumer looks at this ring anyway and need not be told. Relaxed: a stale answer costs a delay,
  /// which the consumer's rotation bounds (src/transports/shm/inbox.hpp).
  [[nodiscard]] bool watched() const noexcept {
    return control_->watched.load(std::memory_order_relaxed) == watch::on;
  }

  /// While reserved, claim_line() and claim_unless_reserved() fail, so that nothing slips in between what its owner sends by
  /// claim().
  void reserve(bool reserved) noexcept {
    reserved_ = reserved;
    fast_limit_ = 0;  // the next claim() sets it anew
  }

  [[nodiscard]] RingControl& control() noexcept { return *control_; }
  /// Lines committed since the start: what was sent so far is released when RingControl::released says as many.
  [[nodiscard]] std::uint64_t position() const noexcept { return head_; }
  [[nodiscard]] std::size_t queued() const noexcept {
    return connected() ? head_ - control_->released.load(std::memory_order_relaxed) : 0;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(end_ - begin_); }

 private:
  void wrap() noexcept {
    next_ = begin_;
    if (++lap_ == 0) lap_ = 1;  // lap 0 is never used: it marks a line that is certainly not a packet
  }
  void dirty_from(std::uint64_t end) noexcept {
    dirty_until_ = end + capacity();
    fast_limit_ = 0;
  }
  void refresh() noexcept {
    limit_ = control_->released.load(std::memory_order_acquire) + capacity();  // R2
  }
  void clear_ahead(std::size_t lines) noexcept;
  [[nodiscard]] std::size_t padding_before(std::size_t lines) const noexcept {
    const auto to_end = static_cast<std::size_t>(end_ - next_);
    return lines > to_end ? to_end : 0;
  }
  [[nodiscard]] bool must_clear(std::size_t lines) const noexcept {
    return head_ < dirty_until_ || padding_before(lines) > 1;
  }
  [[nodiscard]] bool room_for(std::size_t lines) noexcept {
    if (head_ + lines <= limit_) return true;
    refresh();
    return head_ + lines <= limit_;
  }

  Packet* next_ = nullptr;
  Packet* end_ = nullptr;
  std::uint64_t head_ = 0;  // lines committed since the start
  std::uint64_t fast_limit_ =
      0;                   // limit_ while no line ahead can be dirty and nobody reserved the ring, else 0
  std::uint16_t lap_ = 0;  // of next_; never 0 once connected
  bool reserved_ = false;
  std::uint64_t limit_ = 0;        // lines that may be committed, as far as known
  std::uint64_t dirty_until_ = 0;  // positions before this may hold payload bits where a header is expected
  Packet* begin_ = nullptr;
  RingControl* control_ = nullptr;
};

/// I2: makes sure that whatever follows a packet of `lines` at next_ is not mistaken for one. The first line of the
/// ring needs no such care: every lap begins with a packet there. Always written, though one time in 65536 would do: the line
/// has to be fetched for the next packet anyway, and to look first was measured to cost 30 to 100 ns of a round trip.
inline void Producer::clear_ahead(std::size_t lines) noexcept {
  Packet* after = next_ + lines;
  if (after != end_) after->header.store(0, std::memory_order_relaxed);  // ordered before the commit by R1
}

inline Packet* Producer::claim(std::size_t lines) noexcept {
  if (!connected()) return nullptr;
  const std::size_t padding = padding_before(lines);
  const bool dirty = must_clear(lines);
  if (!room_for(padding + lines + (dirty ? 1 : 0))) return nullptr;
  if (padding != 0) commit(next_, Header::make(0, 0, padding - 1, flag::pad));
  if (dirty) {
    clear_ahead(lines);
  } else {
    fast_limit_ = reserved_ ? 0 : limit_;
  }
  if (lines > 1) dirty_from(head_ + lines);  // at once: a payload may be filled in and never be committed
  return next_;
}

// Out of line: sends of words alone do without.
[[gnu::noinline]] inline Packet* Producer::claim_unless_reserved(std::size_t lines) noexcept {
  return reserved_ ? nullptr : claim(lines);
}

class Consumer {
 public:
  Consumer() = default;

  void connect(Packet* lines, std::uint32_t count, RingControl* control,
               std::uint32_t publish_every) noexcept {
    begin_ = next_ = lines;
    lap_ = 1;
    end_ = lines + count;
    control_ = control;
    publish_every_ = publish_every;
  }
  [[nodiscard]] bool connected() const noexcept { return control_ != nullptr; }

  /// Whether receive() would find something. Relaxed: receive() looks again.
  [[nodiscard]] bool ready() const noexcept {
    return Header{next_->header.load(std::memory_order_relaxed)}.lap() == lap_;
  }

  /// Fetches a line some packets ahead, also across the end of the ring: for a burst, whose handlers would else wait for
  /// one line after the other.
  void prefetch() const noexcept {
    constexpr std::ptrdiff_t ahead = 12;
    const Packet* const line = end_ - next_ > ahead ? next_ + ahead : begin_ + (ahead - (end_ - next_));
    __builtin_prefetch(line);
  }

  /// The next packet and its header, read once, or nullptr. The same one until release(). A header whose lines would reach
  /// beyond the ring, which no producer writes, comes with flag::misfit; then the ring is not to be used any more.
  [[nodiscard]] const Packet* receive(Header& header) noexcept {
    for (;;) {
      header.bits = next_->header.load(std::memory_order_acquire);  // R1
      if (header.lap() != lap_) return nullptr;
      if (header.is_plain()) [[likely]]
        return next_;
      if (!fits(header, next_)) [[unlikely]]
        header = header.with_flag(flag::misfit);
      if ((header.flags() & (flag::pad | flag::misfit)) != flag::pad) return next_;
      advance(header.lines());
    }
  }
  /// Whether there is one.
  [[nodiscard]] bool has_packet() noexcept {
    Header header;
    return receive(header) != nullptr;
  }

  /// Whether a packet has come besides `lent`, which receive() returned and which was not released yet (null: none was).
  /// Only looks. Relaxed: what it finds is not read, receive() looks again.
  [[nodiscard]] bool waits(const Packet* lent) const noexcept {
    const Packet* at = next_;
    for (std::uint16_t lap = lap_;;) {
      const Header header{at->header.load(std::memory_order_relaxed)};
      if (header.lap() != lap) return false;
      if (((header.flags() & flag::pad) == 0 && at != lent) || !fits(header, at)) return true;
      at += header.lines();
      if (at == end_) {
        at = begin_;
        if (++lap == 0) lap = 1;
      }
    }
  }

  /// Gives up the packet that receive() returned. The credit goes back `publish_every` lines at a time; before that at
  /// the next publish(). True when the producer sleeps for want of it and has to be woken.
  bool release(std::size_t lines) noexcept {
    advance(lines);
    return taken_ - published_ >= publish_every_ && publish();
  }

  /// Hands the released lines back. Returns as release() does.
  bool publish() noexcept {
    if (published_ == taken_) return false;
    RingControl& control = *control_;
    published_ = taken_;
    control.released.store(taken_, std::memory_order_release);  // R2
    return control.starved.load(std::memory_order_relaxed) != 0;
  }

  /// The header that changes when the next packet comes.
  [[nodiscard]] const std::atomic<std::uint64_t>& next_header() const noexcept { return next_->header; }

  /// Lines received and released since the start: names the next packet among all that this ring ever carries.
  [[nodiscard]] std::uint64_t position() const noexcept { return taken_; }
  [[nodiscard]] RingControl& control() noexcept { return *control_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(end_ - begin_); }

 private:
  [[nodiscard]] bool fits(Header header, const Packet* at) const noexcept {
    return header.lines() <= static_cast<std::size_t>(end_ - at);
  }
  void advance(std::size_t lines) noexcept {
    next_ += lines;
    taken_ += lines;
    if (next_ == end_) {
      next_ = begin_;
      if (++lap_ == 0) lap_ = 1;
    }
  }

  Packet* next_ = nullptr;
  Packet* end_ = nullptr;
  std::uint16_t lap_ = 0;  // of next_; never 0 once connected
  std::uint32_t publish_every_ = 0;
  std::uint64_t taken_ = 0;      // lines received and released since the start
  std::uint64_t published_ = 0;  // of these, lines handed back
  Packet* begin_ = nullptr;
  RingControl* control_ = nullptr;
};

}  // namespace am::impl
