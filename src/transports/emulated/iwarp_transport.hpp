// The emulated iWarp's torus (AM_TRANSPORT=iwarp:RxC) as core sees it: a packet goes through the open pool as one routing message, whatever its
// size; when that has come the packet may be read, in its window (window_transport.hpp). Streams have pathways of the reservation pool: a
// channel on each link of their way, all or none. Their words go by shared memory, past the routers, which see no words either on the
// machine once a pathway stands.
//
// Source: Borkar et al., Supporting Systolic and Memory Communication in iWarp (1990), 5, 6.
//
// Used by the owning node's thread only; but its host's functions are called by whoever carries.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "emulated_hw/iwarp/live_torus.hpp"
#include "transports/emulated/counting_host.hpp"
#include "transports/emulated/injector.hpp"
#include "transports/emulated/window_transport.hpp"
#include "transports/pathways.hpp"

namespace am::emulated {

/// Of `options`, "RxC", for so many nodes; without, the squarest that there is. Throws am::Error.
[[nodiscard]] Extents iwarp_extents(std::string_view options, NodeId nodes);

class IwarpTransport final : public WindowTransport, public Pathways {
 public:
  /// Throws am::Error.
  explicit IwarpTransport(const Site& site);

  [[nodiscard]] std::string_view name() const noexcept override { return "iwarp"; }
  void commit(const Slot& slot, impl::Header header) noexcept override;
  [[nodiscard]] bool drained() const noexcept override { return !has_backlog() && torus_.has_gone(self()); }

  [[nodiscard]] Pathways* pathways(NodeId /*peer*/) noexcept override { return this; }
  /// Channels of nodes that are gone are free.
  [[nodiscard]] bool reserve(NodeId to) noexcept override;
  void give_back(NodeId to) noexcept override { torus_.give_back(self(), to); }

 private:
  using Network = EnteredBy<iwarp::LiveTorus, iwarp::LiveMessage>;

  bool push(Priority priority) noexcept override { return injector_.push(priority); }
  bool look_after() noexcept override { return torus_.look_after(); }
  void forget_refusals() noexcept override { injector_.forget(); }
  [[nodiscard]] bool has_news() noexcept override { return injector_.room_came(); }

  CountingHost<iwarp::LiveTorus, iwarp::Counted> host_;
  iwarp::LiveTorus torus_;
  Injector<Network> injector_;
};

}  // namespace am::emulated
