// The emulated nCUBE/2's network (AM_TRANSPORT=ncube2) as core sees it: a packet goes through the routers as one message, whatever its
// size; when that has come the packet may be read, in its window (window_transport.hpp). A multicast goes by the network's broadcasts, to as
// few subcubes as its members make. Puts and gets go by DMA, without the other's program.
//
// The machine has one network and no priorities. Low and high are kept apart by the kernel's buffers, which windows are: what is under way
// always has its place, so no low message holds up a high one for long. (von Eicken 1993, 3.1.4: the kernel sets up its engines' buffers
// before anything comes.)
//
// Used by the owning node's thread only; but its host's functions are called by whoever carries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "emulated_hw/ncube2/live_cube.hpp"
#include "transports/emulated/accesses.hpp"
#include "transports/emulated/counting_host.hpp"
#include "transports/emulated/injector.hpp"
#include "transports/emulated/subcubes.hpp"
#include "transports/emulated/window_transport.hpp"
#include "transports/memory_reach.hpp"
#include "transports/multicaster.hpp"

namespace am::emulated {

class Ncube2Transport final : public WindowTransport, public Multicaster, public MemoryReach {
 public:
  /// Throws am::Error.
  explicit Ncube2Transport(const Site& site);

  [[nodiscard]] std::string_view name() const noexcept override { return "ncube2"; }
  void commit(const Slot& slot, impl::Header header) noexcept override;
  /// All, by broadcasts to as many subcubes as they make; the sender's own by a message to itself.
  void share_out(NodeId from, std::span<const NodeId> members,
                 std::span<std::uint32_t> by) const noexcept override;
  void begin_multicast() noexcept override { multicast_ = Multicast{}; }
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
  [[nodiscard]] bool drained() const noexcept override { return !has_backlog() && cube_.has_gone(self()); }

 private:
  using Network = EnteredBy<ncube2::LiveCube, ncube2::LiveMessage>;
  /// What was committed since begin_multicast: all the same packet.
  struct Multicast {
    Priority priority = Priority::low;
    NodeBits to{};
  };

  Ncube2Transport(const Site& site, unsigned dimensions);

  bool push(Priority priority) noexcept override { return injector_.push(priority); }
  bool look_after() noexcept override { return cube_.look_after(); }
  void forget_refusals() noexcept override { injector_.forget(); }
  [[nodiscard]] bool has_news() noexcept override { return accesses_.any_news() || injector_.room_came(); }

  void send(Priority priority, const ncube2::LiveMessage& message) noexcept;

  CountingHost<ncube2::LiveCube, ncube2::Counted> host_;
  ncube2::LiveCube cube_;
  Accesses accesses_;
  Injector<Network> injector_;
  std::optional<Multicast> multicast_;
};

}  // namespace am::emulated
