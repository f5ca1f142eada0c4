// What a node runs now and ran last, on its card, for reports from outside: by another thread, another process, or after
// the node has crashed. Off unless a watchdog is asked for; then two stores before each event and one after it.
//
// Written by whoever is in the node; readers may see an event that has just ended.
#pragma once

#include <algorithm>
#include <am/impl/packet.hpp>
#include <am/impl/traffic.hpp>

#include "transports/shm/layout.hpp"

namespace am::core {

/// One event, as it lies on the card. Zero: none.
struct RecordedEvent {
  enum class Kind : std::uint8_t { none, low_message, high_message, timelet, outlet };
  static constexpr std::size_t most_bytes = (1u << 20) - 1;

  Kind kind = Kind::none;
  impl::HandlerId handler = 0;
  NodeId from = 0;
  std::size_t bytes = 0;  ///< arguments and payload, at most most_bytes

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

class Recorder {
 public:
  /// Null: off.
  explicit Recorder(shm::NodeCard* card) noexcept : card_(card) {}

  /// An event of a level runs, as long as one lives.
  class Running {
   public:
    Running(const Recorder& recorder, Priority level, RecordedEvent event) noexcept
        : running_(recorder.begin(level, event)) {}
    ~Running() {
      if (running_ != nullptr) [[unlikely]]
        running_->store(0, std::memory_order_relaxed);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    std::atomic<std::uint64_t>* const running_;
  };

 private:
  std::atomic<std::uint64_t>* begin(Priority level, const RecordedEvent& event) const noexcept {
    if (card_ == nullptr) [[likely]]
      return nullptr;
    const std::uint64_t number = card_->events.load(std::memory_order_relaxed);
    const std::uint64_t bits = event.packed();
    std::atomic<std::uint64_t>& running = card_->running[static_cast<std::size_t>(level)];
    running.store(bits, std::memory_order_relaxed);
    card_->recent[number % shm::recent_events].store(bits, std::memory_order_relaxed);
    card_->events.store(number + 1, std::memory_order_release);  // after its entry
    return &running;
  }

  shm::NodeCard* card_;
};

}  // namespace am::core
