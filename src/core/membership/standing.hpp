// Who of the nodes is marked on the board as gone, and by whom: a node that leaves by itself; one that has ended by amrun, which
// may know how, or by a peer that found its life lock free. All nodes are told by a nudge, and take note of it in
// membership.cpp.
#pragma once

#include "host/board.hpp"

namespace am::core {

/// The node has left in good order. By itself, or by its launcher.
void mark_left(const host::Board& board, NodeId node, int wait_status = 0) noexcept;
/// The node has ended without leaving, as `wait_status` says (waitpid). By its launcher.
void mark_dead(const host::Board& board, NodeId node, int wait_status) noexcept;
/// The node seems to have ended: dead, unless it, or its launcher, has said otherwise by now. How it ended stays what its card
/// says. By any other.
void mark_lost(const host::Board& board, NodeId node) noexcept;

}  // namespace am::core
