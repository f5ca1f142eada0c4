// The fault decorator, packet by packet over a network that the test plays by hand.
#include "transports/faults/faults.hpp"

#include <gmock/gmock.h>

#include <am/start.hpp>
#include <csignal>

#include "support/check.hpp"
#include "transports/faults/faulty_transport.hpp"
#include "transports/faults/plan.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::faults::faults_test {

using testing::HasSubstr;

constexpr Priority both[] = {Priority::low, Priority::high};

TEST(FaultPlan, ReadsEveryPart) {
  const Plan plan = parse_plan("seed=18446744073709551615,refuse=0.1,delay=1,reorder=0.25,kill=3@1000");
  EXPECT_EQ(plan.seed, UINT64_MAX);
  EXPECT_DOUBLE_EQ(plan.refuse, 0.1);
  EXPECT_DOUBLE_EQ(plan.delay, 1);
  EXPECT_DOUBLE_EQ(plan.reorder, 0.25);
  ASSERT_TRUE(plan.kill);
  EXPECT_EQ(plan.kill->node, 3u);
  EXPECT_EQ(plan.kill->commit, 1000u);
}

TEST(FaultPlan, AnyPartMayBeLeftOutAndTheOrderIsFree) {
  EXPECT_FALSE(parse_plan("").asks_for_something());
  EXPECT_FALSE(parse_plan("seed=3").asks_for_something());
  EXPECT_FALSE(parse_plan("refuse=0").asks_for_something());
  EXPECT_TRUE(parse_plan("delay=0.5,seed=3").asks_for_something());
  EXPECT_TRUE(parse_plan("reorder=0.5").asks_for_something());
  EXPECT_TRUE(parse_plan("kill=0@1").asks_for_something());
}

std::string error_of_plan(std::string_view text) {
  return test::error_of([&] { static_cast<void>(parse_plan(text)); });
}

TEST(FaultPlan, AMalformedOneIsAnErrorThatShowsTheForm) {
  for (const char* text :
       {"refuse",      "refuse=",          "refuse=2",    "refuse=-0.1", "refuse=nan",
        "refuse=0.1x", "refuse= 0.1",      "reorder=1.5", "drop=0.1",    "=1",
        ",",           "seed=1,",          ",seed=1",     "seed=-1",     "seed=18446744073709551616",
        "kill=1",      "kill=1@",          "kill=@5",     "kill=1@0",    "kill=1@5@6",
        "kill=-1@5",   "seed=1;refuse=0.1"})
    EXPECT_THAT(error_of_plan(text), HasSubstr("seed=7,refuse=0.1,delay=0.05,reorder=0.2,kill=1@1000"))
        << text;
}

TEST(FaultPlan, NamesThePartThatIsWrong) {
  EXPECT_THAT(error_of_plan("seed=7,refuse=ten,delay=0.1"), HasSubstr("\"refuse=ten\""));
  EXPECT_THAT(error_of_plan("seed=7,seed=8"), HasSubstr("\"seed\" is given twice"));
}

TEST(MakeFaults, TellsTheSeedOncePerJob) {
  test::FakeTransport network;
  testing::internal::CaptureStderr();
  for (NodeId node = 0; node < 4; ++node)
    static_cast<void>(make_faults(network, "seed=42,refuse=0.5,kill=7@9", true, node, 4));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "am: faults: seed=42,refuse=0.5,delay=0,reorder=0,kill=7@9\n"
            "am: AM_FAULTS=seed=42,refuse=0.5,kill=7@9 kills nobody: "
            "there is no node 7 among the job's 4\n");
}

TEST(MakeFaults, AJobOfThreadsKillsNoNode) {
  setenv("AM_FAULTS", "seed=1,kill=0@1", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  EXPECT_THAT(test::error_of([] { run_threads(1, [](Node&) { ADD_FAILURE() << "the job began"; }); }),
              HasSubstr("kills a node, which is a thread here"));
  unsetenv("AM_FAULTS");  // NOLINT(concurrency-mt-unsafe): one thread
}

/// A network of the test's own, and faults in front of it.
struct Faults {
  explicit Faults(const Plan& plan, NodeId self = 0) : faulty(network, plan, self) {}
  test::FakeTransport network;
  FaultyTransport faulty;
};
Plan refuses(double share, std::uint64_t seed = 1) { return {.seed = seed, .refuse = share, .kill = {}}; }
Plan delays(double share, std::uint64_t seed = 3) { return {.seed = seed, .delay = share, .kill = {}}; }

/// What comes, at the latest when the longest delay is over.
Transport::View receive_in_time(FaultyTransport& faulty, Priority priority) {
  for (std::uint64_t rounds = 0; rounds <= FaultyTransport::longest_delay; ++rounds) {
    if (const Transport::View view = faulty.receive(priority)) return view;
    faulty.progress();
  }
  ADD_FAILURE() << "it is held back for too long";
  return {};
}

/// All that can be.
class Refuse : public testing::Test, protected Faults {
 protected:
  Refuse() : Faults(refuses(1)) {}
};

/// What a thousand claims are answered, each ok committed: a letter each.
std::string answers(std::uint64_t seed, NodeId self, double refuse) {
  Faults its(refuses(refuse, seed), self);
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const Transport::Slot slot = its.faulty.claim(1, Priority::low, 0, 0);
    text += slot.status == Status::ok ? 'o' : 'a';
    if (slot.status == Status::ok) its.faulty.commit(slot, impl::Header::make(0, 0, 0, 0));
  }
  return text;
}

