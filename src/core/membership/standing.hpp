// Who of the nodes is marked on the board as gone, and by whom: a node that leaves by itself; one that has ended by amrun, which
// may know how, or by a peer that found its life lock free. All nodes are told by a nudge, and take note of it in
// membership.cpp; other hosts, by relay.cpp.
#pragma once

#include <optional>
#include <span>

#include "host/board.hpp"

namespace am::core {

/// A node of another host is in the job, and these are its facts. By whoever joins the hosts.
void mark_joined(const host::Board& board, NodeId node, const host::NodeFacts& facts) noexcept;
/// The node has left in good order. By itself, or by its launcher.
void mark_left(const host::Board& board, NodeId node, int wait_status = 0) noexcept;
/// The node has ended without leaving, as `wait_status` says (waitpid). By its launcher.
void mark_dead(const host::Board& board, NodeId node, int wait_status) noexcept;
/// What another host says of a node of its own: once, for a node that was in the job.
void mark_departed(const host::Board& board, NodeId node, host::Standing standing, int wait_status) noexcept;
/// The node seems to have ended: dead, unless it, or its launcher, has said otherwise by now. How it ended stays what its card
/// says. By any other.
void mark_lost(const host::Board& board, NodeId node) noexcept;

/// The first of these nodes that is in the job.
[[nodiscard]] std::optional<NodeId> first_in_job(const host::Board& board,
                                                 std::span<const NodeId> nodes) noexcept;

}  // namespace am::core
