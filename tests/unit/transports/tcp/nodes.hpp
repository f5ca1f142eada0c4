// Nodes of one process on the network of TCP, by hand through the seam.
#pragma once

#include <chrono>

#include "transports/tcp/tcp_transport.hpp"
#include "unit/transports/by_hand.hpp"

namespace am::tcp {

/// Where payloads belong: what the test says.
struct Places final : Destinations {
  void moved(const MemoryReach::Move& /*move*/, Payload /*fetched*/) noexcept override {}
  std::byte* destination(const Coming& message) noexcept override {
    return answer ? answer(message) : nullptr;
  }
  std::function<std::byte*(const Coming&)> answer{};
};

/// Nodes 0 to `here` - 1 of a job of `nodes`.
class Nodes : public ByHand<TcpTransport> {
 protected:
  explicit Nodes(NodeId nodes, NodeId here, bool tls = false) : ByHand(nodes, here), places_(here) {
    for (NodeId node = 0; node < here; ++node) open(node, tls);
  }
  ~Nodes() override { networks_.clear(); }  // which use the places

  void open(NodeId node, bool tls) {
    networks_[node] = std::make_unique<TcpTransport>(Site{.self = node,
                                                          .memory = memory_,
                                                          .options = {},
                                                          .listener = &ears_[node],
                                                          .destinations = &places_[node],
                                                          .tls = tls});
  }

  bool until(const std::function<bool()>& done) override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      progress();
    }
    return true;
  }
  [[nodiscard]] std::size_t least_room(std::size_t payload_bytes) const override { return payload_bytes; }

  std::vector<Places> places_;
};

inline std::string plain_or_with_tls(const testing::TestParamInfo<bool>& with_tls) {
  return with_tls.param ? "with_tls" : "plain";
}

}  // namespace am::tcp
