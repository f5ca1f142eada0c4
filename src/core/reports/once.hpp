// What all nodes of a job would say alike is said by one of them.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <string_view>

#include "host/board.hpp"

namespace am::core {

constexpr std::uint64_t for_good_ns = 3'600'000'000'000;

/// Whether this node is to say `text`, or what means the same on another node: true for the first of the job's that asks, and
/// then not until `for_ns` have passed. Any thread; takes no memory.
[[nodiscard]] bool first_to_say(const host::Board& board, std::string_view text,
                                std::uint64_t for_ns) noexcept;

/// For an error, named by `text`, that ends the job: the first node returns, to tell it and to end. Of the others the launcher
/// is about to make an end; they return when it has not, after five seconds. Who survives its peers returns at once.
void let_one_end_the_job(const host::Board& board, NodeId self, std::string_view text) noexcept;

/// For an error that all processes of a launcher run into before they share any memory: those of lower rank go first, and
/// when one of them has said it and ended, the launcher ends this one. Returns when none has.
void let_lower_ranks_speak(int rank) noexcept;

}  // namespace am::core
