#include "emulated_hw/cm5/live_tree.hpp"

#include <algorithm>
#include <utility>

namespace am::cm5 {

namespace {

/// Behind the routers: whether it is frozen, on a line, and the cells.
constexpr std::size_t words_before_cells = 8;

}  // namespace

std::vector<LivePorts> live_ports(NodeNumber nodes) {
  const Tree tree(nodes == 1 ? 2 : nodes);
  const std::vector<Tree::Router> routers = tree.routers();
  std::vector<LivePorts> all(routers.size());
  for (std::size_t number = 0; number < all.size(); ++number) {
    all[number].its = routers[number];
    all[number].router.fill(static_cast<std::uint16_t>(number));
    all[number].input.fill(saved);
  }
  const kit::Wiring wiring = tree.wiring(1);
  for (const kit::Wire& wire : wiring.wires()) {
    if (std::max(wire.from.part, wire.to.part) >= wiring.routers()) continue;  // a node's
    LivePorts& ports = all[wire.from.part];
    ports.router[wire.from.port] = static_cast<std::uint16_t>(wire.to.part);
    ports.input[wire.from.port] = static_cast<std::uint8_t>(wire.to.port);
  }
  return all;
}

std::size_t LiveTree::bytes(NodeNumber nodes) {
  const std::vector<LivePorts> ports = live_ports(nodes);
  const auto lowest = static_cast<std::size_t>(std::ranges::count_if(ports, &LivePorts::is_lowest));
  const std::size_t words = words_before_cells + lowest * memory_cells;
  return LiveNetwork::bytes(static_cast<kit::RouterNumber>(ports.size())) + words * sizeof(kit::Word);
}

LiveTree::LiveTree(NodeNumber nodes, std::byte* memory, Nodes& nodes_that_count)
    : LiveTree(live_ports(nodes), nodes, memory, nodes_that_count) {}

LiveTree::LiveTree(std::vector<LivePorts> ports, NodeNumber nodes, std::byte* memory, Nodes& nodes_that_count)
    : LiveNetwork(static_cast<kit::RouterNumber>(ports.size()), nodes, memory),
      count_(nodes),
      ports_(std::move(ports)),
      frozen_(reinterpret_cast<std::atomic<kit::Word>*>(memory + LiveNetwork::bytes(routers()))),
      cells_(frozen_ + words_before_cells),
      nodes_(nodes_that_count) {}

bool LiveTree::inject(NodeNumber node, const LiveMessage& message) noexcept {
  if (frozen_until() != 0) return false;
  const std::uint32_t turn = turn_;
  turn_ = turn + 1;
  const auto first = static_cast<unsigned>(kit::mixed(turn, node) >> 63);
  for (unsigned link = 0; link < Tree::links; ++link) {
    const kit::InputAt its = input_of(node, first ^ link);
    if (put(its.router, its.input, message.bits(), 1, input_cells)) return true;
  }
  return false;
}

bool LiveTree::ask_for_room(NodeNumber node) noexcept {
  bool any = false;
  for (unsigned link = 0; link < Tree::links; ++link) {
    const kit::InputAt its = input_of(node, link);
    any = ask_for_room_at(its.router, its.input, input_cells) || any;
  }
  return any && frozen_until() == 0;
}

bool LiveTree::has_gone(NodeNumber node) const noexcept {
  for (unsigned link = 0; link < Tree::links; ++link) {
    const kit::InputAt its = input_of(node, link);
    if (first(its.router, its.input, kit::Look()).is_there) return false;
  }
  return true;
}

void LiveTree::carry(NodeNumber node) noexcept {
  for (unsigned link = 0; link < Tree::links; ++link) {
    const kit::InputAt its = input_of(node, link);
    if (first(its.router, its.input, kit::Look()).is_there) carry_from(its.router, its.input);
  }
}

bool LiveTree::freeze(std::uint64_t until) noexcept {
  kit::Word thawed = 0;
  return frozen_->compare_exchange_strong(thawed, until, std::memory_order_seq_cst);
}

bool LiveTree::fall() noexcept {
  bool any = false;
  for (kit::RouterNumber router = 0; router < routers(); ++router)
    Carrier<>(*this).look_after(router, true, kit::most_live_steps);
  for (kit::RouterNumber router = 0; router < routers(); ++router) {
    for (unsigned input = 0; input < saved; ++input) any = any || first(router, input, kit::Look()).is_there;
  }
  return !any;
}

// Who has seen it frozen, and waits, is told afterwards; what is saved may be marked as waiting by somebody who has seen that, too.
void LiveTree::thaw(std::uint64_t until) noexcept {
  if (!frozen_->compare_exchange_strong(until, 0, std::memory_order_seq_cst)) return;
  for (kit::RouterNumber router = 0; router < routers(); ++router) {
    if (first(router, saved, kit::Look()).is_there) carry_from(router, saved);
  }
  for (NodeNumber node = 0; node < count_; ++node) nodes_.has_room(node);
}

}  // namespace am::cm5

namespace am::kit {
template class LiveNetwork<cm5::LiveTree, cm5::LiveRouter>;
}
