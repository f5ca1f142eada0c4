// How many processors the nodes of a job have between them.
#pragma once

#include <cstddef>

#include "host/board.hpp"

namespace am::host {

/// Puts this thread's processor mask on the node's card.
void publish_cpus(NodeCard& card) noexcept;
/// The same for the whole job, by whoever starts it: amrun, or the program whose threads are its nodes.
void publish_cpus(JobHeader& job) noexcept;

/// True when more nodes of the job want the processors of node `self` than there are of these, or than the container's
/// quota grants. After all have published.
[[nodiscard]] bool is_oversubscribed(const Board& board, NodeId self) noexcept;

}  // namespace am::host
