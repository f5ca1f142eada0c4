// The emulated M-Machine's network (AM_TRANSPORT=mmachine:RxC) as core sees it: a packet goes through the routers as the messages into
// which an M-Machine would have to cut it; when the last of them has come it may be read, in its window (window_transport.hpp).
//
// A node takes only so many requests (receive_buffers.hpp). What comes then it sends back, whole, and its sender sends it again, when it
// sees that there is room (3.3.2): what it carries stays in its window meanwhile, which is its bounce buffer. So windows are what the machine counts in OMBC,
// one for each peer, since no link may wait for another (contract); and what its acknowledgements say is said by their credit. For the
// same reason what is deferred, and what has come behind it, needs no buffer: others may have to come first.
//
// Requests and replies go by P0 and P1, in order; unordered ones as such (3.3.3), in lanes of their own, so that they really overtake.
// A packet that takes several messages goes in order: so its last message is the last. That one is taken, or sent back, for all of them.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.1, 3.3, 4.2.
//
// Used by the owning node's thread only; but MMachineHost's functions are called by whoever carries.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "emulated_hw/mmachine/job_pages.hpp"
#include "emulated_hw/mmachine/live_mesh.hpp"
#include "transports/emulated/injector.hpp"
#include "transports/emulated/receive_buffers.hpp"
#include "transports/emulated/showing.hpp"
#include "transports/emulated/window_transport.hpp"
#include "transports/unordered_lanes.hpp"

namespace am::emulated {

/// Of `options`, "RxC", for so many nodes; without, the squarest that there is. Throws am::Error.
[[nodiscard]] Extents mmachine_extents(std::string_view options, NodeId nodes);

/// The words of 64 bits that a packet is on an M-Machine: its own, and its payload with its length.
[[nodiscard]] constexpr std::size_t mmachine_words(std::size_t words, bool has_payload,
                                                   std::size_t payload_bytes) noexcept {
  return words + (has_payload ? 1 + (payload_bytes + 7) / 8 : 0);
}
inline constexpr std::size_t most_mmachine_messages =
    (mmachine_words(impl::max_words, true, impl::packet_payload_bytes) + mmachine::most_body - 1) /
    mmachine::most_body;

constexpr mmachine::Priority mmachine_priority(Priority priority) noexcept {
  return priority == Priority::high ? mmachine::Priority::p1 : mmachine::Priority::p0;
}

/// In the memory of the routers, behind them.
[[nodiscard]] constexpr std::size_t buffers_at(NodeId nodes) noexcept {
  return host::round_up(mmachine::LiveMesh::bytes(nodes), 2 * host::line);
}
[[nodiscard]] constexpr std::size_t mmachine_bytes(NodeId nodes) noexcept {
  return buffers_at(nodes) + nodes * sizeof(ReceiveBuffers);
}

/// What the routers see of the nodes.
class MMachineHost final : public mmachine::LiveMesh::Nodes {
 public:
  explicit MMachineHost(const Windows& windows) noexcept : windows_(windows), showing_(windows) {}

  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(mmachine::NodeNumber at, mmachine::NodeNumber from,
                                                     mmachine::Counted what) noexcept override {
    return windows_.window(at, from).arrived[static_cast<std::size_t>(what)];
  }
  void arrived(mmachine::NodeNumber at, mmachine::NodeNumber from, mmachine::Counted what) noexcept override {
    if (is_packet(what)) return showing_.note(at, from, static_cast<Lane>(what));
    buffers(at).sent_back.set(from);
  }
  void show(mmachine::NodeNumber at, mmachine::NodeNumber from, mmachine::Counted what) noexcept override {
    if (is_packet(what)) return showing_.show(at, from, static_cast<Lane>(what));
    showing_.wake(at);
  }
  void has_room(mmachine::NodeNumber at) noexcept override { showing_.has_room(at); }
  [[nodiscard]] bool takes(mmachine::NodeNumber at) noexcept override { return buffers(at).has_room(); }
  void took(mmachine::NodeNumber at) noexcept override {
    buffers(at).accepted.fetch_add(1, std::memory_order_relaxed);
  }

  [[nodiscard]] ReceiveBuffers& buffers(NodeId node) const noexcept {
    return reinterpret_cast<ReceiveBuffers*>(windows_.routers() + buffers_at(windows_.nodes()))[node];
  }
  [[nodiscard]] const Showing& showing() const noexcept { return showing_; }

 private:
  static constexpr bool is_packet(mmachine::Counted what) noexcept { return what < mmachine::Counted::back; }

