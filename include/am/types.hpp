// Names for nodes, priorities and outcomes: the vocabulary every other header shares.
#pragma once

#include <am/impl/language.hpp>
#include <cstdint>
#include <string_view>

// Xlib makes it int, which would be so in all headers that name it.
#pragma push_macro("Status")
#undef Status

namespace am {

/// A node's place in its job: 0 .. size-1. A node is the unit of addressing (design section 3).
using NodeId = std::uint32_t;

/// Where a send goes whose message is in no order with others: node.request<h>(am::unordered(peer), ...).
struct UnorderedTo {
  explicit constexpr UnorderedTo(NodeId node) noexcept : to(node) {}
  NodeId to;
};
/// The M-Machine's unordered messages (docs/contract.md, clause 2): delivered once, as every message, but maybe before what was sent
/// to that node at that priority earlier, or behind what is sent later. A network that has no use for that, and a payload of more
/// than impl::packet_payload_bytes (1 KiB), goes in order.
[[nodiscard]] constexpr UnorderedTo unordered(NodeId to) noexcept { return UnorderedTo(to); }

/// The two logical networks (T1 report, appendix A.1 "Message Delivery"): `low` carries requests, `high` carries
/// replies. However full `low` is, `high` gets through.
enum class Priority : std::uint8_t { low = 0, high = 1 };

/// How a message reaches its handler while the node's program runs. See docs/dispatch.md for what each costs.
///  - poll       handlers run inside calls that make progress, on the node's own thread
///  - thread     a thread of the library runs them, beside the computation
///  - interrupt  they preempt the computation, on the node's own thread (by a signal)
enum class Dispatch : std::uint8_t { poll, thread, interrupt };

/// The name, as settings and reports write it.
constexpr std::string_view to_string(Dispatch dispatch) noexcept {
  switch (dispatch) {
    case Dispatch::poll:
      return "poll";
    case Dispatch::thread:
      return "thread";
    case Dispatch::interrupt:
      return "interrupt";
  }
  return "?";
}

/// What became of a send.
///  - ok           accepted: it will be delivered exactly once unless the peer fails
///  - again        the network is full right now; nothing was sent, try later (the T1's cleared `nicond`)
///  - too_big      no such message can ever be accepted: more payload than the machine has memory
///  - unreachable  the peer died or has left the job
///  - no_such_node the id is not in 0 .. size-1
enum class Status : std::uint8_t { ok, again, too_big, unreachable, no_such_node };

constexpr std::string_view to_string(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::again:
      return "again";
    case Status::too_big:
      return "too_big";
    case Status::unreachable:
      return "unreachable";
    case Status::no_such_node:
      return "no_such_node";
  }
  return "?";
}

constexpr std::string_view to_string(Priority priority) noexcept {
  return priority == Priority::low ? "low" : "high";
}

}  // namespace am

#pragma pop_macro("Status")
