#include "emulated_hw/cm5/network.hpp"

#include <algorithm>
#include <stdexcept>

namespace am::cm5 {

std::uint64_t Router::print(const Message& message) noexcept {
  std::uint64_t print = kit::mixed(message.to, std::uint64_t{message.tag} << 8 | message.length);
  for (unsigned i = 0; i < message.length; ++i) print = kit::mixed(print, message.words[i]);
  return print;
}

Network::Network(NodeNumber nodes, std::uint64_t seed, const std::string& name, unsigned channel)
    : Network(Tree(nodes), seed, name, channel) {}

Network::Network(const Tree& tree, std::uint64_t seed, const std::string& name, unsigned channel)
    : WordNetwork(tree.wiring(flits(most_words, tree.levels())), Router(tree, seed), name),
      tree_(tree),
      channel_(channel) {}

std::uint64_t Network::idle_links(NodeNumber node) const {
  std::uint64_t idle = 0;
  for (unsigned link = 0; link < Tree::links; ++link) {
    if (has_room(out_of(node, link))) idle |= std::uint64_t{1} << link;
  }
  return idle;
}

bool Network::launch(NodeNumber from, const Message& message) {
  if (message.to >= tree_.nodes())
    throw std::out_of_range("cm5: node " + std::to_string(from) + " sends to node " +
                            std::to_string(message.to) + ", and there is none");
  const std::uint64_t idle = idle_links(from);
  if (idle == 0) return false;
  const unsigned link = policy().choose(idle, out_of(from, 0), now()) == 1 ? 0 : 1;
  const unsigned length = flits(message.length, tree_.levels_to_climb(from, message.to));
  std::uint32_t recorded = kit::Trace::nothing;
  if (trace() != nullptr) {
    recorded = trace()->begins(from, message.to, channel_);
    trace()->passes(recorded, from, kit::Trace::injection, now(), length);
  }
  send(out_of(from, link), {message, static_cast<Tag>(length), recorded});
  return true;
}

Message Network::take_at(NodeNumber node, kit::WireNumber wire) {
  const Flit come = *front(wire);
  if (trace() != nullptr) trace()->comes(come.message, node, now());
  take(wire);
  return come.word;
}

/// A message that has been given its way, but still waits, is given another.
void Network::all_fall_down(const Partition& partition, bool on) {
  const std::vector<Tree::Router>& routers = policy().routers();
  for (kit::PartNumber number = 0; number < routers.size(); ++number) {
    const Tree::Router& router = routers[number];
    if (router.down == 0) continue;
    const NodeNumber end = std::min(router.first + router.nodes(), tree_.nodes());
    if (!partition.contains(router.first) || !partition.contains(end - 1)) continue;
    policy().falls(number, on);
    forget_ways(number);
  }
}

}  // namespace am::cm5
