// One process per node: what keeps a program that was started twice in the place of one node from joining
// twice.
//
// Under amrun the lock that a node holds in the job's memory does this. Under mpirun there is no memory yet
// when two first nodes would each make one, so the place itself is claimed, by a local socket that has its
// name: the kernel gives it to one process and takes it back when that ends.
#pragma once

#include <am/types.hpp>
#include <string_view>

#include "core/job/local_socket.hpp"

namespace am::core {

/// The claim, which lasts as long as the descriptor. `job` tells jobs of this network namespace apart. Throws
/// am::Error that names the holder when another process of this user holds the place. Empty where another
/// user has taken the name: such a nuisance may cost us the check, not the job.
[[nodiscard]] Descriptor claim_place(std::string_view job, NodeId id);

}  // namespace am::core
