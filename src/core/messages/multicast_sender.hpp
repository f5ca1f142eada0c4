// A multicast as it leaves a node: from the node that sends it, and from each that passes it on (forwarding.hpp). By the network's own
// multicasts, where it has any for the group (Multicaster::share_out); to the others in software, by a tree of ordinary packets (T1
// report, section 3.9 "Multicast": "a tree distribution scheme can be set up in software").
//
// Who gets it from here. A multicast's payload ends in a list (members.hpp). Those whom the network reaches from here get copies of one
// packet. Where some of them have others to pass it on to, the list names all members, and each finds its own share in it, as the
// network says of the node from which it came; else the list is empty. Those whom the network leaves to nobody are cut into a few parts:
// the first of each gets the packet with the rest of its part as the list. So a list is the share of a receiver who is not on it, and
// else one part of it is.
//
// Nothing waits in a circle: every node but the sender sends to greater ids only, the network's own multicasts included, so rings wait
// for each other along ascending ids (dispatch.cpp, point 3). A packet that cannot be sent on yet stays in its ring (defer):
// back-pressure goes up the tree, and no memory is needed.
//
// Order. Who gets it from whom follows from the group and from who of it has died or left; not from the length, nor from what is full
// just now. So multicasts of one node to one group go by the same links, and none overtakes another on any. A long one goes by these
// links, too, in a row of pieces for each. (One row for all of them, each piece a multicast of the network, could stand still for ever:
// two such, each taken by one receiver first, whose memory for pieces is then used up, would wait for each other.)
//
// Whole or not at all. Nothing is committed before all links have room, and none is held by a row or a draft. Members who have died or
// left are found then, and struck off, and the others are shared out anew: so none of these is cut off, and none gets it twice.
//
// Used by whoever is in the node.
#pragma once

#include <am/impl/out_message.hpp>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/messages/members.hpp"
#include "core/messages/sender.hpp"
#include "transports/multicaster.hpp"
#include "transports/transport.hpp"

namespace am::core {

class MulticastSender {
 public:
  using List = std::pmr::vector<NodeId>;

  /// Parts for members whom no multicast of the network reaches. Where a send costs a cache line or two, further ones cost less than
  /// a step down the tree; where it costs a system call, or goes to another host, it does not.
  static constexpr std::size_t parts_by_memory = 16, parts_by_network = 2;

  /// For node `self`. `network`, which is where `sender` sends, and `sender` outlive this.
  MulticastSender(NodeId self, Transport& network, std::size_t most_parts, Sender& sender,
                  std::pmr::memory_resource* memory)
      : self_(self),
        most_parts_(most_parts),
        network_(network),
        sender_(sender),
        memory_(*memory),
        by_(memory),
        links_(memory),
        left_(memory),
        living_(memory),
        buffer_(memory) {}

  /// The part of a list, on which this node is and which came from `source`, that is its share, in the list's place. False where the
  /// network has brought it nothing.
  [[nodiscard]] bool keep_share(NodeId source, List& list);

  /// Sends to all members, who ascend, or to nobody. unreachable: all have died or left.
  /// `under_way`: of a long one, what goes by itself in later polls as long as others hold it.
  Status try_send(const impl::OutMessage& message, std::span<const NodeId> members,
                  SharedBytes* under_way = nullptr);

 private:
  class Bracket;
  /// A copy that leaves this node.
  struct Link {
    NodeId to = 0;
    Members list{};
    bool by_network = false;  // together with all others of which that is true
    Transport::Slot slot{};
    std::size_t at = 0;  // of what it carries
    [[nodiscard]] bool is_whole(Payload payload) const noexcept {
      return bytes_with_list(payload, list) <= slot.room;
    }
  };

  /// Null: the network has no multicasts for these.
  Multicaster* share_out(NodeId from, std::span<const NodeId> members);
  void find_links(std::span<const NodeId> members);
  /// The first link without room has its status.
  [[nodiscard]] const Link* claim_all(const impl::OutMessage& message) noexcept;
  std::size_t lay_out(Payload payload) noexcept;
  Status commit_all(const impl::OutMessage& message, Bracket& bracket, SharedBytes* under_way);
  void commit(const Link& link, impl::OutMessage message, const std::byte* images,
              const SharedBytes& kept) noexcept;

  const NodeId self_;
  const std::size_t most_parts_;
  Transport& network_;
  Sender& sender_;
  std::pmr::memory_resource& memory_;
  // for one call; here to be used again
  std::pmr::vector<std::uint32_t> by_;
  std::pmr::vector<Link> links_;
  List left_;
  List living_;
  std::pmr::vector<std::byte> buffer_;
};

}  // namespace am::core
