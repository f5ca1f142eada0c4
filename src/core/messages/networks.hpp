// Which networks a node has, and which one leads to which peer: AM_TRANSPORT, asked of the table (transports/kinds.hpp). Said
// once, when the node joins: never silently another one than was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/board.hpp"
#include "transports/kinds.hpp"

namespace am::core {

/// A network that somebody asks for.
struct Wanted {
  const Kind* kind;
  std::string_view options;  ///< a part of the text that asked
};

/// "auto": all of the table; else "name" or "name:options", or several of these between commas, the one to be chosen first in
/// front. None when it names a network that is not in the table, or one twice.
[[nodiscard]] std::optional<std::vector<Wanted>> parse_networks(std::string_view text,
                                                                std::span<const Kind> kinds);

struct NetworkOfPeers {
  std::vector<Wanted> used;           ///< in the order asked for; each reaches a node
  std::vector<std::uint8_t> of_peer;  ///< by node, its own too: which of `used`
};

/// For each node of the job the first of `wanted` that leads there. Throws am::Error when none does, or when one is to be
/// called in a signal handler (`in_interrupts`) and may not.
[[nodiscard]] NetworkOfPeers choose_networks(const std::vector<Wanted>& wanted, const host::Board& board,
                                             bool in_interrupts);

/// For people: "shared memory to 4 nodes, TCP to 12 nodes".
[[nodiscard]] std::string describe(const NetworkOfPeers& chosen);

}  // namespace am::core
