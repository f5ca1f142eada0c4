// A node's counters, read off the board: by the node itself, and by onlookers that are no node of the job
// (aminfo). They lie where their one writer, the node, adds to them with every message; a reader may be a few messages
// behind.
//
// Thread-safe: any thread of any process that has the board.
#pragma once

#include <am/counters.hpp>
#include <memory>
#include <string>

#include "host/board.hpp"
#include "host/memory.hpp"

namespace am::core {

[[nodiscard]] Counters read_counters(const host::Board& board, NodeId node);

/// As two tables of text: peers, handlers.
[[nodiscard]] std::string to_text(const Counters& counters);
/// What is known of a node of this host: the same, and what its networks have counted themselves.
[[nodiscard]] std::string counts_of(const std::shared_ptr<const host::Memory>& memory, NodeId node);

}  // namespace am::core
