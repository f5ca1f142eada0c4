#include "host/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace am::host {

namespace {

constexpr std::size_t words = sizeof(NodeCard::cpus) / sizeof(std::uint64_t);

}  // namespace

namespace {

/// None where there are more than 1024: one machine's nodes certainly do not oversubscribe them.
void write_cpus(std::uint64_t (&cpus)[words]) noexcept {
  static_assert(sizeof cpus == sizeof(cpu_set_t));
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) std::memset(&set, 0, sizeof set);
  std::memcpy(cpus, &set, sizeof set);
}

}  // namespace

void publish_cpus(NodeCard& card) noexcept { write_cpus(card.cpus); }

void publish_cpus(JobHeader& job) noexcept { write_cpus(job.cpus); }

bool is_oversubscribed(const Board& board, NodeId self) noexcept {
  const auto& own = board.card(self).cpus;
  std::uint64_t all[words] = {};
  std::size_t nodes = 0;
  std::size_t here = 0;
  for (NodeId node = 0; node < board.nodes(); ++node) {
    if (!board.is_here(node)) continue;
    ++here;
    const auto& other = board.card(node).cpus;
    bool shared = false;
    for (std::size_t i = 0; i < words; ++i) shared = shared || (own[i] & other[i]) != 0;
    if (!shared) continue;
    ++nodes;
    for (std::size_t i = 0; i < words; ++i) all[i] |= other[i];
  }
  std::size_t cpus = 0;
  for (const std::uint64_t word : all) cpus += static_cast<std::size_t>(std::popcount(word));
  const std::uint32_t quota = board.job().cpu_quota;
  return (cpus != 0 && nodes > cpus) || (quota != 0 && here > quota);
}

}  // namespace am::host
