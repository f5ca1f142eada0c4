// Multicast: by the network's own, where it has any for the group (multicast_sender.hpp); else in software, by a tree of ordinary
// packets (T1 report, section 3.9 "Multicast": "a tree distribution scheme can be set up in software").
//
// A multicast packet's payload ends in a list (members.hpp). In the tree these are the nodes below its receiver. The receiver
// halves the list; the first of each half gets the packet with the rest of that half.
// The sender itself gives the whole list to the lowest member, in one send, so that a failable multicast is accepted
// whole or not at all. Depth: 1 + log2(members).
//
// A packet that cannot be sent on yet stays in its ring (defer): back-pressure goes up the tree, no memory is needed, and
// messages on one link keep their order. Every forwarding send goes from a node to a greater id, the network's own multicasts
// included, so rings wait for each other along ascending ids only and never in a circle (dispatch.cpp, point 3).
#include <am/error.hpp>
#include <am/multicast.hpp>

#include "core/messages/members.hpp"
#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"

namespace am::core {

Status Engine::multicast(const impl::OutMessage& message, std::span<const NodeId> members, bool wait) {
  if (multicasts_.takes(members)) {
    MulticastSender::List living(members.begin(), members.end(), memory_for_events());
    return send_to_all(message, living, wait);
  }
  Members rest(members);
  Status status = Status::ok;
  while (rest.count != 0) {
    impl::OutMessage out = message;
    out.to = rest[0];
    out.flags = impl::flag::multicast;
    const Members list = rest.part(1, rest.count);
    std::pmr::vector<std::byte> buffer(
        bytes_with_list(message.payload, list),
        memory_for_events());  // its own: a send that waits may pass on others' packets meanwhile
    write_list(buffer.data(), message.payload, list);
    out.payload = Payload(buffer);
    status = send(out, wait);
    if (status != Status::unreachable) break;
    rest = list;  // the dead cannot pass it on: the next one shall
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
