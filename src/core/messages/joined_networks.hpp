// The networks of one node, joined to one: shared memory, the others that it was told to use (networks.hpp), the fault plan's
// decorator around them. Core sees two things of it: all networks as one Transport, and the shared memory among them, for the
// paths that call that by its own type.
//
// Used by whoever is in the node.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/job/job.hpp"
#include "core/messages/links.hpp"
#include "core/messages/networks.hpp"
#include "core/node/descriptor_watch.hpp"
#include "core/settings/settings.hpp"
#include "transports/shm/shm_transport.hpp"
#include "transports/site.hpp"

namespace am::core {

class JoinedNetworks {
 public:
  /// Makes those that `chosen` names. `listener` outlives this; `destinations` is asked from the first progress() on. Throws
  /// am::Error.
  JoinedNetworks(const Job& job, const Settings& settings, const NetworkOfPeers& chosen, Listener& listener,
                 Destinations& destinations);

  [[nodiscard]] Transport& all() noexcept { return *all_; }
  [[nodiscard]] shm::ShmTransport& shm() noexcept { return shm_; }
  /// Nothing but shared memory, and no decorator.
  [[nodiscard]] bool only_shm() const noexcept { return all_ == &shm_; }
  /// Shared memory and others beside it, which are calm (Transport::is_calm).
  [[nodiscard]] bool others_are_calm() const noexcept {
    return std::ranges::all_of(others_, [](const auto& network) { return network->is_calm(); });
  }
  /// Whether shared memory leads to some nodes and others to the rest, with no decorator around them.
  [[nodiscard]] bool shm_among_others() const noexcept { return links_ && leads_shm_ && !decorator_; }
  /// Whether Node's send fills the rings itself: in the polling mode, and where no decorator is to see what it sends.
  [[nodiscard]] bool rings_filled_inline() const noexcept { return never_connected_ == nullptr; }
  /// What Node's send looks at: the rings out, by link, or as many that are never connected.
  [[nodiscard]] impl::Producer* rings() noexcept {
    return rings_filled_inline() ? shm_.producers() : never_connected_.get();
  }
  /// Sees to it that descriptors, which cannot ring, ring the bell of the node that was armed.
  void watch_descriptors() noexcept {
    if (descriptor_watch_) descriptor_watch_->watch();
  }
  /// Ends all that there is but shared memory. Nothing is sent or taken any more.
  void close() noexcept;
  /// In a forked child: what there is of its parent's networks is not its to use, nor to end. (Its copies of connections are closed
  /// elsewhere: host/connections.hpp.)
  void leave_to_parent() noexcept;

 private:
  Transport& join(const Job& job, const Settings& settings, const NetworkOfPeers& chosen, Listener& listener,
                  Destinations& destinations);

  shm::ShmTransport shm_;
  std::vector<std::unique_ptr<Transport>> others_;  // networks, besides shared memory
  std::optional<DescriptorWatch> descriptor_watch_;
  bool leads_shm_ = false;                // shared memory leads to some node
  std::optional<Links> links_;            // between all of them, where there are several
  Transport& joined_;                     // the one that there is, or links_
  std::unique_ptr<Transport> decorator_;  // the fault plan's, around that
  Transport* all_;
  const std::unique_ptr<impl::Producer[]> never_connected_;
};

}  // namespace am::core
