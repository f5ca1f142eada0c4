// The fault decorator: a transport around another one that does on purpose, and repeatably, what a network does seldom.
// It stays within the contract: what core or a program gets wrong with it, it could get wrong without it.
#pragma once

#include <memory>
#include <string_view>

#include "transports/transport.hpp"

namespace am {

/// A decorator around `network`, which must outlive it, that does what `plan` (AM_FAULTS) asks for; null when it asks for
/// nothing. `verbose`: node 0 tells of it. Throws am::Error on a malformed plan.
std::unique_ptr<Transport> make_faults(Transport& network, std::string_view plan, bool verbose, NodeId self,
                                       NodeId nodes);

/// Throws am::Error when the plan kills a node, which in a job of threads would end all of them.
void check_faults_for_threads(std::string_view plan);

}  // namespace am