  const Windows& windows_;
  const Showing showing_;
};

class MMachineTransport final : public WindowTransport, public UnorderedLanes {
 public:
  /// Throws am::Error.
  explicit MMachineTransport(const Site& site);

  [[nodiscard]] std::string_view name() const noexcept override { return "mmachine"; }
  [[nodiscard]] Slot claim_unordered(NodeId to, Priority priority, std::size_t words,
                                     std::size_t payload_bytes) noexcept override {
    return claim_in(lane_for(priority, words, payload_bytes), to, words, payload_bytes);
  }
  /// In the lane that a packet of any number of words would take.
  [[nodiscard]] bool has_room_unordered(NodeId to, Priority priority,
                                        std::size_t payload_bytes) noexcept override {
    return has_room_in(lane_for(priority, 0, payload_bytes), to, payload_bytes) &&
           has_room_in(lane_for(priority, impl::max_words, payload_bytes), to, payload_bytes);
  }
  [[nodiscard]] UnorderedLanes* unordered_lanes(NodeId /*peer*/) noexcept override { return this; }
  void commit(const Slot& slot, impl::Header header) noexcept override;
  void release(const View& view) noexcept override;
  void defer(const View& view) noexcept override;
  bool progress() noexcept override;
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override;
  [[nodiscard]] bool drained() const noexcept override;
  void close(NodeId peer) noexcept override;

 private:
  MMachineTransport(const Site& site, const Extents& extents);

  struct Network {
    using Mesh = mmachine::LiveMesh;
    using Message = mmachine::LiveMessage;
    static bool inject(Mesh& mesh, NodeId node, Priority /*priority*/, const Message& message) noexcept {
      return mesh.inject(node, message);
    }
    static void carry(Mesh& mesh, NodeId node, Priority priority, const Message& /*message*/) noexcept {
      mesh.carry(node, mmachine_priority(priority));
    }
    static bool ask_for_room(Mesh& mesh, NodeId node, Priority priority,
                             const Message& /*message*/) noexcept {
      return mesh.ask_for_room(node, mmachine_priority(priority));
    }
  };
  /// Requests to a node on one lane.
  struct Requests {
    std::uint64_t sent;       // packets
    std::uint64_t came_back;  // of these, since the start; some of them again and again
    std::uint64_t waiting;    // to be sent again
    unsigned flits;  // of the last one's last message; it is sent again with as many, whichever it is
  };
  /// Requests from a node on one lane.
  struct Taken {
    std::uint64_t released;
    std::uint64_t without_buffer;  // released, or behind one that was deferred
  };
  struct Peer {
    std::array<Requests, 2> requests;  // ordered, unordered
    std::array<Taken, 2> taken;        // the same

    [[nodiscard]] bool waits() const noexcept { return requests[0].waiting + requests[1].waiting != 0; }
  };

  bool push(Priority priority) noexcept override { return injector_.push(priority); }
  bool look_after() noexcept override { return mesh_.look_after(); }
  bool commit_windows(NodeId to) noexcept override;
  bool ask_receivers() noexcept override;
  void forget_refusals() noexcept override { injector_.forget(); }
  bool has_news() noexcept override { return may_send_again() || injector_.room_came(); }

  static constexpr Lane lane_for(Priority priority, std::size_t words, std::size_t payload_bytes) noexcept {
    return lane_of(priority, mmachine_words(words, payload_bytes != 0, payload_bytes) <= mmachine::most_body);
  }
  /// A packet for each slot that may have been claimed; and what came back.
  [[nodiscard]] std::size_t most_waiting() const noexcept {
    return most_mmachine_messages * (most_lanes / 2 * windows().nodes() + 1);
  }
  [[nodiscard]] mmachine::NodeNumber destination(NodeId to) noexcept;
  /// Of so many requests.
  void free_buffers(std::uint64_t requests) noexcept;
  /// Something has come back, or there is room where something waits to be sent again.
  [[nodiscard]] bool may_send_again() const noexcept;
  void take_back() noexcept;
  void take_back_from(NodeId peer) noexcept;
  bool send_again() noexcept;
  void send_again(NodeId to, Peer& peer) noexcept;

  MMachineHost host_;
  mmachine::LiveMesh mesh_;
  mmachine::JobPages pages_;
  mmachine::Translation translation_;
  Injector<Network> injector_;
  host::ZeroedArray<Peer> peers_;
  std::vector<NodeId> waiting_;  // of whom something is to be sent again
  std::uint64_t freed_ = 0;      // buffers
};

}  // namespace am::emulated