TEST_F(Refuse, HappensAsOftenAsAsked) {
  for (const double refuse : {0.01, 0.1, 0.5}) {
    const std::string text = answers(7, 0, refuse);
    const auto refused = static_cast<double>(std::count(text.begin(), text.end(), 'a'));
    EXPECT_NEAR(refused, 1000 * refuse, 60) << refuse;  // four standard deviations at 0.5; the seed is fixed
  }
}

TEST_F(Refuse, IsTheSameForTheSameSeedAndNodeOnly) {
  EXPECT_EQ(answers(7, 0, 0.3), answers(7, 0, 0.3));
  EXPECT_NE(answers(7, 0, 0.3), answers(8, 0, 0.3));
  EXPECT_NE(answers(7, 0, 0.3), answers(7, 1, 0.3));
  EXPECT_NE(answers(7, 0, 0.3), answers(7 + (std::uint64_t{1} << 32), 0, 0.3))
      << "all bits of the seed count";
}

TEST_F(Refuse, EndsForWhoeverKeepsTrying) {
  for (int message = 0; message < 100; ++message) {
    std::uint32_t refusals = 0;
    while (faulty.claim(1, Priority::high, 0, 0).status != Status::ok)
      ASSERT_LE(++refusals, FaultyTransport::most_refusals);
    EXPECT_EQ(refusals, FaultyTransport::most_refusals);
  }
}

TEST_F(Refuse, NeitherHidesNorChangesTheNetworksOwnAnswer) {
  network.room[{1, Priority::low}] = 0;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(faulty.claim(1, Priority::low, 0, 0).status, Status::again);
  network.room[{1, Priority::low}] = 1;
  Transport::Slot slot;
  while (slot.status != Status::ok) slot = faulty.claim(1, Priority::low, 0, 0);
  slot.packet->words[0] = 99;
  faulty.commit(slot, impl::Header::make(5, 1, 0, 0));
  ASSERT_EQ(network.sent.size(), 1u);
  EXPECT_EQ(network.sent[0].to, 1u);
  EXPECT_EQ(network.sent[0].image->packet.words[0], 99u);
  EXPECT_EQ(network.sent[0].image->packet.head().handler(), 5);
  faulty.close(1);
  Status status = Status::again;
  while (status == Status::again) status = faulty.claim(1, Priority::low, 0, 0).status;
  EXPECT_EQ(status, Status::unreachable);
}

/// Counts what of a multicast of the network's own gets through to it.
class Multicasting final : public test::FakeTransport, public am::Multicaster {
 public:
  [[nodiscard]] am::Multicaster* multicaster(NodeId, std::span<const NodeId> members) noexcept override {
    return members.size() == 2 ? this : nullptr;
  }
  void share_out(NodeId from, std::span<const NodeId>, std::span<std::uint32_t> by) const noexcept override {
    std::fill(by.begin(), by.end(), from);
  }
  void begin_multicast() noexcept override { ++begun; }
  void end_multicast() noexcept override { ++ended; }
  int begun = 0, ended = 0;
};

