// Payloads beyond one packet: cut by the sender, put together by the receiver.
//
// On the network a long message is a row of `more` packets (full pieces; words[0] is the total) and one `last` packet
// with handler, words and the rest. Nothing else goes between them on that link and priority: while a row is under way
// every other send there answers `again`. So a receiver has at most one half-built payload per neighbour and priority.
//
// Memory: a sender that may wait cuts straight out of the caller's bytes. One that may not wait keeps a copy of the one
// message that is under way per peer and priority, and sends it on in later polls. A receiver holds one payload per
// neighbour and priority, as long as it needs.
#pragma once

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
    return !links_.empty() && links_.contains(key(to, priority));
  }
  /// A draft takes and leaves its link.
  void begin(NodeId to, Priority priority) { links_.emplace(key(to, priority), Held{}); }
  void end(NodeId to, Priority priority) noexcept { links_.erase(key(to, priority)); }
  /// The row of a waiting sender, who owns it and looks at its status(); its link is free again when that is not `again`.
  void lend(Row& row);
  /// Takes over a row together with `bytes`, the copy of its payload that it is cut from.
  void keep(EventBytes bytes, const Row& row);
  /// Sends the rows on; calls done(to, priority) for each link that becomes free. True when something moved.
  bool push(Transport& network, const std::function<void(NodeId, Priority)>& done);
  [[nodiscard]] bool empty() const noexcept { return links_.empty(); }
  /// Whether a long message is under way; a draft, that is held only, is none.
  [[nodiscard]] bool has_rows() const noexcept;

 private:
  struct Held {
    Row* row = nullptr;  // null: a draft's
    EventBytes bytes{};  // of a kept one
    std::optional<Row> kept{};
  };
  static std::uint64_t key(NodeId to, Priority priority) noexcept {
    return 2 * std::uint64_t{to} + static_cast<std::uint64_t>(priority);
  }

  std::pmr::unordered_map<std::uint64_t, Held> links_;
};

/// Half-built payloads of one node, by neighbour and priority.
class Assembler {
 public:
  enum class Outcome { taken, no_memory, malformed };

  explicit Assembler(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : memory_(*memory), open_(memory) {}

  /// A `more` packet: adds its piece.
  Outcome add(const Transport::View& view, Payload piece);
  /// The `last` packet, with its piece: becomes the whole payload, valid until done(), if the row is well-formed.
  [[nodiscard]] Outcome complete(const Transport::View& view, Payload& payload);
  void done(const Transport::View& view) noexcept { open_.erase(key(view)); }

 private:
  struct Open {
    EventBytes bytes;
    std::size_t total = 0;
    std::size_t have = 0;
    bool complete = false;
  };
  static std::uint64_t key(const Transport::View& view) noexcept {
    return 2 * std::uint64_t{view.source} + static_cast<std::uint64_t>(view.priority);
  }
  static Outcome append(Open& open, Payload piece) noexcept;

  std::pmr::memory_resource& memory_;
  std::pmr::unordered_map<std::uint64_t, Open> open_;
};

}  // namespace am::core
