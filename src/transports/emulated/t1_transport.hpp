// The emulated T1 network (AM_TRANSPORT=t1:RxC) as core sees it: a packet goes through the routers as the messages into which a T1 would
// have to cut it; when the last of them has come it may be read, in its window (window_transport.hpp). It has multicasts of its own, and
// carries puts and gets without the other's processor.
//
// Used by the owning node's thread only; but its host's functions are called by whoever carries.
#pragma once

#include <am/impl/link.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "emulated_hw/t1/live_mesh.hpp"
#include "transports/emulated/accesses.hpp"
#include "transports/emulated/counting_host.hpp"
#include "transports/emulated/injector.hpp"
#include "transports/emulated/patches.hpp"
#include "transports/emulated/window_transport.hpp"
#include "transports/memory_reach.hpp"
#include "transports/multicaster.hpp"

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

constexpr t1::Priority t1_priority(Priority priority) noexcept {
  return priority == Priority::high ? t1::Priority::high : t1::Priority::low;
}

class T1Transport final : public WindowTransport, public Multicaster, public MemoryReach {
 public:
  /// Throws am::Error.
  explicit T1Transport(const Site& site);

  [[nodiscard]] std::string_view name() const noexcept override { return "t1"; }
  void commit(const Slot& slot, impl::Header header) noexcept override;
  void share_out(NodeId from, std::span<const NodeId> members,
                 std::span<std::uint32_t> by) const noexcept override {
    emulated::share_out(mesh_.grid(), from, members, by);
  }
  void begin_multicast() noexcept override { multicast_ = Multicast(); }
  void end_multicast() noexcept override;
  [[nodiscard]] Multicaster* multicaster(NodeId /*from*/,
                                         std::span<const NodeId> /*members*/) noexcept override {
    return this;
  }
  [[nodiscard]] Way way() const noexcept override { return Way::carried; }
  [[nodiscard]] MemoryReach* memory_reach(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] Status begin_access(Access access, NodeId peer, std::size_t bytes) noexcept override;
  [[nodiscard]] std::uint64_t accesses_done(Access access, NodeId peer) noexcept override {
    return accesses_.done(access, peer);
  }
  [[nodiscard]] bool drained() const noexcept override { return !has_backlog() && mesh_.has_gone(self()); }

 private:
  struct Network {
    using Mesh = t1::LiveMesh;
    using Message = t1::Carried;
    static bool inject(Mesh& mesh, NodeId node, Priority priority, const Message& message) noexcept {
      return mesh.inject(node, t1_priority(priority), message);
    }
    static void carry(Mesh& mesh, NodeId node, Priority priority, const Message& /*message*/) noexcept {
      mesh.carry(node, t1_priority(priority));
    }
    static bool ask_for_room(Mesh& mesh, NodeId node, Priority priority,
                             const Message& /*message*/) noexcept {
      return mesh.ask_for_room(node, t1_priority(priority));
    }
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

  T1Transport(const Site& site, const t1::Shape& shape);

  bool push(Priority priority) noexcept override { return injector_.push(priority); }
  bool look_after() noexcept override { return mesh_.look_after(); }
  void forget_refusals() noexcept override { injector_.forget(); }
  [[nodiscard]] bool has_news() noexcept override { return accesses_.any_news() || injector_.room_came(); }

  /// A packet for each slot that may have been claimed, and an access that began before they were committed.
  [[nodiscard]] std::size_t most_waiting() const noexcept { return most_messages * (windows().nodes() + 1); }
  void send(NodeId to, Priority priority, std::size_t words, bool multicast) noexcept;
  void store(NodeId to, std::size_t bytes) noexcept;
  void fetch(NodeId from, std::size_t bytes) noexcept;

  CountingHost<t1::LiveMesh, t1::Counted> host_;
  t1::LiveMesh mesh_;
  Accesses accesses_;
  Injector<Network> injector_;
  std::optional<Multicast> multicast_;
};

}  // namespace am::emulated
