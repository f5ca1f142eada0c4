// Nodes of one process on the network over libfabric, by hand through the seam: over a provider of the system's, or over one of
// the tests' own (support/fake_fabric.hpp), of which it then also is to have no complaint.
#pragma once

#include <gtest/gtest.h>

#include <am/error.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/fake_fabric.hpp"
#include "transports/ofi/ofi_transport.hpp"
#include "unit/transports/by_hand.hpp"

namespace am::ofi {

/// What has been moved, in the order in which a node was told.
class Places : public Destinations {
 public:
  std::byte* destination(const Coming& /*message*/) noexcept override { return nullptr; }
  void moved(const Transport::Move& move, Payload fetched) noexcept override {
    done.push_back({move, std::vector<std::byte>(fetched.data(), fetched.data() + fetched.size())});
  }
  struct Done {
    Transport::Move move;
    std::vector<std::byte> fetched;
  };
  std::vector<Done> done;
};

/// What the nodes talk over.
struct Way {
  std::string name;
  std::optional<test::FakeProvider> fake{};
  std::string provider{};  ///< else: of the system

  friend std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }
};

inline bool is_there(const std::string& provider) {
  Wish wish;
  wish.provider = provider;
  for (const Offer& offer : offers(system_library(), wish)) {
    if (offer.provider == provider && offer.why_not.empty()) return true;
  }
  return false;
}

/// Nodes 0 to `here` - 1 of a job of `nodes`.
class Nodes : public ByHand<OfiTransport> {
 protected:
  Nodes(NodeId nodes, NodeId here, Way way) : ByHand(nodes, here), way_(std::move(way)), places_(here) {
    for (NodeId node = 0; node < here; ++node) {
      memory_->board().card(node).segment_bytes = segment_bytes;
      segments_.push_back(memory_->map_user(node));
    }
    if (way_.fake) fabric_ = std::make_unique<test::FakeFabric>(std::vector{*way_.fake});
  }
  void SetUp() override {
    if (!fabric_ && !is_there(way_.provider)) GTEST_SKIP() << "this system has no " << way_.provider;
    for (NodeId node = 0; node < networks_.size(); ++node) open(node);
  }
  void TearDown() override {
    networks_.clear();
    stranger_things_.clear();
    if (!fabric_) return;
    EXPECT_EQ(fabric_->complaints(), std::vector<std::string>{});
    EXPECT_EQ(fabric_->open_objects(), 0u);
    EXPECT_EQ(fabric_->in_flight(), 0u);
  }

  [[nodiscard]] const Library& library() const { return fabric_ ? fabric_->library() : system_library(); }
  void open(NodeId node) {
    networks_[node] = std::make_unique<OfiTransport>(Site{.self = node,
                                                          .memory = memory_,
                                                          .options = way_.provider,
                                                          .listener = &ears_[node],
                                                          .destinations = &places_[node],
                                                          .host_timeout_ns = host_timeout_ns_,
                                                          .segment = segments_[node]},
                                                     library());
  }
  bool until(const std::function<bool()>& done) override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "it takes too long; " << (fabric_ ? fabric_->describe() : way_.provider);
        return false;
      }
      progress();
    }
    return true;
  }

  [[nodiscard]] std::size_t least_room(std::size_t payload_bytes) const override {
    return std::min(payload_bytes, impl::packet_payload_bytes);
  }

  const Way way_;
  std::unique_ptr<test::FakeFabric> fabric_;
  static constexpr std::size_t segment_bytes = 256 * 1024;
  std::uint64_t host_timeout_ns_ = 0;
  std::vector<std::span<std::byte>> segments_;  // as a job's: no memory is behind them until it is used
  std::vector<Places> places_;
  std::vector<std::shared_ptr<void>> stranger_things_;  // that are to go before the fabric is asked
};

}  // namespace am::ofi