// Of a hundred claims that are each refused at random one would be, as good as always.
TEST_F(Refuse, AMulticastOfTheNetworksOwnIsRefusedOnceOrNot) {
  Multicasting multicasting;
  FaultyTransport refusing(multicasting, {.seed = 1, .refuse = 0.5, .delay = 0, .kill = {}}, 0);
  const std::array<NodeId, 2> members{};
  Multicaster& own = *refusing.multicaster(7, members);
  std::uint32_t in_a_row = 0, refused = 0;
  for (int i = 1; i <= 1000; ++i) {
    own.begin_multicast();
    EXPECT_EQ(multicasting.begun, i);
    const bool let_in = refusing.claim(1, Priority::low, 0, 0).status == Status::ok;
    for (NodeId to = 2; let_in && to < 100; ++to)
      ASSERT_EQ(refusing.claim(to, Priority::low, 0, 0).status, Status::ok);
    own.end_multicast();
    EXPECT_EQ(multicasting.ended, i);
    refused += let_in ? 0 : 1;
    in_a_row = let_in ? 0 : in_a_row + 1;
    ASSERT_LE(in_a_row, FaultyTransport::most_refusals);
  }
  EXPECT_NEAR(refused, 500, 60);
  refused = 0;
  for (int i = 0; i < 100; ++i)
    refused += refusing.claim(1, Priority::low, 0, 0).status == Status::again ? 1 : 0;
  EXPECT_GT(refused, 0U) << "what is none is refused as ever";
  std::array<std::uint32_t, 2> by{};
  own.share_out(7, members, by);
  EXPECT_EQ(by[1], 7u);
  EXPECT_EQ(refusing.multicaster(7, {}), nullptr);
}

TEST_F(Refuse, NobodySleepsRightAfterIt) {
  ASSERT_EQ(faulty.claim(1, Priority::low, 0, 0).status, Status::again);
  EXPECT_FALSE(faulty.arm({})) << "nobody would tell it: the network has room";
  EXPECT_EQ(network.arms, 0u);
  EXPECT_TRUE(faulty.arm({}));
}

/// Receives everything and checks order per source and priority. What came, in the order in which it came.
std::vector<std::uint64_t> receive_all(FaultyTransport& faulty, std::size_t expected) {
  std::vector<std::uint64_t> came;
  std::map<std::pair<NodeId, Priority>, std::uint64_t> last;
  for (int round = 0; round < 100'000 && came.size() < expected; ++round) {
    faulty.progress();
    for (const Priority priority : both) {
      while (const Transport::View view = faulty.receive(priority)) {
        EXPECT_EQ(faulty.receive(priority).packet, view.packet) << "the same until it is released";
        const std::uint64_t number = view.packet->words[0];
        EXPECT_GT(number, (last[{view.source, priority}])) << "order between a pair";
        last[{view.source, priority}] = number;
        came.push_back(number);
        faulty.release(view);
      }
    }
  }
  EXPECT_EQ(came.size(), expected);
  return came;
}

std::vector<std::uint64_t> delayed(std::uint64_t seed, double delay) {
  Faults its(delays(delay, seed));
  auto& [network, faulty] = its;
  std::uint64_t number = 0;
  for (int i = 0; i < 200; ++i) {
    for (const NodeId source : {1u, 2u, 3u}) {
      for (const Priority priority : both) network.arrive(source, priority, ++number);
    }
  }
  return receive_all(faulty, number);
}

class Delay : public testing::Test, protected Faults {
 protected:
  Delay() : Faults(delays(1)) {}
};

TEST_F(Delay, MixesSourcesDifferentlyForEachSeed) {
  EXPECT_EQ(delayed(7, 0.3), delayed(7, 0.3));
  EXPECT_NE(delayed(7, 0.3), delayed(8, 0.3));
  EXPECT_NE(delayed(7, 0.3), delayed(7, 0));
}

TEST_F(Delay, HoldsAPacketBackForABoundedNumberOfRounds) {
  for (std::uint64_t number = 1; number <= 50; ++number) {
    network.arrive(1, Priority::low, number);
    faulty.progress();
    EXPECT_FALSE(faulty.receive(Priority::low)) << "it is held back as soon as it is seen";
    const Transport::View view = receive_in_time(faulty, Priority::low);
    ASSERT_TRUE(view);
    faulty.release(view);
  }
}

TEST_F(Delay, NobodySleepsOnAPacketThatIsHeldBack) {
  EXPECT_TRUE(faulty.arm({}));
  network.arrive(1, Priority::low, 1);
  faulty.progress();
  ASSERT_FALSE(faulty.receive(Priority::low));
  EXPECT_FALSE(faulty.arm({}));
  EXPECT_EQ(network.arms, 1u);
  ASSERT_TRUE(receive_in_time(faulty, Priority::low));
  EXPECT_TRUE(faulty.arm({}));
}

struct Lane {
  Priority priority;
  std::uint32_t number;
};

