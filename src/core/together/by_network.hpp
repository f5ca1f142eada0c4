// Barriers and collectives that the network does by itself, where it can (transports/synchronizer.hpp). Each of them is a part of an
// operation that is under way on this node, and says whether it has been done: else it is for the board, or for messages. All nodes have the
// same networks, and so choose alike.
//
// Nodes that are gone. As without the network: a barrier needs all, from before this node arrives; a collective those whose words it combines,
// and that none has died. What all have taken part in has its result all the same.
#pragma once

#include <am/types.hpp>
#include <cstddef>
#include <optional>
#include <span>

#include "core/together/collectives.hpp"
#include "core/together/operation.hpp"

namespace am::impl {
struct ScanPart;
}

namespace am::core {

[[nodiscard]] bool pass_barrier_by_network(Operation& operation);
/// `value` is replaced where it is not the root's.
[[nodiscard]] bool broadcast_by_network(Operation& operation, const Round& round, std::span<std::byte> value);
/// To its root, or to all.
[[nodiscard]] bool reduce_by_network(Operation& operation, const Round& round, std::span<std::byte> value,
                                     const impl::Combine& combine);
/// None: it has not been done. Else whether there was something before this node, which has replaced `value`.
[[nodiscard]] std::optional<bool> scan_by_network(Operation& operation, const Round& round,
                                                  std::span<std::byte> value, const impl::Combine& combine,
                                                  const impl::ScanPart& part);
/// Throws where a node is in an operation of the network's own that is one of this node's by messages: of those that are over, too, since it
/// may be what all wait for.
void look_for_mismatch_in_network(Operation& operation);

}  // namespace am::core
