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

/// P0 is for requests, P1 for replies.
enum class Priority : std::uint8_t { p0, p1 };
inline constexpr unsigned priorities = 2;
constexpr std::size_t index(Priority priority) noexcept { return static_cast<std::size_t>(priority); }

/// By priority, and whether its order is to be kept.
enum class MessageKind : std::uint8_t { p0_ordered, p1_ordered, p0_unordered, p1_unordered };
inline constexpr unsigned message_kinds = 4;
constexpr std::size_t index(MessageKind kind) noexcept { return static_cast<std::size_t>(kind); }
constexpr MessageKind kind_of(Priority priority, bool ordered) noexcept {
  return static_cast<MessageKind>(index(priority) + (ordered ? 0 : priorities));
}
constexpr Priority priority_of(MessageKind kind) noexcept {
  return static_cast<Priority>(index(kind) % priorities);
}
constexpr bool is_ordered(MessageKind kind) noexcept { return index(kind) < priorities; }

/// The channel that is its own.
[[nodiscard]] constexpr std::size_t own_channel(MessageKind kind) noexcept { return index(kind); }

struct ChannelRequests {
  std::array<bool, message_kinds> asks{};  ///< by kind
  std::array<bool, most_channels> free{};  ///< by channel; one that there is not is never free
  bool escape = false;                     ///< an unordered message of priority 1 has lost too often (Escape)

  [[nodiscard]] constexpr bool is_asked_by(MessageKind kind) const noexcept { return asks[index(kind)]; }
};
/// By kind: the channel that it is given.
using ChannelAssignment = std::array<std::optional<std::size_t>, message_kinds>;
[[nodiscard]] inline ChannelAssignment assign_channels(const ChannelRequests& requests) noexcept {
  using enum MessageKind;
  ChannelAssignment given{};
  std::array<bool, most_channels> free = requests.free;
  const auto give = [&](MessageKind kind, std::size_t channel) {
    if (!requests.is_asked_by(kind) || given[index(kind)] || !free[channel]) return;
    free[channel] = false;
    given[index(kind)] = channel;
  };
  // One that is not its own, unless one asks whose own it is, or that is preferred there.
  const auto give_other = [&](MessageKind kind, std::size_t channel, MessageKind yields_to) {
    if (!requests.is_asked_by(yields_to)) give(kind, channel);
  };
  give(p1_unordered, own_channel(p1_unordered));
  if (requests.escape) give(p1_unordered, own_channel(p1_ordered));
  for (const MessageKind kind : {p0_ordered, p1_ordered, p0_unordered}) give(kind, own_channel(kind));
  give_other(p1_unordered, 2, p0_unordered);
  give_other(p1_unordered, 1, p1_ordered);
  give_other(p1_unordered, 0, p0_ordered);
  give_other(p0_unordered, 3, p1_unordered);
  give_other(p0_unordered, 0, p0_ordered);
  return given;
}

/// Counts how often unordered messages of priority 1 have lost channel 1 to ordered ones, one after the other: after 16 times they are
/// preferred there. `Count` is a number.
template <class Count>
class EscapeOf {
 public:
  [[nodiscard]] bool is_due() const noexcept { return losses_ >= most_losses; }
  void saw(const ChannelRequests& requests, const ChannelAssignment& given) noexcept {
    const auto is_given = [&](MessageKind kind) { return given[index(kind)].has_value(); };
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
