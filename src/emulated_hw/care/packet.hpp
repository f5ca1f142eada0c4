// What travels in CARE's network: words of packets one way, status signals the other (Byrd, Nakano and Delagi 1987, 3.1 to 3.3, Tables A
// and B, Figure 2).
//
// A packet is its target entries, words of data, and a terminator. A terminator is no word: it has wires, and a register in each component,
// of its own. Its packet's number travels with each word for people only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/ports.hpp"

namespace am::care {

using kit::Cycle;
using kit::NodeNumber;
using PacketNumber = std::uint32_t;

/// Table A, and that there is none.
enum class Terminator : std::uint8_t { none, end_of_packet, abort_packet, local_end_of_packet };
/// Table B.
enum class Status : std::uint8_t { free, open, wait, abort_request };

/// A destination, and where its data lies in the packet.
struct Target {
  NodeNumber site = 0;
  std::uint32_t data_at = 0;
  friend bool operator==(const Target&, const Target&) = default;
};

struct Packet {
  PacketNumber number = 0;
  std::vector<Target> targets{};
  std::vector<std::uint32_t> data{};
  std::uint32_t words = 0;  ///< of data; `data` is empty where words do not travel (Fidelity::two_events)
};

struct Word {
  enum class Kind : std::uint8_t { none, pad, target, data };

  Kind kind = Kind::none;
  bool last = false;      ///< of the target list
  bool one_site = false;  ///< all entries of the list name this site
  PacketNumber packet = 0;
  std::uint32_t value = 0;  ///< a site, or data
  std::uint32_t at = 0;     ///< of a target: where its data lies
  std::uint32_t words = 0;  ///< of a target: of data, for who times the packet without them

  [[nodiscard]] constexpr bool is_target() const noexcept { return kind == Kind::target; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return kind != Kind::none; }
};

/// What a router does with a target list: it sends it on, splits it, or has split it to its end.
enum class List : std::uint8_t { whole, split, over };

/// A packet port (Table D): what a component shows downstream. A terminator is shown in one cycle, and taken in it.
struct Wire {
  Word word{};
  Terminator terminator = Terminator::none;
  List list = List::whole;  ///< from a router only
};

/// Sections 2 to 4, or section 5.
enum class Fidelity : std::uint8_t { words, two_events };

/// How a packet passes the sites on its way. CARE's own is the first, the others are there to compare with.
enum class Switching : std::uint8_t {
  cut_through,
  stored,  ///< each site on the way stores it
  /// Its front connects all links of its way, to one site, before the words behind it leave their operator. In two events, what they
  /// wait is to be taken off their transit time: Options::delays_as_printed is false.
  circuits
};

/// When a fifo-buffer asks for an abort (footnote 8 leaves it open; section 6 has "random timeout intervals").
struct Timeouts {
  enum class Kind : std::uint8_t {
    off,
    equal,   ///< `limit` cycles from the front of a packet
    random,  ///< from `limit` to twice that
    pads     ///< `limit` consecutive pads
  };
  Kind kind = Kind::random;
  Cycle limit = 256;  ///< assumed; a packet that takes longer by itself is aborted again and again
};

struct Options {
  Fidelity fidelity = Fidelity::words;
  std::optional<std::uint32_t> buffer_size{};  ///< of fifo-buffers; none: unbounded ("nil", 5.2)
  std::optional<std::uint32_t> requests{};     ///< packets that an operator has room for; none: unbounded
  Timeouts timeouts{};
  unsigned seek_threshold = 16;  ///< assumed: unsuccessful attempts of a net-input
  Cycle service = 1;             ///< assumed: cycles until an operator has served a packet
  Switching switching = Switching::cut_through;
  /// What a wait that lasts over the end of a transmission adds to it (5.2): all of the wait, as printed, or what was left to transmit.
  bool delays_as_printed = true;
  std::uint64_t seed = 1;  ///< of random timeouts
};

/// What has happened in a machine.
struct Counts {
  std::uint64_t splits = 0;
  std::uint64_t aborts = 0;           ///< of multicasts, by request
  std::uint64_t partial_finds = 0;    ///< that were forced to fail (footnote 10)
  std::uint64_t forced_stores = 0;    ///< at another site than the target's, over the threshold
  std::uint64_t retransmissions = 0;  ///< by operators
  std::uint64_t discarded = 0;        ///< by operators: aborted, or copies that were not needed
  std::uint64_t abort_requests = 0;   ///< of fifo-buffers
  std::uint64_t dropped_pads = 0;     ///< by them
};

}  // namespace am::care
