// How many processors the nodes of a job have between them.
#pragma once

#include <cstddef>

#include "transports/shm/segment.hpp"

namespace am::core {

/// Puts this thread's processor mask on the node's card.
void publish_cpus(shm::NodeCard& card) noexcept;
/// The same for the whole job, by whoever starts it: amrun, or the program whose threads are its nodes.
void publish_cpus(shm::JobHeader& job) noexcept;

/// True when more nodes of the job want the processors of node `self` than there are of these, or than the container's
/// quota grants. After all have published.
[[nodiscard]] bool is_oversubscribed(const shm::Segment& segment, NodeId self) noexcept;

}  // namespace am::core
