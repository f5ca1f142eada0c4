// Nodes of one process on the network of TCP, by hand through the seam.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "transports/tcp/tcp_transport.hpp"

namespace am::tcp {

class Ear : public Listener {
 public:
  void heard(NodeId from, std::uint32_t word, std::uint64_t value) noexcept override {
    words[{from, word}] = value;
  }
  void heard_clock(NodeId from, std::uint64_t asked, std::uint64_t told) noexcept override {
    clocks.push_back({from, asked, told});
  }
  void lost(NodeId peer) noexcept override { lost_ones.push_back(peer); }
  struct Clock {
    NodeId from;
    std::uint64_t asked;
    std::uint64_t told;
  };
  std::vector<Clock> clocks;
  std::map<std::pair<NodeId, std::uint32_t>, std::uint64_t> words;
  std::vector<NodeId> lost_ones;
};

/// Where payloads belong: what the test says.
struct Places final : Destinations {
  void moved(const Transport::Move& /*move*/, Payload /*fetched*/) noexcept override {}
  std::byte* destination(const Coming& message) noexcept override {
    return answer ? answer(message) : nullptr;
  }
  std::function<std::byte*(const Coming&)> answer{};
};

/// Nodes 0 to `here` - 1 of a job of `nodes`.
class Nodes : public testing::Test {
 protected:
  explicit Nodes(NodeId nodes, NodeId here, bool tls = false)
      : memory_(host::Memory::create(nodes)), ears_(here), places_(here) {
    for (NodeId node = 0; node < here; ++node)
      networks_.push_back(std::make_unique<TcpTransport>(Site{.self = node,
                                                              .memory = memory_,
                                                              .options = {},
                                                              .listener = &ears_[node],
                                                              .destinations = &places_[node],
                                                              .tls = tls}));
  }

  TcpTransport& at(NodeId node) { return *networks_[node]; }
  void progress() {
    for (const auto& network : networks_) {
      if (network) network->progress();
    }
  }
  bool until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      progress();
    }
    return true;
  }

  const std::shared_ptr<host::Memory> memory_;
  std::vector<Ear> ears_;
  std::vector<Places> places_;
  std::vector<std::unique_ptr<TcpTransport>> networks_;
};

}  // namespace am::tcp
