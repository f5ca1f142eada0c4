// What a network is given by core: where it is, and whom to tell what is no packet.
#pragma once

#include <am/impl/packet.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "host/memory.hpp"
#include "transports/memory_reach.hpp"

namespace am {

/// Called by whoever is in the node: from Transport::progress, and `lost` from any call that may find a peer gone, also in the middle of a
/// send (commit). So it takes note, and neither calls a network nor runs anything of the program: that hears of it in a later poll.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  /// What `from` has published (ControlLane::publish). Whoever it is that says so: the listener believes nothing that cannot be.
  virtual void heard(NodeId from, std::uint32_t word, std::uint64_t value) noexcept = 0;
  /// The answer to ControlLane::ask_clock: this node's CLOCK_MONOTONIC was `asked` then, the other's `told` since.
  virtual void heard_clock(NodeId from, std::uint64_t asked, std::uint64_t told) noexcept = 0;
  /// There is no way to `peer` any more, and will not be: it is dead, or its host is, or the way between the two. Not of one that has left in order: a network
  /// whose connections end then tells the two apart (by a goodbye on the connection, for example).
  virtual void lost(NodeId peer) noexcept = 0;
};

/// A message whose beginning has come, but not yet all of its payload.
struct Coming {
  NodeId from = 0;
  Priority priority = Priority::low;
  impl::Header head{};
  std::span<const std::uint64_t> words{};
  std::size_t payload_bytes = 0;  ///< as far as its sender is to be believed
};

/// Knows where payloads belong, so that a network need not keep them until their handlers run. Called from Transport::progress, by whoever is
/// in the node. Runs no handler.
class Destinations {
 public:
  Destinations() = default;
  Destinations(const Destinations&) = delete;
  Destinations& operator=(const Destinations&) = delete;
  virtual ~Destinations() = default;

  /// Where the whole payload of a message is to be written, now: its handler, who is given the payload there, knows that. Null:
  /// the network keeps it. Only for a message before which nothing of its link waits to be received but what was written where
  /// it belongs as well, or what is older would be written later. Asked again before each piece: where the answer has changed
  /// nothing is to be written there any more, and the handler has no use for the message: it may be given any bytes.
  [[nodiscard]] virtual std::byte* destination(const Coming& message) noexcept = 0;

  /// A move is done (MemoryReach::begin_move): what was stored is in the peer's memory, for whoever looks there; what was fetched is here,
  /// to be brought where it belongs.
  virtual void moved(const MemoryReach::Move& move, Payload fetched) noexcept = 0;
};

struct Site {
  NodeId self = 0;
  std::shared_ptr<const host::Memory>
      memory;                    ///< of this host; says how many nodes the job has, and which are here
  std::string_view options;      ///< what stood behind the network's name in AM_TRANSPORT
  Listener* listener = nullptr;  ///< outlives the network
  Destinations* destinations = nullptr;  ///< none: the network keeps all payloads
  std::uint64_t host_timeout_ns = 0;     ///< another host that does not answer for so long is lost; 0: never
  std::string_view
      interfaces{};  ///< on which other hosts are to reach this one (AM_TCP_INTERFACES); empty: any that may do
  std::span<std::byte>
      segment{};                  ///< this node's global memory, for a network that moves; empty: it has none
  bool tls = false;               ///< what nodes say to each other is to be encrypted (AM_TCP_TLS)
  std::uint64_t cm5_swap_ns = 0;  ///< about how often this node swaps the networks of a CM-5; 0: never
  bool armed_often =
      false;  ///< whenever the program computes (Transport::arm), not only when the node sleeps
};

}  // namespace am
