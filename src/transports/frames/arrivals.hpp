// What came and was not released yet: messages of all peers, by priority, in the order in which they came; and the memory that
// sockets are read into, where they stay until then.
//
// Bounded by the credits of the links (window.hpp): that is why everything that comes may be read at once, and a priority that is
// not received holds up no other. A frame that stays long does not hold the memory of others: when all blocks are in use, what
// is left in the oldest is copied out of it.
//
// Used by whoever is in the node.
#pragma once

#include <algorithm>
#include <am/impl/link.hpp>
#include <am/impl/packet.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/frames/block.hpp"

namespace am::frames {

class Arrivals {
 public:
  /// One message, as it came.
  struct Message {
    NodeId from = 0;
    NodeId origin = 0;
    impl::Header head{};
    std::span<const std::byte> frame{};  ///< without the payload, where that lies elsewhere
    Payload payload{};
    Block block{};  ///< in which the frame lies; no other one does, where the payload lies elsewhere
  };

  explicit Arrivals(NodeId nodes) : deferred_(impl::link_count(nodes)) {}

  /// Memory to read into: at least `least_room` bytes, at an address that is a multiple of 64. It may hold frames afterwards, of
  /// which add() is told, and is used for the next bytes behind them, from filled() on.
  struct Room {
    Block block;
    std::span<std::byte> bytes;
  };
  [[nodiscard]] Room room();
  void filled(const Room& room, std::size_t bytes) noexcept;
  /// Memory for one frame that does not fit there.
  [[nodiscard]] Block block(std::size_t bytes) { return long_blocks_.get(bytes); }
  static constexpr std::size_t least_room = 32 * 1024;
  /// Copies what lies in that block, and is not lent, out of it.
  void empty(const Block& block);

  void add(Priority priority, Message message) {
    Queue& queue = queues_[index(priority)];
    queue.messages.push_back(std::move(message));
    ++queue.live;
  }

  /// The next message, or null: the same one until release or defer. What it points to is gone with the next add().
  [[nodiscard]] const Message* receive(Priority priority) noexcept {
    Queue& queue = queues_[index(priority)];
    return queue.live == 0 ? nullptr : next_of(queue, priority);
  }
  void release(Priority priority) noexcept;
  /// Leaves it, and all from the same node, until the next round.
  void defer(Priority priority) noexcept;
  /// Of each priority of which nothing is lent: what comes behind that must not overtake what was deferred.
  void begin_round() noexcept {
    for (Queue& queue : queues_)
      if (queue.live != 0) begin_round_of(queue);
  }

  /// Whether there is one besides that which receive() gave (`lent`).
  [[nodiscard]] bool waits(Priority priority, bool lent) const noexcept {
    return queues_[index(priority)].live > (lent ? 1u : 0u);
  }
  /// Whether there is nothing at all.
  [[nodiscard]] bool is_empty() const noexcept { return queues_[0].live == 0 && queues_[1].live == 0; }
  /// Whether something waits that was neither lent nor deferred, as far as one sees at a glance.
  [[nodiscard]] bool any_to_run() const noexcept {
    return std::ranges::any_of(
        queues_, [](const Queue& queue) { return !queue.deferred && queue.live > (queue.lent ? 1u : 0u); });
  }
  /// Whether receive() would find one in this round.
  [[nodiscard]] bool any(Priority priority) const noexcept;

 private:
  static constexpr std::size_t block_bytes = 256 * 1024;
  static constexpr std::size_t most_blocks = 4;  // two may hold what is lent, one for each priority

  struct Queue {
    std::vector<Message> messages;  // those that were released have no block
    std::size_t first = 0;          // all before it were released
    std::size_t at = 0;             // where receive looks next; what it gave is there
    std::size_t live = 0;           // not released
    bool lent = false;
    bool deferred = false;  // one was, in this round
    std::uint64_t round = 1;
  };
  static std::size_t index(Priority priority) noexcept { return static_cast<std::size_t>(priority); }
  [[nodiscard]] bool is_deferred(NodeId node, Priority priority) const noexcept {
    return deferred_[impl::link_index(node, priority)] == queues_[index(priority)].round;
  }
  [[nodiscard]] const Message* next_of(Queue& queue, Priority priority) noexcept;
  static void begin_round_of(Queue& queue) noexcept;
  static void forget(Queue& queue);
  void use_another_block();

  std::vector<Block> blocks_;  // the first is read into; the others are older, the oldest last
  std::size_t filled_ = 0;     // bytes of the first
  LongBlocks long_blocks_;
  Queue queues_[2];                      // by priority
  std::vector<std::uint64_t> deferred_;  // by link: the last round in which it was
};

}  // namespace am::frames
