// Payloads that the network does not take at once (Transport::claim): cut by the sender, put together by the receiver.
//
// On the network such a message is a row of `more` packets (as much as the network takes; words[0] is the total) and one
// `last` packet with handler, words and the rest. Nothing else goes between them on that link and priority: while a row is under way
// every other send there answers `again`. So a receiver has at most one half-built payload per neighbour and priority. (What was sent
// before, unordered, may still come between them.)
//
// Memory: a sender that may wait cuts straight out of the caller's bytes. One that may not wait keeps a copy of the one
// message that is under way per peer and priority, and sends it on in later polls. A receiver holds one payload per
// neighbour and priority, and of all together what its budget allows.
#pragma once

#include <algorithm>
#include <am/impl/link.hpp>
#include <am/impl/out_message.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/modes/event_memory.hpp"
#include "transports/transport.hpp"

namespace am::core {

/// Publishes a message's only packet, or its last one (flag::last), whose `payload_bytes` are written already.
inline void commit_message(Transport& network, const Transport::Slot& slot, const impl::OutMessage& message,
                           std::size_t payload_bytes, std::uint16_t flags = 0) noexcept {
  impl::Packet& packet = *slot.packet;
  packet.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  packet.origin = message.origin;
  std::copy_n(message.word, message.words, packet.words);
  if (payload_bytes != 0) flags |= impl::flag::payload;
  flags |= message.flags;
  network.commit(slot, impl::Header::make(message.handler, message.words, 0, flags));
}

/// Cuts one long message into packets, as many as the network takes at a time.
class Row {
 public:
  explicit Row(const impl::OutMessage& message) noexcept : message_(message) {}

  /// Sends what the network takes. ok: all of it is gone; again: call again; unreachable: drop it.
  Status push(Transport& network) noexcept;
  /// What the last push() answered.
  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] std::size_t sent() const noexcept { return sent_; }  ///< bytes of the payload so far
  [[nodiscard]] const impl::OutMessage& message() const noexcept { return message_; }
  /// From now on the payload is cut from these bytes, a copy of it.
  void read_from(const std::byte* bytes) noexcept {
    message_.payload = Payload(bytes, message_.payload.size());
  }

 private:
  Status push_all(Transport& network) noexcept;

  impl::OutMessage message_;
  std::size_t sent_ = 0;  // bytes of the payload
  Status status_ = Status::again;
};

/// The links that something holds: a draft, or the row of a long message. Nothing else may be sent there meanwhile.
///
/// Whoever polls or waits sends all rows on, also those of a waiting sender that it interrupted: a low handler that runs
/// in the middle of a long send to B may wait to reply to B.
class Outgoing {
 public:
  explicit Outgoing(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : links_(memory) {}

  [[nodiscard]] bool busy(NodeId to, Priority priority) const noexcept {
    return !links_.empty() && links_.contains(impl::link_index(to, priority));
  }
  /// A draft takes and leaves its link.
  void begin(NodeId to, Priority priority) { links_.emplace(impl::link_index(to, priority), Held{}); }
  void end(NodeId to, Priority priority) noexcept { links_.erase(impl::link_index(to, priority)); }
  /// The row of a waiting sender, who owns it and looks at its status(); its link is free again when that is not `again`.
  void lend(Row& row);
  /// Takes over a row together with `bytes`, the copy of its payload that it is cut from.
  void keep(EventBytes bytes, const Row& row);
  /// The same for a row that is cut from bytes that others are cut from, too.
  void keep_shared(SharedBytes bytes, const Row& row);
  /// Sends the rows on; calls done(to, priority) for each link that becomes free. True when something moved.
  bool push(Transport& network, const std::function<void(NodeId, Priority)>& done);
  [[nodiscard]] bool empty() const noexcept { return links_.empty(); }
  /// Whether a long message is under way; a draft, that is held only, is none.
  [[nodiscard]] bool has_rows() const noexcept;

 private:
  struct Held {
    Row* row = nullptr;  // null: a draft's
    EventBytes bytes{};  // of a kept one
    SharedBytes shared{};
    std::optional<Row> kept{};
  };

  std::pmr::unordered_map<std::size_t, Held> links_;
};

/// Half-built payloads of one node, by neighbour and priority. Of each priority there are as many at a time as the budget has
/// room for, and one in any case: the others stay in the network, with all that their senders send behind them.
class Assembler {
 public:
  /// later: what is half-built has to be finished first; the packet is to be deferred, as for no_memory.
  enum class Outcome { taken, later, no_memory, malformed };

  static constexpr std::size_t budget_bytes = std::size_t{64} << 20;

  explicit Assembler(std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                     std::size_t budget = budget_bytes)
      : memory_(*memory), budget_(budget), open_(memory) {}

  /// A `more` packet of a payload of `total` bytes: adds its piece. `counts`: whether the budget is asked, which nobody is to
  /// wait for who has gone, or whose messages are dropped.
  Outcome add(const Transport::View& view, std::uint64_t total, Payload piece, bool counts);
  /// The `last` packet, with its piece: becomes the whole payload, valid until done(), if the row is well-formed.
  [[nodiscard]] Outcome complete(const Transport::View& view, Payload& payload);
  void done(const Transport::View& view) noexcept;
  /// `source` has gone: nobody is to wait for what it has begun.
  void lose(NodeId source) noexcept;

 private:
  struct Open {
    EventBytes bytes;
    std::size_t total = 0;
    std::size_t have = 0;
    bool complete = false;
    bool counts = true;  // in in_use_
  };
  Outcome begin(const Transport::View& view, std::size_t total, bool counts);
  [[nodiscard]] std::size_t& in_use(Priority priority) noexcept {
    return in_use_[static_cast<std::size_t>(priority)];
  }
  static Outcome append(Open& open, Payload piece) noexcept;

  std::pmr::memory_resource& memory_;
  const std::size_t budget_;
  std::size_t in_use_[2] = {};  // bytes, by priority: low must not hold up high
  std::pmr::unordered_map<std::size_t, Open> open_;
};

}  // namespace am::core
