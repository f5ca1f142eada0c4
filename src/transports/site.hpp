// What a network is given by core: where it is, and whom to tell what is no packet.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <memory>
#include <string_view>

#include "host/memory.hpp"

namespace am {

/// Called from Transport::progress, by whoever is in the node. Runs no handler.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  /// What `from` has published (Transport::publish). Whoever it is that says so: the listener believes nothing that cannot be.
  virtual void heard(NodeId from, std::uint32_t word, std::uint64_t value) noexcept = 0;
  /// The answer to Transport::ask_clock: this node's CLOCK_MONOTONIC was `asked` then, the other's `told` since.
  virtual void heard_clock(NodeId from, std::uint64_t asked, std::uint64_t told) noexcept = 0;
  /// There is no way to `peer` any more, and will not be: it is dead, or its host is. Not of one that has left in order: a network
  /// whose connections end then tells the two apart (by a goodbye on the connection, for example).
  virtual void lost(NodeId peer) noexcept = 0;
};

struct Site {
  NodeId self = 0;
  std::shared_ptr<const host::Memory>
      memory;                         ///< of this host; says how many nodes the job has, and which are here
  std::string_view options;           ///< what stood behind the network's name in AM_TRANSPORT
  Listener* listener = nullptr;       ///< outlives the network
  std::uint64_t host_timeout_ns = 0;  ///< another host that does not answer for so long is lost; 0: never
  std::string_view
      interfaces{};  ///< on which other hosts are to reach this one (AM_TCP_INTERFACES); empty: any that may do
  bool tls = false;  ///< what nodes say to each other is to be encrypted (AM_TCP_TLS)
};

}  // namespace am
