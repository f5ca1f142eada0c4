#include "emulated_hw/cm5/live_tree.hpp"

#include <algorithm>

namespace am::cm5 {

namespace {

/// Behind the routers: whether it is frozen, on a line, and the cells.
constexpr std::size_t words_before_cells = 8;

}  // namespace

std::size_t LiveTree::bytes(NodeNumber nodes) {
  const kit::FatTree shape = live_tree(nodes).shape();
  const std::size_t lowest = shape.nodes() / Tree::children * Tree::links;
  return LiveNetwork::bytes(shape.routers()) +
         (words_before_cells + lowest * memory_cells) * sizeof(kit::Word);
}

LiveTree::LiveTree(NodeNumber nodes, std::byte* memory, Nodes& nodes_that_count)
    : LiveNetwork(live_tree(nodes).shape().routers(), nodes, memory),
      count_(nodes),
      ports_(live_tree(nodes).routers()),
      frozen_(reinterpret_cast<std::atomic<kit::Word>*>(memory + LiveNetwork::bytes(routers()))),
      cells_(frozen_ + words_before_cells),
      nodes_(nodes_that_count) {}

bool LiveTree::inject(NodeNumber node, const LiveMessage& message) noexcept {
  if (frozen_until() != 0) return false;
  const std::uint32_t turn = turn_;
  turn_ = turn + 1;
  const std::array links = entrances(node);
  const auto first = static_cast<std::size_t>(kit::mixed(turn, node) >> 63);
  const auto put_into = [&](const kit::InputAt& its) {
    return put(its.router, its.input, message.bits(), 1, input_cells);
  };
  return put_into(links[first]) || put_into(links[first ^ 1]);
}

bool LiveTree::fall() noexcept {
  bool any = false;
  for (kit::RouterNumber router = 0; router < routers(); ++router)
    Carrier<>(*this).look_after(router, true, kit::most_live_steps);
  for (kit::RouterNumber router = 0; router < routers(); ++router) {
    for (unsigned input = 0; input < saved; ++input) any = any || holds_any({router, input});
  }
  return !any;
}

// Who has seen it frozen, and waits, is told afterwards; what is saved may be marked as waiting by somebody who has seen that, too.
void LiveTree::thaw(std::uint64_t until) noexcept {
  if (!frozen_->compare_exchange_strong(until, 0, std::memory_order_seq_cst)) return;
  for (kit::RouterNumber router = 0; router < routers(); ++router) {
    if (holds_any({router, saved})) carry_from(router, saved);
  }
  for (NodeNumber node = 0; node < count_; ++node) nodes_.has_room(node);
}

}  // namespace am::cm5

namespace am::kit {
template class LiveNetwork<cm5::LiveTree, cm5::LiveRouter>;
}
