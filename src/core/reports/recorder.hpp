// What a node runs now and ran last, on its card, for reports from outside: by another thread, another process, or after
// the node has crashed.
//
// Which message is handled stands there always: it is the word by which the engine itself remembers it (HandledMessages). So
// does which of the rarer events runs. What ran last, and how many, is written only where a watchdog is asked for: three
// stores more for each event.
//
// Written by whoever is in the node; readers may see an event that has just ended. Posted work and what the program does
// about a peer's death run outside the node, but are recorded before it is left.
#pragma once

#include <algorithm>
#include <am/impl/event_state.hpp>
#include <am/impl/packet.hpp>
#include <am/impl/traffic.hpp>

#include "host/board.hpp"

namespace am::core {

/// One event, as it lies on the card. Zero: none.
struct RecordedEvent {
  enum class Kind : std::uint8_t { none, low_message, high_message, timelet, outlet, posted, peer_death };
  static constexpr std::size_t most_bytes = (1u << 20) - 1;
  static constexpr impl::HandlerId default_handler = 0xffff;  ///< no handler has this number

  Kind kind = Kind::none;
  impl::HandlerId handler = 0;
  NodeId from = 0;
  std::size_t bytes = 0;  ///< arguments and payload, at most most_bytes

  [[nodiscard]] constexpr bool is_message() const noexcept {
    return kind == Kind::low_message || kind == Kind::high_message;
  }
  /// `bytes`: of arguments and payload.
  [[gnu::always_inline]] static RecordedEvent of_message(Priority priority, impl::HandlerId handler,
                                                         NodeId from, std::size_t bytes) noexcept {
    return {priority == Priority::low ? Kind::low_message : Kind::high_message, handler, from, bytes};
  }
  [[nodiscard]] constexpr std::uint64_t packed() const noexcept {
    return std::uint64_t{handler} | std::uint64_t{from & 0xffff} << 16 |
           std::uint64_t{std::min(bytes, most_bytes)} << 32 |
           std::uint64_t{static_cast<std::uint8_t>(kind)} << 56;
  }
  static constexpr RecordedEvent unpacked(std::uint64_t bits) noexcept {
    return {static_cast<Kind>(bits >> 56), static_cast<impl::HandlerId>(bits),
            static_cast<NodeId>(bits >> 16 & 0xffff), static_cast<std::size_t>(bits >> 32 & most_bytes)};
  }
};

constexpr impl::Level level_of(Priority priority) noexcept {
  return priority == Priority::low ? impl::Level::low : impl::Level::high;
}

/// The message whose handler runs, by priority. Its packet is named by the address that it has for the node itself, which
/// costs the message path nothing; onlookers find it by the card's `mapped_at` (job_watch.cpp).
class HandledMessages {
 public:
  static constexpr std::uint64_t by_default_handler = 1;  ///< a bit of the word: packets lie at whole lines

  explicit HandledMessages(host::NodeCard& card) noexcept : words_(card.handled) {}

  void set(Priority priority, const impl::Packet& packet, std::uint64_t bits = 0) const noexcept {
    words_[static_cast<std::size_t>(priority)].store(reinterpret_cast<std::uintptr_t>(&packet) | bits,
                                                     std::memory_order_relaxed);
  }
  void clear(Priority priority) const noexcept {
    words_[static_cast<std::size_t>(priority)].store(0, std::memory_order_relaxed);
  }
  /// By priority; null: none.
  [[nodiscard]] const impl::Packet* operator[](std::size_t priority) const noexcept {
    const std::uint64_t word = words_[priority].load(std::memory_order_relaxed);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the card is shared, it holds numbers only
    return reinterpret_cast<const impl::Packet*>(word & ~by_default_handler);
  }

 private:
  std::atomic<std::uint64_t>* const words_;
};

class Recorder {
 public:
  /// `everything`: messages, too, and what ran last.
  Recorder(host::NodeCard& card, bool everything) noexcept : card_(card), everything_(everything) {}

  /// An event of a level runs, or work of the program at the level of computation, as long as one lives.
  class Running {
   public:
    Running(const Recorder& recorder, impl::Level level, RecordedEvent event) noexcept {
      if (event.is_message() && !recorder.everything_) [[likely]]
        return;
      running_ = &recorder.card_.running[static_cast<std::size_t>(level)];
      before_ = running_->load(std::memory_order_relaxed);
      recorder.begin(*running_, event.packed());
    }
    ~Running() {
      if (running_ != nullptr) [[unlikely]]
        running_->store(before_, std::memory_order_relaxed);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    std::atomic<std::uint64_t>* running_ = nullptr;
    std::uint64_t before_ = 0;  // posted work that waits may be told of a death meanwhile
  };

 private:
  void begin(std::atomic<std::uint64_t>& running, std::uint64_t event) const noexcept {
    running.store(event, std::memory_order_relaxed);
    if (!everything_) return;
    const std::uint64_t number = card_.events.load(std::memory_order_relaxed);
    card_.recent[number % host::recent_events].store(event, std::memory_order_relaxed);
    card_.events.store(number + 1, std::memory_order_release);  // after its entry
  }

  host::NodeCard& card_;
  const bool everything_;
};

}  // namespace am::core