/// What waits in one lane is not decided by what comes in another, whose dice fall for each.
void check_lanes(Lane one, Lane other) {
  Faults its(delays(1));
  auto& [network, faulty] = its;
  network.arrive(1, one.priority, 1, one.number);
  faulty.progress();
  ASSERT_FALSE(faulty.receive(one.priority));
  std::uint64_t rounds = 0;
  for (std::uint64_t taken = 0; taken != 20; ++taken) {
    network.arrive(1, other.priority, 100, other.number);
    for (bool came = false; !came;) {
      faulty.progress();
      ASSERT_LE(++rounds, (FaultyTransport::longest_delay + 1) * (taken + 1));
      while (const Transport::View view = faulty.receive(other.priority)) {
        came = came || view.lane == other.number;
        ASSERT_TRUE(view.lane == other.number || rounds <= FaultyTransport::longest_delay);
        faulty.release(view);
      }
    }
  }
}
TEST_F(Delay, OfOneLaneIsNotThatOfAnother) {
  check_lanes({Priority::low, 0}, {Priority::high, 0});
  check_lanes({Priority::low, 0}, {Priority::low, 2});  // lanes as emulated networks have them
  check_lanes({Priority::high, 1}, {Priority::high, 3});
}

/// Node 1, whose packets to itself come by a network with faults.
class Reorder : public testing::Test, protected Faults {
 protected:
  UnorderedLanes& lanes = *faulty.unordered_lanes(1);
  explicit Reorder(double reorder = 1) : Faults({.seed = 5, .reorder = reorder, .kill = {}}, 1) {}

  void send(bool unordered, std::uint64_t number, Priority priority = Priority::low) {
    const auto bytes = static_cast<std::size_t>(number % 7 == 0 ? number % 1025 : 0);
    const Transport::Slot slot =
        unordered ? lanes.claim_unordered(1, priority, 1, bytes) : faulty.claim(1, priority, 1, bytes);
    ASSERT_EQ(slot.status, Status::ok);
    const std::vector<std::byte> payload(bytes, std::byte(number));
    slot.packet->words[0] = number;
    slot.packet->origin = 1;
    slot.packet->payload_bytes = static_cast<std::uint32_t>(bytes);
    faulty.fill(slot, Payload(payload));
    const std::uint16_t flags = bytes == 0 ? 0 : impl::flag::payload;
    faulty.commit(slot, impl::Header::make(7, 1, 0, flags));
    network.arrive_from(1);
  }
  void look_at(const Transport::View& view) {
    const std::uint64_t number = view.packet->words[0];
    EXPECT_EQ(view.source, 1u);
    EXPECT_EQ(view.head.handler(), 7u);
    EXPECT_EQ(view.packet->head().bits, view.head.bits);
    EXPECT_EQ(view.packet->origin & 0xff, 1u);
    if (!view.head.has(impl::flag::payload)) return;
    const std::optional<Payload> payload = faulty.payload_of(view);
    ASSERT_TRUE(payload);
    EXPECT_EQ(payload->size(), number % 1025);
    EXPECT_TRUE(
        std::ranges::all_of(payload->bytes(), [number](std::byte b) { return b == std::byte(number); }));
  }
  /// What a round gives.
  std::vector<std::uint64_t> round(Priority priority = Priority::low) {
    std::vector<std::uint64_t> came;
    faulty.progress();
    while (const Transport::View view = faulty.receive(priority)) {
      EXPECT_EQ(faulty.receive(priority).packet, view.packet) << "the same until it is released";
      look_at(view);
      came.push_back(view.packet->words[0]);
      faulty.release(view);
    }
    return came;
  }
};

TEST_F(Reorder, OrderedOnesPassAndEachComesOnce) {
  std::set<std::uint64_t> came;
  std::uint64_t number = 0;
  for (std::uint64_t now = 1; came.size() != 500; ++now) {
    for (int i = 0; i < 5 && number != 500; ++i, ++number) send(number % 2 == 0, number);
    for (const std::uint64_t one : round()) {
      EXPECT_TRUE(came.insert(one).second) << one;
      const std::uint64_t late = now - (one / 5 + 1);
      EXPECT_TRUE(one % 2 == 1 ? late == 0 : late >= 1 && late <= FaultyTransport::longest_delay) << one;
    }
    ASSERT_LE(now, 1000u);
  }
  EXPECT_FALSE(faulty.holds_back());
  EXPECT_FALSE(faulty.waits(Priority::low, nullptr));
}

