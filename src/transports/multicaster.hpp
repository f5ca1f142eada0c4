// Multicasts of a network's own: one packet that its routers bring to several nodes (T1 report, 3.4).
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <span>

namespace am {

class Multicaster {
 public:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  /// How a message of `from` comes to each of `members`, which ascend. `by`, which comes as nobody throughout, is for each of them whose
  /// share it is, as a place in the list: its own, when one multicast of `from` brings it there together with all others of which that
  /// is said; that of one of these, of a smaller number and not `from`, who passes it on; or nobody. The same on every node.
  virtual void share_out(NodeId from, std::span<const NodeId> members,
                         std::span<std::uint32_t> by) const noexcept = 0;
  /// What is committed from here to end_multicast is one message, to all whom one multicast of this node reaches: to each of these
  /// the same packet; or nothing. It is claimed in between, too: each slot before the first commit.
  virtual void begin_multicast() noexcept = 0;
  virtual void end_multicast() noexcept = 0;

 protected:
  ~Multicaster() = default;
};

}  // namespace am
