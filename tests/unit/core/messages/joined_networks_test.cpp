// The networks of one node as core sees them: shared memory alone, several, under a decorator, in a forked child.
#include "core/messages/joined_networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "host/memory.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::core {
namespace joined_networks_test {

struct Ears final : Listener {
  void heard(NodeId, std::uint32_t, std::uint64_t) noexcept override {}
  void heard_clock(NodeId, std::uint64_t, std::uint64_t) noexcept override {}
  void lost(NodeId) noexcept override {}
};
struct NoPlaces final : Destinations {
  void moved(const Transport::Move& /*move*/, Payload /*fetched*/) noexcept override {}
  std::byte* destination(const Coming&) noexcept override { return nullptr; }
};

int destroyed = 0;

struct Other final : test::FakeTransport {
  Other() { last = this; }
  ~Other() override { ++destroyed; }
  static inline Other* last = nullptr;
};

const Kind& shm_kind = *std::ranges::find(kinds(), "shm", &Kind::name);
const Kind other_kind{.name = "other",
                      .meaning = "another",
                      .options = {},
                      .within_a_host = true,
                      .between_hosts = true,
                      .in_interrupts = true,
                      .make = [](const Site&) { return std::make_unique<Other>(); }};

class JoinedNetworksTest : public testing::Test {
 protected:
  JoinedNetworks join(const NetworkOfPeers& chosen) { return {job_, settings_, chosen, ears_, no_places_}; }
  /// Of node 0 and node 1.
  const NetworkOfPeers shm_alone_{.used = {{&shm_kind, {}}}, .of_peer = {0, 0}};
  const NetworkOfPeers both_{.used = {{&shm_kind, {}}, {&other_kind, {}}}, .of_peer = {0, 1}};

  Job job_{.id = 0,
           .size = 2,
           .memory = host::Memory::create(2),
           .found = "test",
           .processes = false,
           .leave = {}};
  Settings settings_;
  Ears ears_;
  NoPlaces no_places_;
};

TEST_F(JoinedNetworksTest, SharedMemoryAloneIsItself) {
  JoinedNetworks networks = join(shm_alone_);
  EXPECT_TRUE(networks.only_shm());
  EXPECT_EQ(&networks.all(), &networks.shm());
  EXPECT_TRUE(networks.rings_filled_inline());
  EXPECT_EQ(networks.rings(), networks.shm().producers());
}

/// Events beside the computation could come into the middle of an inline send.
TEST_F(JoinedNetworksTest, OnlyAPollingNodeFillsRingsInline) {
  settings_.dispatch = Dispatch::thread;
  JoinedNetworks networks = join(shm_alone_);
  EXPECT_TRUE(networks.only_shm());
  EXPECT_FALSE(networks.rings_filled_inline());
  ASSERT_EQ(networks.shm().claim(1, Priority::low, 0, 0).status, Status::ok) << "connects the real ring";
  EXPECT_EQ(networks.rings()[2].claim_line(), nullptr);
}

TEST_F(JoinedNetworksTest, ADecoratorSeesEverySend) {
  settings_.faults = "seed=1,refuse=0.5";
  JoinedNetworks networks = join(shm_alone_);
  EXPECT_FALSE(networks.only_shm());
  EXPECT_FALSE(networks.rings_filled_inline());
}

TEST_F(JoinedNetworksTest, EachPeerIsReachedByItsOwn) {
  JoinedNetworks networks = join(both_);
  EXPECT_FALSE(networks.only_shm());
  EXPECT_TRUE(networks.all().maps_memory(0));
  EXPECT_FALSE(networks.all().maps_memory(1));
  EXPECT_TRUE(networks.rings_filled_inline()) << "those to peers elsewhere stay unconnected";
}

TEST_F(JoinedNetworksTest, AForkedChildEndsNothing) {
  destroyed = 0;
  { const JoinedNetworks networks = join(both_); }
  EXPECT_EQ(destroyed, 1);
  {
    JoinedNetworks networks = join(both_);
    ASSERT_EQ(networks.shm().claim(0, Priority::low, 0, 0).status, Status::ok);
    networks.leave_to_parent();
    EXPECT_EQ(networks.rings()[0].claim_line(), nullptr);
  }
  EXPECT_EQ(destroyed, 1);
  delete Other::last;  // there is no child here
}

}  // namespace joined_networks_test
}  // namespace am::core
