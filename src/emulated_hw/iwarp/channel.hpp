// Logical channels, as a cell's communication agent keeps them (Borkar et al. 1990, 5).
//
// "A logical channel is referred to as a logical output channel for the transmitter and as a logical input channel for the receiver. Each
// logical input channel has a dedicated queue." An input channel is allocated to a bus, or is the cell's own: what its program or its memory
// agent sends comes from there.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "emulated_hw/iwarp/word.hpp"
#include "emulated_hw/kit/fifo.hpp"

namespace am::iwarp {

using Channel = std::uint8_t;
inline constexpr Channel no_channel = std::numeric_limits<Channel>::max();
inline constexpr unsigned most_channels = 20;  ///< input channels of a cell, and output channels
inline constexpr unsigned queue_words = 8;

/// A channel of some cell.
struct ChannelEnd {
  CellNumber cell = kit::nowhere;
  Channel channel = no_channel;
};

/// Channels that are allocated to a bus, by pool.
struct Share {
  unsigned reservation = 2;
  unsigned open = 1;
  unsigned open_over_edge = 1;
  [[nodiscard]] constexpr unsigned of(Pool pool) const noexcept {
    return pool == Pool::reservation ? reservation : pool == Pool::open ? open : open_over_edge;
  }
};
/// The static allocation: by wire. A cell's other input channels are its own.
using Allocation = std::vector<Share>;

struct Input {
  enum class State : std::uint8_t {
    idle,
    passes,     ///< a pathway, on to an output
    ends_here,  ///< a pathway, for the program: or, by a link, on to another pathway
    discards,   ///< a pathway that is lost
    own
  };
  struct Queued {
    Word word{};
    Cycle came = 0;
  };

  std::optional<Direction> bus{};  ///< or none: the cell's own
  ChannelEnd from{};               ///< the transmitter's end
  State state = State::idle;
  kit::Fifo<Queued, queue_words> queue{};
  Cycle head_since = 0;                ///< when the first word became the first
  Cycle joined_at = 0;                 ///< nothing leaves before
  Channel out = no_channel;            ///< by the crossbar
  Channel default_out = no_channel;    ///< of a joint
  CellNumber origin = kit::nowhere;    ///< of its pathway
  bool is_in_use = false;              ///< own: somebody sends by it
  bool is_bound = false;               ///< a gate takes its words
  bool is_split = false;               ///< from its default output: the program has a message
  bool turns_head_into_begin = false;  ///< at a corner
  bool is_announced = false;           ///< its first word
};

struct Output {
  Direction bus{};
  Pool pool{};
  ChannelEnd to{};
  unsigned room = 0;         ///< free slots of the queue there: the count that the transmitter keeps
  bool is_assigned = false;  ///< to a pathway
  bool is_joint = false;     ///< messages of several inputs take turns
  bool is_in_message = false;
  Channel owner = no_channel;   ///< the input whose pathway it is
  Channel holder = no_channel;  ///< the input whose words it takes now
  std::uint64_t carried = 0;    ///< words
};

}  // namespace am::iwarp
