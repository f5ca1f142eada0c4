#include "core/membership/standing.hpp"

#include "host/bell.hpp"

namespace am::core {

namespace {

constexpr std::uint32_t word(host::Standing standing) noexcept {
  return static_cast<std::uint32_t>(standing);
}

/// Where the death of one ends the others, it is the first one that counts. Who sees the standing before this takes what it sees.
void note_death(const host::Board& board, NodeId node, host::Standing how) noexcept {
  std::uint32_t none = 0;
  if (how == host::Standing::dead)
    board.job().first_death.compare_exchange_strong(none, node + 1, std::memory_order_relaxed);
}

/// Seen in one load: the board's `departures`.
void tell_all(const host::Board& board) noexcept {
  board.job().departures.fetch_add(1, std::memory_order_release);  // pairs with Membership::look
  for (NodeId other = 0; other < board.nodes(); ++other) {
    if (board.standing(other) == host::Standing::joined && board.is_here(other)) host::nudge(board, other);
  }
}

void mark(const host::Board& board, NodeId node, host::Standing standing, int wait_status) noexcept {
  host::NodeCard& card = board.card(node);
  card.wait_status.store(wait_status, std::memory_order_relaxed);  // ordered by the next line
  note_death(board, node, standing);
  card.standing.store(word(standing), std::memory_order_release);  // pairs with Board::standing
  tell_all(board);
}

/// Of a node that is in the job, and by several who may find out at once: the first one counts.
void mark_once(const host::Board& board, NodeId node, host::Standing how) noexcept {
  std::uint32_t standing = word(host::Standing::joined);
  if (board.card(node).standing.compare_exchange_strong(standing, word(how), std::memory_order_acq_rel)) {
    note_death(board, node, how);
    tell_all(board);
  }
}

}  // namespace

void mark_joined(const host::Board& board, NodeId node, const host::NodeFacts& facts) noexcept {
  host::NodeCard& mirror = board.card(node);
  static_cast<host::NodeFacts&>(mirror) = facts;
  mirror.wait_status.store(host::unknown_end, std::memory_order_relaxed);  // ordered by the next line
  mirror.standing.store(word(host::Standing::joined), std::memory_order_release);
}

void mark_left(const host::Board& board, NodeId node, int wait_status) noexcept {
  mark(board, node, host::Standing::left, wait_status);
}

void mark_dead(const host::Board& board, NodeId node, int wait_status) noexcept {
  mark(board, node, host::Standing::dead, wait_status);
}

void mark_departed(const host::Board& board, NodeId node, host::Standing how, int wait_status) noexcept {
  board.card(node).wait_status.store(wait_status, std::memory_order_relaxed);  // ordered by the next line
  mark_once(board, node, how);
}

void mark_lost(const host::Board& board, NodeId node) noexcept {
  mark_once(board, node, host::Standing::dead);
}

std::optional<NodeId> first_in_job(const host::Board& board, std::span<const NodeId> nodes) noexcept {
  for (const NodeId node : nodes) {
    if (board.standing(node) == host::Standing::joined) return node;
  }
  return {};
}

}  // namespace am::core
