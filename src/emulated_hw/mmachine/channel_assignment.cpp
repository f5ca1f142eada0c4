#include "emulated_hw/mmachine/channel_assignment.hpp"

namespace am::mmachine {

namespace {

using enum MessageKind;

/// A channel that a kind may take that is not its own, unless one asks whose own it is, or that is preferred there.
struct Alternate {
  std::size_t channel;
  MessageKind yields_to;
};
constexpr std::array for_p1_unordered = {Alternate{2, p0_unordered}, Alternate{1, p1_ordered},
                                         Alternate{0, p0_ordered}};
constexpr std::array for_p0_unordered = {Alternate{3, p1_unordered}, Alternate{0, p0_ordered}};

class Assigning {
 public:
  explicit Assigning(const ChannelRequests& requests) noexcept : requests_(requests), free_(requests.free) {}

  void give(MessageKind kind, std::size_t channel) noexcept {
    std::optional<std::size_t>& given = given_[static_cast<std::size_t>(kind)];
    if (!requests_.is_asked_by(kind) || given || !free_[channel]) return;
    free_[channel] = false;
    given = channel;
  }
  template <std::size_t N>
  void give_alternates(MessageKind kind, const std::array<Alternate, N>& alternates) noexcept {
    for (const Alternate& alternate : alternates) {
      if (!requests_.is_asked_by(alternate.yields_to)) give(kind, alternate.channel);
    }
  }
  [[nodiscard]] const ChannelAssignment& given() const noexcept { return given_; }

 private:
  const ChannelRequests& requests_;
  std::array<bool, most_channels> free_;
  ChannelAssignment given_{};
};

}  // namespace

ChannelAssignment assign_channels(const ChannelRequests& requests) noexcept {
  Assigning assigning(requests);
  assigning.give(p1_unordered, own_channel(p1_unordered));
  if (requests.escape) assigning.give(p1_unordered, own_channel(p1_ordered));
  for (const MessageKind kind : {p0_ordered, p1_ordered, p0_unordered})
    assigning.give(kind, own_channel(kind));
  assigning.give_alternates(p1_unordered, for_p1_unordered);
  assigning.give_alternates(p0_unordered, for_p0_unordered);
  return assigning.given();
}

}  // namespace am::mmachine
