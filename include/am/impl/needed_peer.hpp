// For a wait that another node has to end: when to give it up because that node is gone.
//
// Used by Node::wait_until inline, by the node's own thread.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <optional>

namespace am {

class Node;

namespace impl {

/// Since when a node has been seen to be gone. No polls: none is.
struct GoneSince {
  std::uint64_t ns = 0;
  std::uint32_t polls = 0;
};

class NeededPeer {
 public:
  /// Empty: any node; then one that died is enough, but not one that left.
  NeededPeer(Node& node, std::optional<NodeId> peer) noexcept : node_(node), peer_(peer) {}

  /// Whether it has been gone for a moment, in which its last messages were looked for: 100 ms, and some polls.
  [[nodiscard]] bool is_missing() noexcept;
  /// Throws the am::Error that says so, after is_missing().
  [[noreturn]] void give_up() const;

 private:
  Node& node_;
  std::optional<NodeId> peer_;
  GoneSince since_;
  NodeId missing_ = 0;
};

}  // namespace impl
}  // namespace am
