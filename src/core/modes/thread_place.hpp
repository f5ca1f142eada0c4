// Where a node's handler thread runs: next to its node, on a processor of the job's that no node is bound to.
//
// Source of what is "next to": hwloc, which is opened when a handler thread is started; without it the thread
// runs where its node runs.
#pragma once

#include "host/board.hpp"

namespace am::core {

struct ThreadPlace {
  int cpu = -1;                ///< to bind it to; -1: where its node runs
  bool own_processor = false;  ///< it may spin: no node needs what it takes
};

/// After all nodes have published their processors. Every node comes to the same distribution, so no two take the same.
[[nodiscard]] ThreadPlace place_for_thread(const host::Board& board, NodeId self);

}  // namespace am::core