TEST_F(Reorder, NobodySleepsOnWhatIsKeptUnlessNobodyWantsIt) {
  EXPECT_TRUE(faulty.arm({}));
  send(true, 1);
  EXPECT_TRUE(round().empty());
  EXPECT_TRUE(faulty.holds_back());
  EXPECT_FALSE(faulty.arm({}));
  while (faulty.holds_back()) faulty.progress();
  EXPECT_FALSE(faulty.arm({}));
  EXPECT_FALSE(faulty.still_armed({}));
  Lookout lookout;
  EXPECT_TRUE(faulty.describe(lookout, {}));
  EXPECT_TRUE(faulty.arm({.high = true, .low = false}));
  EXPECT_FALSE(faulty.describe(lookout, {.high = true, .low = false}));
  EXPECT_TRUE(faulty.waits(Priority::low, nullptr));
  const Transport::View view = faulty.receive(Priority::low);
  ASSERT_TRUE(view);
  EXPECT_FALSE(faulty.waits(Priority::low, view.packet));
  faulty.release(view);
  EXPECT_TRUE(faulty.arm({}));
}

// As a handler that waits does: rounds begin while its message is lent.
TEST_F(Reorder, WhatIsLentStaysThoughAnotherIsDue) {
  send(true, 1);
  EXPECT_TRUE(round().empty());
  send(false, 2);
  Transport::View view = faulty.receive(Priority::low);
  EXPECT_EQ(view.packet->words[0], 2u);
  for (std::uint64_t i = 0; i < FaultyTransport::longest_delay; ++i) {
    faulty.progress();
    EXPECT_EQ(faulty.receive(Priority::low).packet, view.packet);
  }
  faulty.release(view);
  view = faulty.receive(Priority::low);
  ASSERT_TRUE(view);
  EXPECT_EQ(view.packet->words[0], 1u);
}

// More than there is room for: they wait in the network, and low does not hold up high.
TEST_F(Reorder, HasABound) {
  constexpr std::uint64_t many = 5 * KeptPackets::most;
  for (std::uint64_t number = 1; number <= many; ++number) send(true, number);
  send(true, 1000, Priority::high);
  std::size_t came = 0;
  EXPECT_TRUE(round().empty());
  EXPECT_TRUE(faulty.waits(Priority::low, nullptr));
  bool high_came = false;
  for (std::uint64_t rounds = 0; came != many || !high_came; ++rounds) {
    ASSERT_LE(rounds, many * FaultyTransport::longest_delay);
    EXPECT_FALSE(faulty.arm({}));
    high_came = high_came || !round(Priority::high).empty();
    EXPECT_TRUE(high_came || rounds <= FaultyTransport::longest_delay);
    came += round().size();
  }
}

TEST_F(Reorder, LeavesOtherPacketsAlone) {
  const Transport::Slot abandoned = lanes.claim_unordered(1, Priority::low, 1, 0);
  send(false, 1);  // in the same place
  EXPECT_EQ(round().size(), 1u) << "the other was not sent";
  static_cast<void>(abandoned);
  network.unordered_full = true;
  EXPECT_EQ(lanes.claim_unordered(1, Priority::low, 1, 0).status, Status::again);
  EXPECT_FALSE(lanes.has_room_unordered(1, Priority::low, 0));
  faulty.close(1);
  network.unordered_full = false;
  EXPECT_EQ(lanes.claim_unordered(1, Priority::low, 1, 0).status, Status::unreachable);
}

class ReorderSome : public Reorder, public testing::WithParamInterface<double> {
 protected:
  ReorderSome() : Reorder(GetParam()) {}
};

TEST_P(ReorderSome, HappensAsOftenAsAsked) {
  std::size_t at_once = 0;
  for (std::uint64_t number = 1; number <= 1000; ++number) {
    send(true, number);
    at_once += std::ranges::count(round(), number) == 1 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(at_once), 1000 * (1 - GetParam()), 300 * GetParam());
}

INSTANTIATE_TEST_SUITE_P(, ReorderSome, testing::Values(0, 0.2));

/// Sends forever as node `self`.
void send_for_ever(NodeId self, std::uint64_t commits) {
  Faults its({.seed = 1, .kill = Kill{2, 5}}, self);
  for (std::uint64_t i = 0; i < commits; ++i) {
    std::fprintf(stderr, "%zu sent;", its.network.sent.size());
    its.faulty.commit(its.faulty.claim(1, Priority::low, 0, 0), impl::Header::make(0, 0, 0, 0));
  }
  std::exit(7);  // NOLINT(concurrency-mt-unsafe): a child with one thread
}

TEST(KillDeathTest, HappensInTheMiddleOfTheChosenSend) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      send_for_ever(2, 100), testing::KilledBySignal(SIGKILL),
      "3 sent;4 sent;am: node 2: faults: killed at commit 5, (before|after) it is published \\(seed=1\\)");
  EXPECT_EXIT(send_for_ever(2, 4), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(send_for_ever(1, 100), testing::ExitedWithCode(7), "") << "another node";
}

}  // namespace am::faults::faults_test
