// Credits of one link, in bytes of memory that its messages may cost the receiver, counted from its beginning on both sides: how
// much may be on its way, or there and not released. The receiver can always take in that much, so it reads everything that
// comes; that is why a priority that stands still holds up no other on the same connection.
#pragma once

#include <cstddef>
#include <cstdint>

namespace am::frames {

/// For each peer and priority: two of the longest messages, or some 7000 short ones.
inline constexpr std::uint64_t window_bytes = (2 * 1024 + 64) * 1024;
/// What a message costs: its frame, and what its receiver has to remember of it.
[[nodiscard]] constexpr std::uint64_t credit_of(std::size_t frame_bytes) noexcept {
  return frame_bytes + 256;
}

/// At the sender.
class OutWindow {
 public:
  [[nodiscard]] bool has_room(std::size_t frame_bytes) const noexcept {
    return unreleased() + credit_of(frame_bytes) <= window_bytes;
  }
  void sent(std::size_t frame_bytes) noexcept { sent_ += credit_of(frame_bytes); }
  /// The receiver says that it has released so many, since the beginning. False when that cannot be.
  [[nodiscard]] bool released(std::uint64_t bytes) noexcept {
    if (bytes < released_ || bytes > sent_) return false;
    released_ = bytes;
    return true;
  }
  [[nodiscard]] std::uint64_t unreleased() const noexcept { return sent_ - released_; }

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t released_ = 0;
};

/// At the receiver.
class InWindow {
 public:
  /// False when the sender had no credit for that.
  [[nodiscard]] bool received(std::size_t frame_bytes) noexcept {
    received_ += credit_of(frame_bytes);
    return received_ - released_ <= window_bytes;
  }
  void released(std::size_t frame_bytes) noexcept { released_ += credit_of(frame_bytes); }
  /// Whether the sender is to hear of it soon, even if nothing else goes there.
  [[nodiscard]] bool is_due() const noexcept { return released_ - told_ >= window_bytes / 4; }
  /// Whether the sender has not heard of all: it does when this node has slept in vain, so that who reports what nobody takes
  /// reports no more than that.
  [[nodiscard]] bool has_news() const noexcept { return released_ != told_; }
  /// Whether the sender hears of it with the next that goes there anyway: each word of it takes both ends as long as a short message.
  [[nodiscard]] bool rides_along() const noexcept { return released_ - told_ >= window_bytes / 256; }
  /// What is to be said; it counts as said.
  [[nodiscard]] std::uint64_t tell() noexcept { return told_ = released_; }

 private:
  std::uint64_t received_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace am::frames
