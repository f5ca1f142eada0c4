#include "emulated_hw/t1/live_mesh.hpp"

#include <bit>

#include "emulated_hw/t1/carrier.hpp"

namespace am::t1 {

namespace {

/// Of one call: more than any message's way, with what it sets free; so few that whoever sends is not kept for long.
constexpr unsigned most_steps = 256;

constexpr auto look = [](const std::atomic<kit::Word>& word) { return word.load(std::memory_order_seq_cst); };

}  // namespace

bool LiveMesh::inject(NodeNumber node, Priority priority, const Carried& message) noexcept {
  const unsigned input = channel(0, priority, 0);
  kit::LiveChannel& to = routers_[node].inputs[input];
  const kit::LiveChannel::Place place = to.tail(look);
  if (place.is_full()) return false;
  to.word(place.index).exchange(place.with(message.bits()), std::memory_order_seq_cst);
  Carrier<>(*this).announce(node, input);
  return true;
}

bool LiveMesh::accepts(NodeNumber node, Priority priority) const noexcept {
  return !routers_[node].inputs[channel(0, priority, 0)].tail(look).is_full();
}

bool LiveMesh::ask_for_room(NodeNumber node, Priority priority) noexcept {
  routers_[node].starved.fetch_or(kit::request(channel(0, priority, 0)), std::memory_order_seq_cst);
  return accepts(node, priority);
}

bool LiveMesh::has_gone(NodeNumber node) const noexcept {
  const auto is_empty = [&](Priority priority) {
    return !routers_[node].inputs[channel(0, priority, 0)].head(look).is_full();
  };
  return is_empty(Priority::low) && is_empty(Priority::high);
}

void LiveMesh::carry(NodeNumber first) noexcept { Carrier<>(*this).run(first, most_steps); }

bool LiveMesh::look_after() noexcept {
  bool any = false;
  for (unsigned word = 0; word * 64 < grid_.nodes(); ++word) {
    kit::for_each(look(shared_.work[word]), [&](unsigned bit) {
      const NodeNumber node = word * 64 + bit;
      if (node >= grid_.nodes()) return;  // not what another has scribbled
      const kit::Word before = look(routers_[node].turn);
      carry(node);
      any = any || look(routers_[node].turn) != before;
    });
  }
  return any;
}

bool LiveMesh::has_work() const noexcept {
  for (unsigned word = 0; word * 64 < grid_.nodes(); ++word) {
    for (kit::Requests bits = look(shared_.work[word]); bits != 0; bits &= bits - 1) {
      const NodeNumber node = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
      if (node >= grid_.nodes()) break;
      const LiveRouter& router = routers_[node];
      if (kit::Turn{look(router.turn)}.has_move()) return true;
      for (kit::Requests waiting = look(router.waiting); waiting != 0; waiting &= waiting - 1) {
        const auto input = static_cast<unsigned>(std::countr_zero(waiting));
        if (input < channels && router.inputs[input].head(look).is_full()) return true;
      }
    }
  }
  return false;
}

}  // namespace am::t1
