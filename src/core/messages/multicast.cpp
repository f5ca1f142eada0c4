// Multicast, as a program calls it. How it leaves a node: multicast_sender.hpp.
#include <algorithm>
#include <am/error.hpp>
#include <am/multicast.hpp>
#include <functional>

#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"

namespace am {

Status Node::multicast_(const impl::OutMessage& message, std::span<const NodeId> members, bool wait) {
  if (members.empty()) return Status::ok;
  const impl::Hold hold(*this);
  if (const NodeId last = std::ranges::max(members); last >= size_) {
    if (!wait) {
      events_.nicond = false;
      return Status::no_such_node;
    }
    throw core::unknown_node("send a multicast", last, size_, "check the group's members");
  }
  return engine_->multicast(message, members, wait);
}

namespace core {

Status Engine::multicast(const impl::OutMessage& message, std::span<const NodeId> members, bool wait) {
  const bool ascend = std::ranges::adjacent_find(members, std::greater_equal{}) == members.end();
  if (ascend) return send_to_all(message, members, wait);
  MulticastSender::List list(members.begin(), members.end(), memory_for_events());
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return send_to_all(message, list, wait);
}

}  // namespace core
}  // namespace am
