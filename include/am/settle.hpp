// The end of a phase in which nodes send each other what nobody answers: all that was sent has come, on every node.
//
//   // sent[n]: how much this node has sent to node n in this phase; came: how much has come to this node in all; before: in earlier phases
//   am::settle(node, sent, [&](std::uint64_t all) { return came - before >= all; });
//   before += sent[node.id()];
//
// (More than all: the next phase of a node that is out of here already.)
//
// Every node calls it, as the operations of am/collectives.hpp, whose rules are its own: it polls; it needs every node; an exception
// that comes out of a handler or a post meanwhile leaves it when it is complete on this node.
//
// Source: the CM-5's control network let programs of Split-C and CMAM wait until nothing was under way by adding up what was sent and what
// had come until the sum was 0 (Culler and others, Parallel Programming in Split-C, 1993). Here each node is told what to wait for.
#pragma once

#include <am/node.hpp>
#include <cstdint>
#include <functional>
#include <span>

namespace am {

/// `sent[n]`: how much this node has sent to node n, by any measure; it becomes how much all have sent to node n, also when an exception
/// of a handler comes out. Returns when come(sent[node.id()]) is true on every node. `come` is asked again and again, also when it has said
/// true, and must not throw; where no node has sent anything it is not asked. What is sent to a node by handlers and posts while it is in
/// here belongs to no phase.
void settle(Node& node, std::span<std::uint64_t> sent, const std::function<bool(std::uint64_t)>& come);

}  // namespace am
