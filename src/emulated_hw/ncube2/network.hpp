// The network of the nCUBE/2 under its clock of 50 ns: a hypercube of bit-serial wormhole routers (von Eicken 1993, 3.1.3, Figure 3-5).
//
// A port of a node is a channel each way, an output and an input DMA engine. A flit is 36 bits, so 36 cycles: 32 of data, one of parity, and
// flow control for the other direction. "Each 36-bit flit is forwarded 8 cycles after having been received"; a message ends with a short flit
// of 5 cycles. So a message of W words over h hops is there 44 (h - 1) + 36 W + 5 cycles after its DMA engine has begun to send it. (The
// figure prints T_inject = (bytes / 4) T_hop + T_end; 36 bits on a serial channel take T_flit, not T_hop.)
//
// e-cube: the lowest address bit that differs comes first. A message enters by the DMA engine of that bit, and leaves by that of the port
// by which it came. Blocked, it keeps the channels that it has; an input holds 2 flits "until flow control reaches the up-stream router".
//
// A forwarding address ends where it leads: the router there drops it and goes on with the next word. Both routes are e-cube's, but not both
// together: forwarded messages can wait for each other in a circle. So can broadcasts: a router takes the outputs that one needs as they become
// free, keeps them, and goes on when it has all.
//
// Assumed: flow control takes 8 cycles back; ports that want the same output have it in turns; the end of a message needs no room in a buffer; a
// broadcast gives its sender no copy, and is not forwarded.
#pragma once

#include <cstdint>
#include <string>

#include "emulated_hw/kit/hypercube.hpp"
#include "emulated_hw/kit/word_network.hpp"
#include "emulated_hw/ncube2/e_cube.hpp"

namespace am::ncube2 {

using kit::Cycle;

/// A flit that is no word ends a message, or one of its segments but the last.
enum class Tag : std::uint8_t { word, segment, end };

/// Ports of a router: its channels, by dimension, and behind them those to the DMA engines.
inline constexpr unsigned engine_ports = 16;

class Router {
 public:
  using Word = ncube2::Word;
  static constexpr unsigned router_cycles = 8;  ///< T_hop
  static constexpr unsigned flit_cycles = 36;   ///< T_flit
  static constexpr unsigned end_cycles = 5;     ///< T_end
  static constexpr unsigned credit_cycles = 8;  ///< assumed
  static constexpr unsigned buffer = 2;         ///< flits
  static constexpr unsigned places = 6;         ///< with the ends of messages between them
  static constexpr unsigned head_cycles = 0;    ///< wormhole

  explicit Router(unsigned dimensions) noexcept : dimensions_(dimensions) {}

  /// Throws std::logic_error where the kernel has made an error that the hardware does not see: an address outside the cube, or another engine
  /// than that of e-cube's first bit.
  [[nodiscard]] kit::Way way(NodeNumber here, unsigned port, Word head) const;

  /// No message may choose.
  [[nodiscard]] static constexpr std::uint64_t choose(std::uint64_t free, kit::WireNumber /*input*/,
                                                      Cycle /*now*/) noexcept {
    return free & -free;
  }
  [[nodiscard]] static constexpr unsigned cycles(std::uint8_t tag, const kit::Wire& link) noexcept {
    return link.flit_cycles == 0 ? 0 : !takes_room(tag) ? end_cycles : link.flit_cycles;
  }
  [[nodiscard]] static constexpr bool takes_room(std::uint8_t tag) noexcept {
    return tag == static_cast<std::uint8_t>(Tag::word);
  }
  [[nodiscard]] static constexpr bool ends(std::uint8_t tag) noexcept {
    return tag == static_cast<std::uint8_t>(Tag::end);
  }
  [[nodiscard]] static constexpr std::uint64_t print(Word word) noexcept { return word; }
  [[nodiscard]] static std::string name(Word word) { return "word " + std::to_string(word); }

 private:
  unsigned dimensions_;
};

/// What Figure 3-5 says: of `words`, the address among them.
[[nodiscard]] constexpr Cycle latency(unsigned hops, unsigned words) noexcept {
  return Cycle{Router::router_cycles + Router::flit_cycles} * (hops - 1) +
         Cycle{Router::flit_cycles} * words + Router::end_cycles;
}

class Network : public kit::WordNetwork<Router> {
 public:
  /// Of 2^dimensions nodes. Throws std::invalid_argument.
  explicit Network(unsigned dimensions);

  [[nodiscard]] unsigned dimensions() const noexcept { return dimensions_; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return NodeNumber{1} << dimensions_; }
  /// Records by ports of the hypercube: all engines of a node share one.
  void record(kit::Trace* trace) noexcept {
    WordNetwork::record(trace,
                        [](unsigned port) { return port < engine_ports ? kit::Hypercube::across(port) : 0; });
  }

 private:
  unsigned dimensions_;
};

}  // namespace am::ncube2
