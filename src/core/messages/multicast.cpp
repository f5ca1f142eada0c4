// Multicast in software: a tree of ordinary packets (T1 report, section 3.9 "Multicast": "a tree distribution scheme can
// be set up in software").
//
// A multicast packet's payload ends in a list: the ids of the nodes below its receiver, in ascending order, then their
// number (32 bits each). The receiver halves the list; the first of each half gets the packet with the rest of that half.
// The sender itself gives the whole list to the lowest member, in one send, so that a failable multicast is accepted
// whole or not at all. Depth: 1 + log2(members).
//
// A packet that cannot be sent on yet stays in its ring (defer): back-pressure goes up the tree, no memory is needed, and
// messages on one link keep their order. Every forwarding send goes from a node to a greater id, so rings wait for each
// other along ascending ids only and never in a circle (dispatch.cpp, point 3).
#include <am/error.hpp>
#include <am/multicast.hpp>

#include "core/messages/forwarding.hpp"
#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"

namespace am::core {

Status Engine::multicast(const impl::OutMessage& message, std::span<const NodeId> members, bool wait) {
  Members rest{reinterpret_cast<const std::byte*>(members.data()), members.size()};
  Status status = Status::ok;
  while (rest.count != 0) {
    impl::OutMessage out = message;
    out.to = rest[0];
    out.flags = impl::flag::multicast;
    std::pmr::vector<std::byte> buffer(
        memory_for_events());  // its own: a send that waits may pass on others' packets meanwhile
    write_list(buffer, message.payload, rest.part(1, rest.count));
    out.payload = Payload(buffer);
    status = send(out, wait);
    if (status != Status::unreachable) break;
    rest = rest.part(1, rest.count);  // the dead cannot pass it on: the next one shall
  }
  return status;
}

}  // namespace am::core

namespace am {

Status Node::multicast_(const impl::OutMessage& message, std::span<const NodeId> members, bool wait) {
  if (members.empty()) return Status::ok;
  const impl::Hold hold(*this);
  if (const NodeId last = members.back(); last >= size_) {
    if (!wait) {
      events_.nicond = false;
      return Status::no_such_node;
    }
    throw core::unknown_node("send a multicast", last, size_, "check the group's members");
  }
  return engine_->multicast(message, members, wait);
}

}  // namespace am
