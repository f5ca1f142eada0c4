// The nodes of a job that only have to be there: connected with nodes 0 and 1, which measure, and asleep.

#pragma once

#include <functional>

namespace am {
class Node;
}

namespace ambench {

// What a node of such a job does: node 0 runs `measuring` and node 1 `serving`, which ends when `measuring` has told it to,
// while the others, which have exchanged messages with both, sleep.
void run_with_others_asleep(am::Node& node, const std::function<void()>& measuring,
                            const std::function<void()>& serving);

}  // namespace ambench
