#include "core/membership/relay.hpp"

#include <algorithm>

#include "core/membership/control_words.hpp"
#include "core/membership/standing.hpp"
#include "host/standstill.hpp"
#include "transports/control_lane.hpp"

namespace am::core {

namespace {

/// How a node departed: its standing, its wait status, and how many barriers it had arrived at.
struct Departure {
  host::Standing standing;
  std::int32_t wait_status;
  std::uint32_t barriers;

  [[nodiscard]] std::uint64_t packed() const noexcept {
    const auto status = static_cast<std::uint32_t>(wait_status) & 0xffffffU;
    return std::uint64_t{barriers} << 32 | status << 8 | static_cast<std::uint32_t>(standing);
  }
  static Departure unpacked(std::uint64_t value) noexcept {
    const auto low = static_cast<std::uint32_t>(value);
    return {static_cast<host::Standing>(low & 0xffU), static_cast<std::int32_t>(low) >> 8,
            static_cast<std::uint32_t>(value >> 32)};
  }
};

constexpr std::uint64_t time_to_say_more_ns = 1'000'000'000;

constexpr bool is_gone(host::Standing standing) noexcept {
  return standing == host::Standing::left || standing == host::Standing::dead;
}

}  // namespace

Relay::Relay(const host::Board& board, NodeId self)
    : board_(board), self_(self), hosts_(board), count_(board, self, hosts_), told_(hosts_.here().size()) {}

/// The first node of this host that is still in the job; one that is just leaving counts itself.
bool Relay::speaks() const noexcept {
  const std::optional<NodeId> first = first_in_job(board_, hosts_.here());
  return !first || *first >= self_;
}

void Relay::tell(Transport& network) noexcept {
  if (hosts_.count() == 1 || !speaks()) return;
  for (std::size_t i = 0; i < told_.size(); ++i) {
    const NodeId node = hosts_.here()[i];
    if (told_[i] || !is_gone(board_.standing(node))) continue;
    told_[i] = true;
    tell_all(network, node);
  }
}

void Relay::tell_at_the_end(Transport& network) const noexcept {
  if (hosts_.count() == 1) return;
  for (const NodeId node : hosts_.here()) {
    if (board_.standing(node) == host::Standing::dead) tell_all(network, node);
  }
  network.progress();
}

void Relay::tell_all(Transport& network, NodeId departed) const noexcept {
  const host::NodeCard& card = board_.card(departed);
  const Departure departure{board_.standing(departed), card.wait_status.load(std::memory_order_relaxed),
                            card.barriers.load(std::memory_order_relaxed)};  // both written before standing
  for (NodeId node = 0; node < board_.nodes(); ++node) {
    if (!board_.is_here(node) && board_.standing(node) == host::Standing::joined)
      network.control_lane(node)->publish(node, word_about(About::standing, departed), departure.packed());
  }
}

void Relay::tell_barrier(Transport& network, NodeId to, std::uint32_t round, std::uint32_t number) noexcept {
  network.control_lane(to)->publish(to, word_about(About::barrier, round), number);
}

void Relay::heard(NodeId from, std::uint32_t word, std::uint64_t value) noexcept {
  if (from >= board_.nodes() || board_.is_here(from) || board_.standing(from) == host::Standing::dead) return;
  switch (about_of(word)) {
    case About::standing:
      return departed(from, index_of(word), value);
    case About::barrier:
      return barrier_came(from, index_of(word), static_cast<std::uint32_t>(value));
    case About::count:
      return count_.agrees(from);
  }
}

void Relay::departed(NodeId from, NodeId node, std::uint64_t value) noexcept {
  const Departure departure = Departure::unpacked(value);
  if (node >= board_.nodes() || board_.card(node).on_host != board_.card(from).on_host ||
      !is_gone(departure.standing))
    return;
  board_.card(node).barriers.store(departure.barriers, std::memory_order_relaxed);  // ordered by standing
  mark_departed(board_, node, departure.standing, departure.wait_status);
}

void Relay::barrier_came(NodeId from, std::uint32_t round, std::uint32_t number) noexcept {
  const std::uint32_t count = hosts_.count();
  if (round >= barrier_rounds || 1u << round >= count) return;
  if (from == hosts_.first_of((hosts_.own() + count - (1u << round)) % count)) barriers_[round] = number;
}

void Relay::heard_clock(NodeId from, std::uint64_t asked, std::uint64_t told) noexcept {
  count_.heard(from, asked, told);
}

void Relay::lost(NodeId peer) noexcept {
  if (peer >= board_.nodes()) return;
  if (board_.is_here(peer)) {
    lost_here_.push_back({peer, host::running_ns(board_.job())});
  } else {
    mark_lost(board_, peer);
  }
}

void Relay::give_up_the_lost() noexcept {
  if (lost_here_.empty()) return;
  const std::uint64_t now = host::running_ns(board_.job());
  std::erase_if(lost_here_, [&](const Lost& lost) {
    const bool over = now - lost.since_ns >= time_to_say_more_ns;
    if (over) mark_lost(board_, lost.node);
    return over;
  });
}

}  // namespace am::core
