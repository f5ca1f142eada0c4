// The guards of one node: makes the bits of guarded pointers (am/guarded_ptr.hpp), tells its own making from all else, and
// knows which of them are still valid. No segment is kept here: that is what the MAC is for. Per guard there is a slot with the
// generation that is valid; to revoke one is to go on to the next generation, which the slot's next guard has.
//
// What runs out: slots, of which there are 65536, and which come back when they are revoked; and the generations of a slot, after 2^24
// of which it is not used any more. So none of a node's pointers is ever valid again.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 5.2.1.
//
// Used by whoever is in the node. check() takes no memory and never waits.
#pragma once

#include <am/guarded_ptr.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/sip_hash.hpp"

namespace am::core {

class Guards {
 public:
  struct Limits {
    std::size_t guards = std::size_t{1} << impl::GuardedBits::slot_bits;
    std::uint32_t generations = std::uint32_t{1} << impl::GuardedBits::generation_bits;
  };

  explicit Guards(NodeId owner) noexcept : Guards(owner, Limits()) {}
  Guards(NodeId owner, Limits limits) noexcept : owner_(owner), limits_(limits) {}

  /// Throws am::Error: for null, for 2^40 bytes and more, when all slots are taken, and where there is no randomness for the key.
  [[nodiscard]] impl::GuardedBits make(const void* first, std::size_t bytes, Rights rights);

  /// What is wrong with an access, if anything.
  [[nodiscard]] GuardStatus check(const impl::GuardedBits& guarded, Rights wanted,
                                  std::uint64_t bytes) const noexcept;
  /// Whether it is one of this node's that is valid, whatever it permits: ok, forged or stale.
  [[nodiscard]] GuardStatus identify(const impl::GuardedBits& guarded) const noexcept;
  GuardStatus revoke(const impl::GuardedBits& guarded) noexcept;

 private:
  [[nodiscard]] std::uint64_t mac_of(const impl::GuardedBits& guarded) const noexcept;
  std::uint64_t take_slot();

  NodeId owner_;
  Limits limits_;
  std::optional<host::SipKey> key_;         // from the first guard on
  std::vector<std::uint32_t> generations_;  // by slot: the valid one, or the next
  std::vector<std::uint16_t> free_;         // slots; with room for all of them
};

}  // namespace am::core
