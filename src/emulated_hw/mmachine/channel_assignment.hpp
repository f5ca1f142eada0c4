// Which virtual channel of the next router a message takes, in the M-Machine: ordered messages their own one, so that nothing on their
// way overtakes them; the others whatever is free, without taking from those whose own it is. A pure function of who asks and of
// what is free: of several messages of one kind the router's arbiter has chosen one before.
//
// No kind can be starved: each has a channel that is its own as soon as it is free. (With two channels unordered ones have none: the
// prototype's, in which ordered ones may starve them.)
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.3 with its two tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace am::mmachine {

inline constexpr unsigned most_channels = 4;

/// By priority, and whether its order is to be kept.
enum class MessageKind : std::uint8_t { p0_ordered, p1_ordered, p0_unordered, p1_unordered };
inline constexpr unsigned message_kinds = 4;

/// The channel that is its own.
[[nodiscard]] constexpr std::size_t own_channel(MessageKind kind) noexcept {
  return static_cast<std::size_t>(kind);
}

struct ChannelRequests {
  std::array<bool, message_kinds> asks{};  ///< by kind
  std::array<bool, most_channels> free{};  ///< by channel; one that there is not is never free
  bool escape = false;                     ///< an unordered message of priority 1 has lost too often (Escape)

  [[nodiscard]] constexpr bool is_asked_by(MessageKind kind) const noexcept {
    return asks[static_cast<std::size_t>(kind)];
  }
};
/// By kind: the channel that it is given.
using ChannelAssignment = std::array<std::optional<std::size_t>, message_kinds>;
[[nodiscard]] ChannelAssignment assign_channels(const ChannelRequests& requests) noexcept;

/// Counts how often unordered messages of priority 1 have lost channel 1 to ordered ones, one after the other: after 16 times they are
/// preferred there. `Count` is a number.
template <class Count>
class EscapeOf {
 public:
  [[nodiscard]] bool is_due() const noexcept { return losses_ >= most_losses; }
  void saw(const ChannelRequests& requests, const ChannelAssignment& given) noexcept {
    const auto is_given = [&](MessageKind kind) { return given[static_cast<std::size_t>(kind)].has_value(); };
    if (!requests.is_asked_by(MessageKind::p1_unordered) || is_given(MessageKind::p1_unordered)) {
      losses_ = 0;
    } else if (is_given(MessageKind::p1_ordered)) {
      losses_ = losses_ + 1;
    }
  }
  /// The same where an unordered one of priority 1 alone has asked, and got a channel.
  void goes_alone() noexcept {
    if (losses_ != 0) losses_ = 0;
  }

 private:
  static constexpr unsigned most_losses = 16;
  Count losses_{};
};
using Escape = EscapeOf<unsigned>;

}  // namespace am::mmachine
