#include "emulated_hw/t1/live_mesh.hpp"

#include <bit>

#include "emulated_hw/t1/carrier.hpp"

namespace am::t1 {

namespace {

/// Of one call: more than any message's way, with what it sets free; so few that whoever sends is not kept for long.
constexpr unsigned most_steps = 256;

constexpr auto look = [](const std::atomic<kit::Word>& word) { return word.load(std::memory_order_seq_cst); };

}  // namespace

// Nobody else lets packets into this channel, so its entries are this node's own.
bool LiveMesh::inject(NodeNumber node, Priority priority, const Carried& message) noexcept {
  kit::LiveChannel& to = routers_[node].inputs[channel(0, priority, 0)];
  const kit::Entry last{to.entries.load(std::memory_order_relaxed)};
  if (!to.has_room(last, look)) return false;
  to.entries.store(last.with(0, 0).word, std::memory_order_relaxed);
  to.flits.add(message.flits);
  std::atomic<kit::Word>& place = to.place[last.count() % kit::LiveChannel::places];
  const std::uint32_t lap = kit::LiveChannel::lap_of(place.load(std::memory_order_relaxed)) + 1;
  place.exchange(kit::LiveChannel::filled(message.bits(), lap), std::memory_order_seq_cst);
  Carrier<>(*this).watch(node);
  return true;
}

bool LiveMesh::accepts(NodeNumber node, Priority priority) const noexcept {
  return routers_[node].inputs[channel(0, priority, 0)].has_room(look);
}

bool LiveMesh::ask_for_room(NodeNumber node, Priority priority) noexcept {
  routers_[node].starved.fetch_or(kit::request(channel(0, priority, 0)), std::memory_order_seq_cst);
  return accepts(node, priority);
}

bool LiveMesh::has_gone(NodeNumber node) const noexcept {
  const auto is_empty = [&](Priority priority) {
    return !routers_[node].inputs[channel(0, priority, 0)].first(look).is_there;
  };
  return is_empty(Priority::low) && is_empty(Priority::high);
}

void LiveMesh::carry(NodeNumber node, Priority priority) noexcept {
  Carrier<>(*this).run(node, kit::request(channel(0, priority, 0)), most_steps);
}

bool LiveMesh::look_after() noexcept {
  bool any = false;
  for (unsigned word = 0; word * 64 < grid_.nodes(); ++word) {
    kit::for_each(look(shared_.work[word]), [&](unsigned bit) {
      const NodeNumber node = word * 64 + bit;
      if (node >= grid_.nodes()) return;  // not what another has scribbled
      any = Carrier<>(*this).look_after(node, false, most_steps) || any;
    });
  }
  const NodeNumber next = next_ + 1 < grid_.nodes() ? next_ + 1 : 0;
  next_ = next;
  return Carrier<>(*this).look_after(next, true, most_steps) || any;
}

}  // namespace am::t1
