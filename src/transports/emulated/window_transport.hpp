// A network whose packets are written into their receivers' windows (windows.hpp), and whose routers carry only that they are on their
// way: what the emulated machines' networks have in common, as core sees them.
//
//   claim, commit   room in the window, and in the node's channel into the network: a SEND that the network accepts
//   progress        arrivals, and what others may have left in the routers
//
// A sender carries its messages to their end, so no node has to poll for others' messages to pass it.
//
// Used by the owning node's thread only.
#pragma once

#include <am/types.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated_hw/kit/live_grid.hpp"
#include "host/zeroed_array.hpp"
#include "transports/emulated/arrivals.hpp"
#include "transports/emulated/window_chunks.hpp"
#include "transports/emulated/windows.hpp"
#include "transports/site.hpp"
#include "transports/transport.hpp"

namespace am::emulated {

using kit::Extents;
/// A machine, for messages.
struct Machine {
  std::string_view name;    ///< in AM_TRANSPORT
  std::string_view people;  ///< "a CNS-1"
  unsigned most_extent;     ///< rows, or columns
};
/// Of `options`, "RxC", for so many nodes; without, the squarest that there is. Throws am::Error.
[[nodiscard]] Extents extents_of(const Machine& machine, std::string_view options, NodeId nodes);
/// Of a machine that is a cube of so many nodes; `people` is its name for messages. Throws am::Error where there is none.
[[nodiscard]] unsigned dimensions_of(std::string_view people, NodeId nodes);

class WindowTransport : public Transport {
 public:
  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override {
    return claim_in(lane_of(priority, false), to, words, payload_bytes);
  }
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override {
    return has_room_in(lane_of(priority, false), to, payload_bytes);
  }
  [[nodiscard]] View receive(Priority priority) noexcept override;
  [[nodiscard]] std::optional<Payload> payload_of(const View& view) const noexcept override {
    const bool in_chunk = view.head.has(impl::flag::elsewhere) && chunks_;
    return in_chunk ? chunks_->payload_of(view) : Transport::payload_of(view);
  }
  void release(const View& view) noexcept override {
    arrivals_[view.lane].release(view.source, view.head.lines(), view.head.has(impl::flag::elsewhere));
  }
  void defer(const View& view) noexcept override { arrivals_[view.lane].defer(view.source); }
  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) noexcept override;
  bool progress() noexcept override;
  [[nodiscard]] bool arm(Wanted wanted) noexcept final;
  void disarm() noexcept final;
  /// Others bring what comes: this node itself takes nothing out of the network but by receive().
  [[nodiscard]] bool still_armed(Wanted /*wanted*/) noexcept override { return true; }
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override;
  void close(NodeId peer) noexcept override;
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override;

 protected:
  /// Of a machine with windows of so many lanes, whose routers take so many bytes (with what else lies there), and what lies beside a
  /// window. Its messages are of any size, or payloads go in pieces. Throws am::Error.
  WindowTransport(const Site& site, std::size_t routers, std::size_t lanes, bool any_size = false,
                  std::size_t beside = 0);

  [[nodiscard]] Slot claim_in(Lane lane, NodeId to, std::size_t words, std::size_t payload_bytes) noexcept;
  [[nodiscard]] bool has_room_in(Lane lane, NodeId to, std::size_t payload_bytes) noexcept;
  /// Publishes the packet to who looks into its window; the network is to say that it has come.
  void publish_in(const Slot& slot, impl::Header header) noexcept {
    impl::Producer& its = ring(slot.to, static_cast<Lane>(slot.lane));
    its.commit(slot.packet, header);
    if (chunks_) chunks_->sent(slot, its.position());
  }
  [[nodiscard]] bool is_connected(NodeId to) noexcept { return ring(to, Lane::low).connected(); }
  [[nodiscard]] Status connect(NodeId to) noexcept;
  /// Says so, once; again.
  Status no_memory(NodeId peer) noexcept;

  [[nodiscard]] NodeId self() const noexcept { return self_; }
  [[nodiscard]] const Windows& windows() const noexcept { return windows_; }
  [[nodiscard]] bool is_closed(NodeId peer) const noexcept { return closed_[peer]; }
  /// By priority, whether the network has not taken all that it was given: its machine's to say.
  [[nodiscard]] std::array<bool, 2>& backlog() noexcept { return backlog_; }
  [[nodiscard]] bool has_backlog() const noexcept { return backlog_[0] || backlog_[1]; }

 private:
  // What its machine's network says.

  /// Memory for windows to a node that it has not sent to yet. False: there is none.
  [[nodiscard]] virtual bool commit_windows(NodeId to) noexcept { return windows_.commit_window(to, self_); }
  /// Gives the network what it has not taken yet at that priority. Whether it has taken all.
  virtual bool push(Priority priority) noexcept = 0;
  /// Carries on what others have left. Whether there was anything.
  virtual bool look_after() noexcept = 0;
  /// The node will be armed: whether who knows of something for it has to be asked for it, by a word that only a heavy fence lets him see.
  [[nodiscard]] virtual bool ask_receivers() noexcept { return false; }
  /// Those of the network: the next has_news() asks for no room.
  virtual void forget_refusals() noexcept = 0;
  /// There is something for it to do, beside packets that have come. Asks to be told of room in the network.
  [[nodiscard]] virtual bool has_news() noexcept = 0;

  /// A claim that was answered `again` for want of so many lines, and of room for so long a payload elsewhere.
  struct Refusal {
    NodeId to;
    Lane lane;
    std::size_t lines;
    std::size_t payload_bytes;
  };

  [[nodiscard]] std::size_t place(NodeId to, Lane lane) const noexcept {
    return windows_.lanes() * to + index(lane);
  }
  [[nodiscard]] impl::Producer& ring(NodeId to, Lane lane) noexcept { return producers_[place(to, lane)]; }
  /// Calls f(arrivals) for those of a priority (lane_of).
  template <class F>
  void for_lanes(Priority priority, F f) {
    for (auto lane = static_cast<std::size_t>(priority); lane < windows_.lanes(); lane += ordered_lanes)
      f(arrivals_[lane]);
  }
  [[nodiscard]] bool is_clear(Priority priority) noexcept {
    return !backlog_[static_cast<std::size_t>(priority)] || push(priority);
  }
  void claim_line(Slot& slot, impl::Producer& ring, std::size_t payload_bytes) noexcept;
  void remember(const Refusal& refusal) noexcept;
  [[nodiscard]] bool has_come(const Refusal& refusal) noexcept;
  [[nodiscard]] bool goes_into_chunk(std::size_t payload_bytes) const noexcept {
    return chunks_ && payload_bytes > impl::packet_payload_bytes;
  }
  void set_starved(bool starved) noexcept;
  [[nodiscard]] bool room_came() noexcept;

  const NodeId self_;
  const Windows windows_;
  host::ZeroedArray<impl::Producer> producers_;  // by place()
  host::ZeroedArray<bool> closed_;
  const bool senders_fence_;
  std::optional<WindowChunks> chunks_;       // where messages are of any size
  std::vector<Arrivals> arrivals_;           // by lane
  std::array<std::uint32_t, 2> gave_{0, 1};  // by priority: the lane of the packet that receive() gave last
  host::ZeroedArray<Refusal> refusals_;
  host::ZeroedArray<std::uint32_t> refusal_of_;  // by place(): 1 + its place there; 0: none
  std::size_t refused_ = 0;
  std::array<bool, 2> backlog_{};
  std::uint32_t rounds_ = 0;
  bool told_of_no_memory_ = false;
};

}  // namespace am::emulated
