#include "core/messages/joined_networks.hpp"

#include <am/error.hpp>
#include <am/impl/link.hpp>
#include <string>
#include <utility>

#include "core/reports/watchdog.hpp"
#include "transports/faults/faults.hpp"

namespace am::core {

JoinedNetworks::JoinedNetworks(const Job& job, const Settings& settings, const NetworkOfPeers& chosen,
                               Listener& listener, Destinations& destinations)
    : shm_(job.memory, job.id, settings.dispatch == Dispatch::poll ? impl::watch::on : impl::watch::briefly,
           Watchdog::is_wanted(settings)),
      joined_(join(job, settings, chosen, listener, destinations)),
      decorator_(make_faults(joined_, settings.faults, settings.verbose, job.id, job.size)),
      all_(decorator_ ? decorator_.get() : &joined_),
      never_connected_(decorator_ == nullptr && settings.dispatch == Dispatch::poll
                           ? nullptr
                           : new impl::Producer[impl::link_count(job.size)]) {}

Transport& JoinedNetworks::join(const Job& job, const Settings& settings, const NetworkOfPeers& chosen,
                                Listener& listener, Destinations& destinations) {
  std::vector<Transport*> all;
  std::vector<int> descriptors;
  for (const Wanted& network : chosen.used) {
    if (!network.kind->make) {
      all.push_back(&shm_);
      leads_shm_ = true;
      continue;
    }
    std::span<std::byte> segment;
    if (network.kind->moves) segment = job.memory->map_user(job.id);
    others_.push_back(network.kind->make({.self = job.id,
                                          .memory = job.memory,
                                          .options = network.options,
                                          .listener = &listener,
                                          .destinations = &destinations,
                                          .host_timeout_ns = settings.host_timeout_ns,
                                          .interfaces = settings.tcp_interfaces,
                                          .segment = segment,
                                          .tls = settings.tcp_tls,
                                          .cm5_swap_ns = settings.cm5_swap_ns,
                                          .armed_often = settings.dispatch != Dispatch::poll}));
    all.push_back(others_.back().get());
    if (const int descriptor = all.back()->wake_fd(); descriptor >= 0) descriptors.push_back(descriptor);
  }
  const host::Board& board = job.memory->board();
  if (!others_.empty()) {
    if (!job.memory->commit_traffic(job.id)) {
      throw Error("join the job",
                  "no memory for what node " + std::to_string(job.id) + " counts about its messages",
                  host::SharedFile::more_room);
    }
    for (NodeId peer = 0; peer < job.size; ++peer) board.set_linked(job.id, peer);
  }
  if (!descriptors.empty()) descriptor_watch_.emplace(board, job.id, std::move(descriptors));
  if (all.size() == 1) return *all.front();
  return links_.emplace(std::move(all), chosen.of_peer);
}

void JoinedNetworks::close() noexcept {
  all_ = &shm_;
  shm_.disconnect();
  descriptor_watch_.reset();
  decorator_.reset();
  others_.clear();
}

void JoinedNetworks::leave_to_parent() noexcept {
  shm_.disconnect();
  for (std::unique_ptr<Transport>& network : others_) static_cast<void>(network.release());
}

}  // namespace am::core
