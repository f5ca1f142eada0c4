// Several hosts in one process: each has memory of its own for its nodes, which are threads, and they reach the nodes of the
// others by the post (support/post_network.hpp) alone, by TCP, or by libfabric. What core cannot do by messages and the control lane fails here.
#pragma once

#include <am/node.hpp>
#include <condition_variable>

#include "core/settings/settings.hpp"
#include "support/post_network.hpp"

namespace test {

/// The body, of one of several nodes that are threads: when it fails the others may wait for its node, so its failure ends this
/// program. (Of a job of one it is thrown.) `body` outlives it.
std::function<void(am::Node&)> guarded(am::NodeId nodes, const std::function<void(am::Node&)>& body);

class PretendedHosts {
 public:
  /// What leads from a node to those of its own host.
  enum class Within : std::uint8_t { memory, post };

  /// The first nodes are on the first host, and so on; each has about as many. `between` the hosts: post, tcp, or ofi:PROVIDER.
  PretendedHosts(am::NodeId nodes, std::uint32_t hosts, Within within = Within::memory,
                 std::string_view between = "post");

  /// Runs the body, guarded, on all nodes and returns when all have ended. Throws what am::run_threads throws. Once.
  void run(const std::function<void(am::Node&)>& body);
  void run(const am::core::Settings& settings, const std::function<void(am::Node&)>& body);

  [[nodiscard]] std::uint32_t host_of(am::NodeId node) const {
    return static_cast<std::uint32_t>(std::uint64_t{node} * memories_.size() / nodes_);
  }
  [[nodiscard]] const am::host::Board& board(std::uint32_t host) const { return memories_[host]->board(); }
  [[nodiscard]] PostOffice& post() { return post_; }
  /// How many nodes have left altogether: they make no progress any more.
  [[nodiscard]] std::uint32_t gone() const { return gone_.load(); }

 private:
  void exchange_cards(std::uint32_t host);

  const am::NodeId nodes_;
  PostOffice post_;
  std::vector<am::Kind> kinds_;
  std::vector<std::shared_ptr<am::host::Memory>> memories_;  // by host
  std::mutex mutex_;
  std::condition_variable all_have_met_;
  std::vector<std::string> texts_;  // of the hosts whose nodes have all joined
  std::uint32_t met_ = 0;           // so many
  std::atomic<std::uint32_t> gone_{0};
};

}  // namespace test
