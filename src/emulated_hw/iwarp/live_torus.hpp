// The iWarp live: the routers of its open pool in memory that the processes of a job share (kit/live_network.hpp), and the channels of the
// reservation pool, which pathways have for themselves (Borkar et al. 1990, 5.1, 6.1, 6.2).
//
// A message is a routing message: set-up, words and dismantling in one (6.2). It goes along its row, then along its column, round the torus
// by the shorter way, and moves as a whole, whatever its size. Low and high messages have channels of their own, and of each two classes: so
// none waits for another in a circle (kit/dimension_order.hpp), and low ones hold up no high ones.
//
// A pathway has a channel of the reservation pool on each link of its way: all or none. Who asks takes them one after the other by
// compare-and-swap, and gives back what it has where there is none left. A channel names its owner, so those of a node that is gone are free.
//
// Assumed: four channels of a link for pathways, beside four of the open pool; the way of a message is that of a pathway.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/kit/live_ends_network.hpp"
#include "emulated_hw/kit/live_grid.hpp"

namespace am::iwarp {

enum class Counted : std::uint8_t { low, high };
inline constexpr unsigned kinds_of_counted = 2;

/// What travels: a word for a message, which lies where its sender wrote it.
struct LiveMessage {
  kit::NodeNumber destination = 0;
  kit::NodeNumber source = 0;
  Counted priority = Counted::low;

  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    return destination | source << 10 | static_cast<std::uint32_t>(priority) << 20;
  }
  static constexpr LiveMessage of(std::uint32_t bits) noexcept {
    return {bits & 1023, bits >> 10 & 1023, static_cast<Counted>(bits >> 20 & 1)};
  }
  [[nodiscard]] constexpr Counted counted() const noexcept { return priority; }
};

// Channels of a router, by port: of each priority two classes. Port 0 is the node's own.
inline constexpr unsigned live_vcs = 4;
inline constexpr unsigned live_ports = 5;
inline constexpr unsigned live_channels = live_ports * live_vcs;
static_assert(live_channels < kit::Head::most_ends);
constexpr unsigned live_channel(unsigned port, Counted priority, unsigned of_class) noexcept {
  return port * live_vcs + 2 * static_cast<unsigned>(priority) + of_class;
}
inline constexpr unsigned live_pathways = 4;  ///< channels of a link for these: assumed

/// With the owners of the reservation pool's channels, by port: 1 + a node, or 0.
struct LiveTurns : kit::LiveTurns {
  std::array<std::array<std::atomic<std::uint32_t>, live_pathways>, live_ports> owners;
};
using LiveRouter = kit::LiveInputs<live_channels, LiveTurns, kit::HeldChannel>;

class LiveTorus final : public kit::LiveGrid<live_vcs, live_channels>,
                        public kit::LiveEndsNetwork<LiveTorus, LiveRouter, LiveMessage> {
 public:
  static constexpr std::uint32_t number = 5;  ///< of this machine, in shared memory

  [[nodiscard]] static kit::Grid grid_of(const kit::Extents& extents) {
    return kit::Grid({kit::Grid::Dimension{extents.columns, true}, kit::Grid::Dimension{extents.rows, true}});
  }
  /// `memory`: aligned to 64 bytes; as `nodes`, it outlives this.
  LiveTorus(const kit::Extents& extents, std::byte* memory, Nodes& nodes)
      : LiveGrid(grid_of(extents)), LiveEndsNetwork(grid().nodes(), LiveGrid::shape(), memory, nodes) {}

  [[nodiscard]] static constexpr unsigned entrance(kit::NodeNumber /*node*/,
                                                   const LiveMessage& message) noexcept {
    return live_channel(0, message.priority, 0);
  }

  // By the node itself, one thread at a time.

  /// Has a pathway's channels, one on each link of its way. False: there is none on one of them. `is_gone(node)`: it owns none any more.
  template <class IsGone>
  [[nodiscard]] bool reserve(kit::NodeNumber from, kit::NodeNumber to, IsGone is_gone) noexcept {
    for (kit::NodeNumber at = from; at != to;) {
      const unsigned port = kit::dimension_order(grid(), at, to).port;
      if (!take_channel(at, port, from, is_gone)) {
        give_back(from, to, at);
        return false;
      }
      at = grid().neighbour(at, port);
    }
    return true;
  }
  /// Of a pathway that it has.
  void give_back(kit::NodeNumber from, kit::NodeNumber to) noexcept { give_back(from, to, to); }

  // What a carrier asks (kit/live_carrier.hpp, kit/live_ends_carrier.hpp).

  static constexpr unsigned channels = live_channels;
  static constexpr std::array injected = {live_channel(0, Counted::low, 0),
                                          live_channel(0, Counted::high, 0)};

  using LiveGrid::behind;
  [[nodiscard]] kit::RouterNumber feeder(kit::NodeNumber at, unsigned input) const noexcept {
    return input < live_vcs ? kit::nowhere : grid().neighbour(at, input / live_vcs);
  }
  /// What was not written by this network, but scribbled by another, ends where it is, and counts nowhere.
  [[nodiscard]] kit::EndSet ends(kit::NodeNumber at, unsigned /*input*/,
                                 std::uint32_t packet) const noexcept {
    const LiveMessage message = LiveMessage::of(packet);
    if (message.destination >= grid().nodes() || message.source >= grid().nodes()) return {};
    if (message.destination == at) return {.node = true};
    const kit::Hop hop = kit::dimension_order(grid(), at, message.destination);
    const auto of_class = static_cast<unsigned>(std::countr_zero(hop.classes));
    return {.channels = kit::request(live_channel(hop.port, message.priority, of_class))};
  }

 private:
  template <class IsGone>
  [[nodiscard]] bool take_channel(kit::NodeNumber at, unsigned port, kit::NodeNumber owner,
                                  IsGone is_gone) noexcept {
    for (std::atomic<std::uint32_t>& channel : router_at(at).decisions.owners[port]) {
      std::uint32_t its = channel.load(std::memory_order_relaxed);
      const bool is_free = its == 0 || (its != owner + 1 && is_gone(its - 1));
      if (is_free && channel.compare_exchange_strong(its, owner + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  /// On the links of its way in front of that router.
  void give_back(kit::NodeNumber from, kit::NodeNumber to, kit::NodeNumber until) noexcept {
    for (kit::NodeNumber at = from; at != until;) {
      const unsigned port = kit::dimension_order(grid(), at, to).port;
      for (std::atomic<std::uint32_t>& channel : router_at(at).decisions.owners[port]) {
        std::uint32_t its = from + 1;
        if (channel.compare_exchange_strong(its, 0, std::memory_order_acq_rel)) break;
      }
      at = grid().neighbour(at, port);
    }
  }
};

}  // namespace am::iwarp

namespace am::kit {
extern template class LiveNetwork<iwarp::LiveTorus, iwarp::LiveRouter>;
}
