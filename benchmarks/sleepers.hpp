// The nodes of a job that only have to be there: connected with nodes 0 and 1, which measure, and asleep.

#pragma once

namespace am {
class Node;
}

namespace ambench {

// For every node but 0 and 1, in place of measuring: exchanges messages with both, passes one barrier, and
// sleeps until woken.
void sleep_connected(am::Node& node);

// For nodes 0 and 1: passes that barrier, and gives the others the time to fall asleep.
void let_others_sleep(am::Node& node);

// For node 0.
void wake_others(am::Node& node);

}  // namespace ambench
