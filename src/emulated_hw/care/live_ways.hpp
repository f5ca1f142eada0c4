// The channels between CARE's sites live, and who takes which: in a torus of two dimensions, or a hypercube.
//
// On each link there is one for messages in no order, and there are those for messages in order: in a torus two, a class before the edge of
// a ring and one behind it (kit/dimension_order.hpp), in a hypercube one. The numbers of those in order go up along any way.
#pragma once

#include <bit>
#include <optional>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/kit/hypercube.hpp"
#include "emulated_hw/kit/live_ends.hpp"
#include "emulated_hw/kit/live_grid.hpp"

namespace am::care {

using kit::NodeNumber;
using kit::Requests;

/// A torus, or a cube of so many dimensions.
struct LiveShape {
  kit::Extents extents{};
  unsigned dimensions = 0;
  bool is_cube = false;

  [[nodiscard]] constexpr NodeNumber nodes() const noexcept {
    return is_cube ? NodeNumber{1} << dimensions : extents.rows * extents.columns;
  }
  /// A cube has no rows.
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    return is_cube ? dimensions << 16 : extents.rows | extents.columns << 16;
  }
  static constexpr LiveShape of(std::uint32_t bits) noexcept {
    const auto extents = kit::Extents::of_shape(bits);
    if (extents.rows == 0) return {.dimensions = extents.columns, .is_cube = true};
    return {.extents = extents};
  }
};

// Channels of a router: those of links, at most as many as for a cube of ten dimensions, first those in no order; the local storage; the
// number of the end that is the node is left out; and by which its node injects, by lane.
inline constexpr unsigned most_live_dimensions = 10;
inline constexpr unsigned storage = 2 * most_live_dimensions;
inline constexpr unsigned injections = kit::Head::most_ends + 1;
inline constexpr unsigned live_channels = injections + 4;
static_assert(storage < kit::Head::most_ends);

class LiveWays {
 public:
  explicit LiveWays(const LiveShape& shape)
      : links_(shape.is_cube ? shape.dimensions : 4), classes_(shape.is_cube ? 1 : 2) {
    const auto [rows, columns] = shape.extents;
    if (!shape.is_cube)
      torus_.emplace(kit::Grid({kit::Grid::Dimension{columns, true}, kit::Grid::Dimension{rows, true}}));
  }

  /// Null: a cube.
  [[nodiscard]] const kit::Grid* torus() const noexcept { return torus_ ? &*torus_ : nullptr; }

  // `here` and `there` differ.

  /// The channel of messages in order: one way between two nodes.
  [[nodiscard]] unsigned in_order(NodeNumber here, NodeNumber there) const noexcept {
    const kit::Hop hop = torus_ ? kit::dimension_order(*torus_, here, there) : kit::e_cube(here, there);
    return links_ + classes_ * (hop.port - 1) + static_cast<unsigned>(std::countr_zero(hop.classes));
  }
  /// All channels of messages in no order that lead nearer.
  [[nodiscard]] Requests nearer(NodeNumber here, NodeNumber there) const noexcept {
    return (torus_ ? kit::nearer_ports(*torus_, here, there)
                   : kit::nearer_ports(kit::Hypercube(links_), here, there)) >>
           1;
  }

  /// Of channels that are wanted in order: a copy that serves targets beyond an edge takes those with it that lie before it, on the class
  /// before the edge. They leave it there.
  [[nodiscard]] Requests by_link(Requests in_order) const noexcept {
    return classes_ == 1 ? in_order : in_order & ~((in_order & before_the_edge) << 1);
  }
  /// Whether a target of that channel goes with a copy in `others`.
  [[nodiscard]] bool goes_with(unsigned channel, Requests others) const noexcept {
    const bool may_join = classes_ == 2 && kit::has(before_the_edge << 1, channel);
    return kit::has(others, channel) || (may_join && kit::has(others, channel - 1));
  }

  /// The input at which an output's channel ends.
  [[nodiscard]] kit::InputAt behind(NodeNumber here, unsigned output) const noexcept {
    return {across(here, output), output == storage || !torus_ ? output : opposite(output)};
  }
  /// The router that lets packets in there, or nowhere.
  [[nodiscard]] NodeNumber feeder(NodeNumber here, unsigned input) const noexcept {
    return across(here, input);
  }
  /// Of a channel of a link: which of its router's links it is on, and its kind among those there, 0 in no order.
  [[nodiscard]] unsigned link_of(unsigned channel) const noexcept {
    return channel < links_ ? channel : (channel - links_) / classes_;
  }
  [[nodiscard]] unsigned kind_of(unsigned channel) const noexcept {
    return channel < links_ ? 0 : 1 + (channel - links_) % classes_;
  }
  [[nodiscard]] bool is_of_a_link(unsigned channel) const noexcept {
    return channel < links_ * (1 + classes_);
  }

 private:
  static constexpr Requests before_the_edge = 0x550;  // of a torus: channels 4, 6, 8, 10

  [[nodiscard]] NodeNumber across(NodeNumber here, unsigned channel) const noexcept {
    if (channel == storage) return here;
    if (!is_of_a_link(channel)) return kit::nowhere;
    return torus_ ? torus_->neighbour(here, 1 + link_of(channel))
                  : here ^ NodeNumber { 1 } << link_of(channel);
  }
  [[nodiscard]] unsigned opposite(unsigned channel) const noexcept {
    const unsigned link = kit::Grid::opposite(1 + link_of(channel)) - 1;
    return channel < links_ ? link : links_ + classes_ * link + (channel - links_) % classes_;
  }

  const unsigned links_;    // of a router
  const unsigned classes_;  // of channels in order
  std::optional<kit::Grid> torus_;
};

}  // namespace am::care
