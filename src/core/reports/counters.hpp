// A node's counters, read off the board: by the node itself, and by onlookers that are no node of the job
// (aminfo). They lie where their one writer, the node, adds to them with every message; a reader may be a few messages
// behind.
//
// Thread-safe: any thread of any process that has the board.
#pragma once

#include <am/counters.hpp>
#include <string>

#include "host/board.hpp"

namespace am::core {

[[nodiscard]] Counters read_counters(const host::Board& board, NodeId node);

/// As two tables of text: peers, handlers.
[[nodiscard]] std::string to_text(const Counters& counters);

/// For AM_STATS=1: to stderr, in one piece.
void print_counters(const host::Board& board, NodeId node);

}  // namespace am::core
