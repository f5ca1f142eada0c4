// Nodes of one process on the network over libfabric, by hand through the seam: over a provider of the system's, or over one of
// the tests' own (support/fake_fabric.hpp), of which it then also is to have no complaint.
#pragma once

#include <chrono>

#include "support/fake_fabric.hpp"
#include "transports/ofi/ofi_transport.hpp"
#include "unit/transports/by_hand.hpp"

namespace am::ofi {

/// What has been moved, in the order in which a node was told.
class Places : public Destinations {
 public:
  std::byte* destination(const Coming& /*message*/) noexcept override { return nullptr; }
  void moved(const MemoryReach::Move& move, Payload fetched) noexcept override {
    done.push_back({move, std::vector<std::byte>(fetched.data(), fetched.data() + fetched.size())});
  }
  struct Done {
    MemoryReach::Move move;
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
  return std::ranges::any_of(
      offers(system_library(), {.provider = provider, .interfaces = {}}),
      [&](const Offer& offer) { return offer.provider == provider && offer.why_not.empty(); });
}

// Ways over the providers of the system, and over some of the tests' own, whose bits no provider here has.

inline std::vector<Way> system_ways() {
  return {{.name = "tcp_ofi_rxm", .provider = "tcp;ofi_rxm"},
          {.name = "net", .provider = "net"},
          {.name = "udp_ofi_rxd", .provider = "udp;ofi_rxd"},
          {.name = "shm", .provider = "shm"}};
}

inline std::vector<Way> fake_ways() {
  using Fake = test::FakeProvider;
  constexpr int all_mr = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  std::vector<Way> ways;
  const auto add = [&](const char* name, Fake fake) {
    ways.push_back({.name = name, .fake = std::move(fake)});
  };
  add("plain", {});
  add("refusing", {.again_one_in = 3, .shuffles = true});
  add("unordered", {.order = 0, .mode = FI_CONTEXT2, .shuffles = true});
  add("no_rma", {.caps = FI_MSG | FI_MULTI_RECV, .again_one_in = 10});
  add("no_delivery", {.delivers = false, .again_one_in = 10});
  add("no_multi_recv", {.caps = FI_MSG | FI_RMA, .rx_size = 8});
  add("messages_alone", {.caps = FI_MSG, .order = 0, .again_one_in = 5, .shuffles = true});
  add("no_inject", {.mode = FI_CONTEXT, .inject_size = 0});
  add("tiny_inject", {.order = 0, .inject_size = 16, .tx_size = 2, .again_one_in = 4, .shuffles = true});
  add("forgetful", {.name = "fake;ofi_rxd", .tx_size = 2, .forgets_sends = true, .shuffles = true});
  add("short_messages", {.max_msg_size = 4096, .address_bytes = 96});
  add("odd_message_size", {.caps = FI_MSG, .max_msg_size = 5001, .address_bytes = 13});
  add("mr_local", {.mode = FI_CONTEXT2, .mr_mode = FI_MR_LOCAL, .shuffles = true});
  add("mr_virt_addr", {.mr_mode = FI_MR_VIRT_ADDR});
  add("mr_allocated", {.mr_mode = FI_MR_ALLOCATED});
  add("mr_prov_key", {.mr_mode = FI_MR_PROV_KEY});
  add("mr_endpoint",
      {.mr_mode = FI_MR_ENDPOINT | FI_MR_PROV_KEY, .shuffles = true, .keeps_bound_memory = true});
  add("mr_all", {.order = 0,
                 .mode = FI_CONTEXT2,
                 .mr_mode = all_mr,
                 .again_one_in = 3,
                 .shuffles = true,
                 .keeps_bound_memory = true});
  add("mr_local_alone", {.caps = FI_MSG, .mr_mode = FI_MR_LOCAL, .rx_size = 4, .again_one_in = 4});
  add("no_wait", {.wait_fd = false, .manual_progress = true});
  add("manual",
      {.order = 0, .mr_mode = FI_MR_LOCAL, .manual_progress = true, .again_one_in = 3, .shuffles = true});
  return ways;
}

inline std::vector<Way> all_ways() {
  std::vector<Way> ways = fake_ways();
  for (Way& way : system_ways()) ways.push_back(std::move(way));
  return ways;
}

inline std::string name_of(const testing::TestParamInfo<Way>& way) { return way.param.name; }

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

  /// They know each other, and nothing is under way.
  void meet(NodeId a, NodeId b) {
    pass(a, b, Priority::low, 1);
    pass(b, a, Priority::low, 2);
    for (const NodeId node : {a, b}) ASSERT_TRUE(until([&] { return at(node).drained(); }));
  }
  /// What has come to it.
  void release_all(NodeId node) {
    for (const Priority priority : both) {
      while (const Transport::View view = at(node).receive(priority)) at(node).release(view);
    }
  }

  /// It does nothing until its descriptor says so, once it is armed, while `others` work; in the end it is `done`.
  void sleep_until(NodeId node, Transport::Wanted wanted, bool armed, const std::function<bool()>& done,
                   const std::function<void()>& others) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it sleeps for ever";
      others();
      if (armed && !is_readable(at(node).wake_fd(), 0)) continue;
      at(node).disarm();
      while (at(node).progress()) {
      }
      armed = at(node).arm(wanted);
    }
    at(node).disarm();
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
  /// Nodes 0 and 1 know nothing of what was.
  void begin_anew() {
    for (const NodeId node : {0u, 1u}) networks_[node].reset();
    for (const NodeId node : {0u, 1u}) open(node);
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
