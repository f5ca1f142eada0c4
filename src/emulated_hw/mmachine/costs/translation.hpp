// How a message's virtual address becomes a node: by the GTLB beside the injection, for nothing, or by a lookup in a table of four
// entries in memory (SWX).
//
// The thesis does not print the lookup. This one: the table's address, its entry's tag, mask and mapping, the comparison of a GTLB
// (3.3.1), and the node's place from page, extents and base. As a subroutine it makes room for its registers where the message and the
// program leave too few (6.5.3): these are stored before and loaded after.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.1, 4.2.2, 6.4, 6.5.3.
#pragma once

#include "emulated_hw/mmachine/costs/cluster.hpp"
#include "emulated_hw/mmachine/costs/interface_model.hpp"

namespace am::mmachine::costs {

/// The lookup that finds its address in the table's first entry, an operation at a time: so that a program may place it between its own.
class Lookup {
 public:
  explicit Lookup(Register address) noexcept : address_(address) {}

  /// False: it was complete before.
  bool step(Cluster& cluster) noexcept;
  /// The last step was the comparison, whose result decides the branch out of the search.
  [[nodiscard]] bool just_found() const noexcept;
  [[nodiscard]] Register matches() const noexcept { return matches_; }
  [[nodiscard]] Register node() const noexcept { return node_; }

 private:
  void find(Cluster& cluster, unsigned step) noexcept;
  void place(Cluster& cluster, unsigned step) noexcept;

  Register address_;
  Register table_{};
  Register tag_{};
  Register mask_{};
  Register mapping_{};
  Register matches_{};
  Register page_{};
  Register x_{};
  Register y_{};
  Register node_{};
  unsigned done_ = 0;
};

class AddressTranslation {
 public:
  explicit AddressTranslation(Translation how, unsigned missed_entries = 0) noexcept
      : how_(how), missed_entries_(missed_entries) {}

  [[nodiscard]] bool in_software() const noexcept { return how_ == Translation::software; }
  /// What the injection is given: the address itself, or the node that a call of the lookup found. `live` registers hold the message.
  Register translate(Cluster& cluster, Register address, unsigned live) const noexcept;
  /// What entries cost that were looked at before.
  void miss(Cluster& cluster) const noexcept;

  /// How many registers a call has to spill.
  [[nodiscard]] static unsigned spilled(unsigned live) noexcept;

 private:
  Translation how_;
  unsigned missed_entries_;
};

}  // namespace am::mmachine::costs
