// From AM_TRANSPORT and the table to a network for each peer, and from these to what core sees.
#include "core/messages/networks.hpp"

#include <gmock/gmock.h>
#include <am/error.hpp>

#include "core/messages/joined_networks.hpp"
#include "host/memory.hpp"
#include "support/check.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::core::networks_test {

using namespace testing;

Kind kind(std::string_view name, std::string_view meaning, bool between_hosts, bool in_interrupts,
          std::string_view options = {}) {
  return {.name = name,
          .meaning = meaning,
          .options = options,
          .within_a_host = true,
          .between_hosts = between_hosts,
          .in_interrupts = in_interrupts,
          .make = {}};
}
const std::array table = {kind("shm", "shared memory", false, true), kind("tcp", "TCP", true, false),
                          kind("t1", "a T1", false, true, "WxH")};

/// "shm|t1=4x4"; "-": none.
std::string parsed(std::string_view text) {
  const auto wanted = parse_networks(text, table);
  if (!wanted) return "-";
  std::string all;
  for (const Wanted& network : *wanted) {
    all += (all.empty() ? "" : "|") + std::string(network.kind->name);
    if (!network.options.empty()) all += "=" + std::string(network.options);
  }
  return all;
}

TEST(ParseNetworks, TakesNamesInTheirOrderWithOptionsWhereThereAreSome) {
  EXPECT_EQ(parsed("auto"), "shm|tcp|t1");
  EXPECT_EQ(parsed("tcp"), "tcp");
  EXPECT_EQ(parsed("tcp,shm"), "tcp|shm");
  EXPECT_EQ(parsed("t1:4x4,tcp"), "t1=4x4|tcp");
  EXPECT_EQ(parsed("t1:"), "t1");
  for (const char* malformed : {"", ",", "shm,", ",shm", "shm,shm", "shm:", "shm:4x4", "tcp:4", "auto,shm",
                                "SHM", "shm ", "ib", "t1:4x4,t1", ":", "shm,,tcp"})
    EXPECT_EQ(parsed(malformed), "-") << '"' << malformed << '"';
}

/// A job of four nodes, the last two on another host.
class ChooseNetworks : public testing::Test {
 protected:
  ChooseNetworks() {
    board_.card(2).on_host = 1;
    board_.card(3).on_host = 1;
  }
  [[nodiscard]] NetworkOfPeers choose(std::string_view text, bool in_interrupts = false) const {
    return choose_networks(*parse_networks(text, table), board_, in_interrupts);
  }
  [[nodiscard]] std::string error_of(std::string_view text, bool in_interrupts = false) const {
    return test::error_of([&] { static_cast<void>(choose(text, in_interrupts)); });
  }

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(4);
  const host::Board& board_ = memory_->board();
};

TEST_F(ChooseNetworks, TheFirstThatLeadsThere) {
  EXPECT_THAT(choose("auto").of_peer, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(describe(choose("auto")), "shared memory to 2 nodes, TCP to 2 nodes");
  EXPECT_THAT(choose("t1:2x1,tcp").of_peer, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(choose("t1:2x1,tcp").used.front().options, "2x1");
  const NetworkOfPeers one = choose("tcp,shm");
  EXPECT_EQ(one.used.size(), 1u) << "shm leads to nobody";
  EXPECT_EQ(describe(one), "TCP to all nodes");
}

TEST_F(ChooseNetworks, AnErrorWhereNoneDoes) {
  EXPECT_THAT(error_of("shm"),
              HasSubstr("none of AM_TRANSPORT=shm leads to node 2, which is on another host"));
  EXPECT_THAT(error_of("shm,t1"), HasSubstr("AM_TRANSPORT=shm,t1 leads to node 2"));
  board_.job().this_host = 1;
  EXPECT_THAT(error_of("shm"), HasSubstr("leads to node 0"));
}

TEST_F(ChooseNetworks, AnErrorWhereInterruptsAreForbidden) {
  EXPECT_THAT(error_of("auto", true), HasSubstr("on another host, does not work where messages interrupt"));
  board_.card(2).on_host = board_.card(3).on_host = 0;
  EXPECT_EQ(error_of("auto", true), "no error") << "tcp leads to nobody";
}

// -- the networks of one node as core sees them: shared memory alone, several, under a decorator, in a forked child ----------------

struct Ears final : Listener {
  void heard(NodeId, std::uint32_t, std::uint64_t) noexcept override {}
  void heard_clock(NodeId, std::uint64_t, std::uint64_t) noexcept override {}
  void lost(NodeId) noexcept override {}
};
struct NoPlaces final : Destinations {
  void moved(const MemoryReach::Move& /*move*/, Payload /*fetched*/) noexcept override {}
  std::byte* destination(const Coming&) noexcept override { return nullptr; }
};

int destroyed = 0;

struct Other final : test::FakeTransport {
  Other() { last = this; }
  ~Other() override { ++destroyed; }
  static inline Other* last = nullptr;
};

const Kind& shm_kind = *std::ranges::find(kinds(), "shm", &Kind::name);
const Kind other_kind = [] {
  Kind made = kind("other", "another", true, true);
  made.make = [](const Site&) { return std::make_unique<Other>(); };
  return made;
}();

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

}  // namespace am::core::networks_test
