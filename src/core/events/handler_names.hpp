// The handlers' names on the board: node 0 writes them when it joins, for onlookers, and for nodes that find that
// they run another program.
#pragma once

#include <am/types.hpp>
#include <string>
#include <string_view>

#include "core/events/handler_table.hpp"
#include "host/board.hpp"

namespace am::core {

/// Once per job, before node 0 is marked as joined.
void publish_handler_names(const HandlerTable& table, const host::Board& board) noexcept;

/// A handler's name, or "" for one without.
[[nodiscard]] std::string_view handler_name(const host::Board& board, std::size_t handler) noexcept;

/// Which handlers node `self`, whose table this is, has and node 0 has not, and the other way round: "only node 2 has a, b
/// and 3 more; only node 0 has c; d takes other arguments". Empty where they agree. Both have joined.
[[nodiscard]] std::string difference_of_handlers(const HandlerTable& own, NodeId self,
                                                 const host::Board& board);

/// For nodes whose handlers have the same names, and which differ all the same: those that share a name with another, "a, b and
/// 3 more name several handlers, which lie elsewhere in another build or library". Empty where there is none.
[[nodiscard]] std::string shared_names(const HandlerTable& own);

}  // namespace am::core
