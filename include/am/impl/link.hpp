// A link leads from a node to a peer at one priority. What a node keeps by link lies in arrays of two for each node of the job.
#pragma once

#include <am/types.hpp>
#include <cstddef>

namespace am::impl {

/// The place of the link to, or from, `peer` in such an array; also a key for maps.
constexpr std::size_t link_index(NodeId peer, Priority priority) noexcept {
  return 2 * std::size_t{peer} + static_cast<std::size_t>(priority);
}
/// How many such an array has.
constexpr std::size_t link_count(NodeId nodes) noexcept { return 2 * std::size_t{nodes}; }

}  // namespace am::impl
