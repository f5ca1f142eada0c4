// The emulated T1 network (AM_TRANSPORT=t1:RxC) as core sees it: a packet is written into its receiver's window, and goes through the
// routers as the messages into which a T1 would have to cut it; when the last of them has come it may be read.
//
//   claim, commit   room in the window, and in the node's channel into the network: a SEND that the network accepts
//   progress        arrivals, and what others may have left in the routers
//
// A sender carries its messages to their end (LiveMesh::carry), so no node has to poll for others' messages to pass it.
//
// Used by the owning node's thread only; but Host's functions are called by whoever carries.
#pragma once

#include <am/impl/link.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "transports/emulated/accesses.hpp"
#include "transports/emulated/arrivals.hpp"
#include "transports/emulated/patches.hpp"
#include "transports/emulated/windows.hpp"
#include "transports/site.hpp"
#include "transports/transport.hpp"

namespace am::emulated {

/// Of `options`, "RxC", for so many nodes; without, the squarest that there is. Throws am::Error.
[[nodiscard]] t1::Shape shape_of(std::string_view options, NodeId nodes);

/// The T1 messages into which a packet is cut (T1 report, 3.1): words of 32 bits, up to 5 scalars and a vector of up to 32 in each.
[[nodiscard]] constexpr std::size_t words_of(std::size_t words, bool has_payload,
                                             std::size_t payload_bytes) noexcept {
  return 2 * words + (has_payload ? 1 + (payload_bytes + 3) / 4 : 0);
}
inline constexpr std::size_t words_per_message = t1::most_scalars + t1::most_vector;
/// Of one that the interface handles: where its words belong is among its scalars.
inline constexpr std::size_t words_per_access = t1::most_vector;
inline constexpr std::size_t most_messages =
    (words_of(impl::max_words, true, impl::packet_payload_bytes) + words_per_message - 1) / words_per_message;

/// What the routers see of the nodes.
class Host final : public t1::LiveMesh::Nodes {
 public:
  explicit Host(const Windows& windows) noexcept : windows_(windows) {}
  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(t1::NodeNumber at, t1::NodeNumber from,
                                                     t1::Counted what) noexcept override {
    return windows_.window(at, from).arrived[static_cast<std::size_t>(what)];
  }
  void arrived(t1::NodeNumber at, t1::NodeNumber from, t1::Counted what) noexcept override;
  void show(t1::NodeNumber at, t1::NodeNumber from, t1::Counted what) noexcept override;
  void has_room(t1::NodeNumber at) noexcept override;

 private:
  void wake(t1::NodeNumber node) const noexcept;

  const Windows& windows_;
};

class T1Transport final : public Transport {
 public:
  /// Throws am::Error.
  explicit T1Transport(const Site& site);

  [[nodiscard]] std::string_view name() const noexcept override { return "t1"; }
  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override;
  void commit(const Slot& slot, impl::Header header) noexcept override;
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override;
  [[nodiscard]] bool share_out(NodeId from, std::span<const NodeId> members,
                               std::span<std::uint32_t> by) const noexcept override {
    emulated::share_out(mesh_.grid(), from, members, by);
    return true;
  }
  void begin_multicast() noexcept override { multicast_ = Multicast(); }
  void end_multicast() noexcept override;
  [[nodiscard]] bool carries_accesses(NodeId /*peer*/) const noexcept override { return true; }
  [[nodiscard]] Status begin_access(Access access, NodeId peer, std::size_t bytes) noexcept override;
  [[nodiscard]] std::uint64_t accesses_done(Access access, NodeId peer) noexcept override {
    return accesses_.done(access, peer);
  }
  [[nodiscard]] View receive(Priority priority) noexcept override;
  void release(const View& view) noexcept override;
  void defer(const View& view) noexcept override { arrivals(view.priority).defer(view.source); }
  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) noexcept override {
    return arrivals(priority).waits(lent);
  }
  bool progress() noexcept override;
  [[nodiscard]] bool drained() const noexcept override;
  [[nodiscard]] bool arm(Wanted wanted) noexcept override;
  void disarm() noexcept override;
  [[nodiscard]] bool still_armed(Wanted /*wanted*/) noexcept override { return true; }
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override;
  void close(NodeId peer) noexcept override;
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override {
    return producers_[impl::link_index(to, priority)].queued();
  }

 private:
  /// Messages that were committed and found no room in the node's channel: a few, where many slots were claimed before.
  struct Outgoing {
    explicit Outgoing(std::size_t capacity) : messages(capacity) {}
    [[nodiscard]] bool is_empty() const noexcept { return begin == end; }
    host::ZeroedArray<t1::Carried> messages;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// What was committed since begin_multicast: all the same packet.
  struct Multicast {
    Priority priority = Priority::low;
    std::size_t words = 0;
    std::array<unsigned, t1::ports>
        links{};  // by the port it leaves by: to the farthest, and 1 more; 0: nobody
    std::array<NodeId, t1::ports> farthest{};
    void add(const kit::Grid& grid, NodeId self, NodeId to) noexcept;
  };
  /// A claim that was answered `again` for want of so many lines.
  struct Refusal {
    NodeId to;
    Priority priority;
    std::size_t lines;
  };

  [[nodiscard]] Arrivals& arrivals(Priority priority) noexcept {
    return arrivals_[static_cast<std::size_t>(priority)];
  }
  [[nodiscard]] Outgoing& outgoing(Priority priority) noexcept {
    return outgoing_[static_cast<std::size_t>(priority)];
  }
  /// A packet for each slot that may have been claimed, and an access that began before they were committed.
  [[nodiscard]] std::size_t most_outgoing() const noexcept { return most_messages * (windows_.nodes() + 1); }
  [[nodiscard]] Status connect(NodeId to) noexcept;
  /// Says so, once; again.
  Status no_memory(NodeId peer) noexcept;
  void send(NodeId to, Priority priority, std::size_t words, bool multicast) noexcept;
  void store(NodeId to, std::size_t bytes) noexcept;
  void fetch(NodeId from, std::size_t bytes) noexcept;
  void put_in(Priority priority, const t1::Carried& message) noexcept;
  /// Whether all has gone into the network.
  bool send_outgoing(Priority priority) noexcept;
  void remember(NodeId to, Priority priority, std::size_t lines) noexcept;
  void set_starved(bool starved) noexcept;
  [[nodiscard]] bool room_came() noexcept;

  const NodeId self_;
  const Windows windows_;
  Host host_;
  t1::LiveMesh mesh_;
  host::ZeroedArray<impl::Producer> producers_;  // by link
  host::ZeroedArray<bool> closed_;
  const bool senders_fence_;
  Arrivals arrivals_[2];
  Accesses accesses_;
  Outgoing outgoing_[2];
  std::optional<Multicast> multicast_;
  std::array<bool, 2> no_room_{};  // by priority: the network was found full since the last disarm
  host::ZeroedArray<Refusal> refusals_;
  host::ZeroedArray<std::uint32_t> refusal_of_;  // by link: 1 + its place there; 0: none
  std::size_t refused_ = 0;
  std::uint32_t rounds_ = 0;
  bool told_of_no_memory_ = false;
};

}  // namespace am::emulated
