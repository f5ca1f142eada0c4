// The fault decorator, packet by packet over a network that the test plays by hand.
#include "transports/faults/faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <am/error.hpp>
#include <am/start.hpp>
#include <array>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "transports/faults/faulty_transport.hpp"
#include "transports/faults/plan.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::faults {
namespace faults_test {

using testing::HasSubstr;

constexpr Priority both[] = {Priority::low, Priority::high};

// -- the plan -----------------------------------------------------------------------------------------------------------

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

TEST(FaultPlan, AMalformedOneIsAnErrorThatShowsTheForm) {
  for (const char* text :
       {"refuse",      "refuse=",          "refuse=2",    "refuse=-0.1", "refuse=nan",
        "refuse=0.1x", "refuse= 0.1",      "reorder=1.5", "drop=0.1",    "=1",
        ",",           "seed=1,",          ",seed=1",     "seed=-1",     "seed=18446744073709551616",
        "kill=1",      "kill=1@",          "kill=@5",     "kill=1@0",    "kill=1@5@6",
        "kill=-1@5",   "seed=1;refuse=0.1"}) {
    try {
      static_cast<void>(parse_plan(text));
      ADD_FAILURE() << "\"" << text << "\" was taken";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("seed=7,refuse=0.1,delay=0.05,reorder=0.2,kill=1@1000")) << text;
    }
  }
}

TEST(FaultPlan, NamesThePartThatIsWrong) {
  try {
    static_cast<void>(parse_plan("seed=7,refuse=ten,delay=0.1"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"refuse=ten\""));
  }
  try {
    static_cast<void>(parse_plan("seed=7,seed=8"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"seed\" is given twice"));
  }
}

TEST(MakeFaults, IsNothingWhereNothingIsAskedFor) {
  test::FakeTransport network;
  EXPECT_EQ(make_faults(network, "", false, 0, 4), nullptr);
  EXPECT_EQ(make_faults(network, "seed=5,refuse=0", false, 0, 4), nullptr);
  ASSERT_NE(make_faults(network, "refuse=0.5", false, 0, 4), nullptr);
  EXPECT_EQ(make_faults(network, "refuse=0.5", false, 0, 4)->name(), "fake with faults");
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
  try {
    run_threads(1, [](Node&) { ADD_FAILURE() << "the job began"; });
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("kills a node, which is a thread here"));
  }
  unsetenv("AM_FAULTS");  // NOLINT(concurrency-mt-unsafe): one thread
}

// -- refuse -------------------------------------------------------------------------------------------------------------

/// What a thousand claims are answered, each ok committed: a letter each.
std::string answers(std::uint64_t seed, NodeId self, double refuse, NodeId to = 1) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = seed, .refuse = refuse, .delay = 0, .kill = {}}, self);
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const Transport::Slot slot = faulty.claim(to, Priority::low, 0, 0);
    text += slot.status == Status::ok ? 'o' : 'a';
    if (slot.status == Status::ok) faulty.commit(slot, impl::Header::make(0, 0, 0, 0));
  }
  return text;
}

TEST(Refuse, HappensAsOftenAsAsked) {
  for (const double refuse : {0.01, 0.1, 0.5}) {
    const std::string text = answers(7, 0, refuse);
    const auto refused = static_cast<double>(std::count(text.begin(), text.end(), 'a'));
    EXPECT_NEAR(refused, 1000 * refuse, 60) << refuse;  // four standard deviations at 0.5; the seed is fixed
  }
}

TEST(Refuse, IsTheSameForTheSameSeedAndNodeOnly) {
  EXPECT_EQ(answers(7, 0, 0.3), answers(7, 0, 0.3));
  EXPECT_NE(answers(7, 0, 0.3), answers(8, 0, 0.3));
  EXPECT_NE(answers(7, 0, 0.3), answers(7, 1, 0.3));
  EXPECT_NE(answers(7, 0, 0.3), answers(7 + (std::uint64_t{1} << 32), 0, 0.3))
      << "all bits of the seed count";
}

TEST(Refuse, EndsForWhoeverKeepsTrying) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = 1, .refuse = 1, .delay = 0, .kill = {}}, 0);
  for (int message = 0; message < 100; ++message) {
    std::uint32_t refusals = 0;
    while (faulty.claim(1, Priority::high, 0, 0).status != Status::ok)
      ASSERT_LE(++refusals, FaultyTransport::most_refusals);
    EXPECT_EQ(refusals, FaultyTransport::most_refusals);
  }
}

TEST(Refuse, NeitherHidesNorChangesTheNetworksOwnAnswer) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = 1, .refuse = 0.5, .delay = 0, .kill = {}}, 0);
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
class Multicasting final : public test::FakeTransport {
 public:
  [[nodiscard]] bool share_out(NodeId from, std::span<const NodeId> members,
                               std::span<std::uint32_t> by) const noexcept override {
    std::fill(by.begin(), by.end(), from);
    return members.size() == 2;
  }
  void begin_multicast() noexcept override { ++begun; }
  void end_multicast() noexcept override { ++ended; }
  int begun = 0, ended = 0;
};

// Of a hundred claims that are each refused at random one would be, as good as always.
TEST(Refuse, AMulticastOfTheNetworksOwnIsRefusedOnceOrNot) {
  Multicasting network;
  FaultyTransport faulty(network, {.seed = 1, .refuse = 0.5, .delay = 0, .kill = {}}, 0);
  std::uint32_t in_a_row = 0, refused = 0;
  for (int i = 1; i <= 1000; ++i) {
    faulty.begin_multicast();
    EXPECT_EQ(network.begun, i);
    const bool let_in = faulty.claim(1, Priority::low, 0, 0).status == Status::ok;
    for (NodeId to = 2; let_in && to < 100; ++to)
      ASSERT_EQ(faulty.claim(to, Priority::low, 0, 0).status, Status::ok);
    faulty.end_multicast();
    EXPECT_EQ(network.ended, i);
    refused += let_in ? 0 : 1;
    in_a_row = let_in ? 0 : in_a_row + 1;
    ASSERT_LE(in_a_row, FaultyTransport::most_refusals);
  }
  EXPECT_NEAR(refused, 500, 60);
  refused = 0;
  for (int i = 0; i < 100; ++i)
    refused += faulty.claim(1, Priority::low, 0, 0).status == Status::again ? 1 : 0;
  EXPECT_GT(refused, 0U) << "what is none is refused as ever";
  const std::array<NodeId, 2> members{};
  std::array<std::uint32_t, 2> by{};
  EXPECT_TRUE(faulty.share_out(7, members, by));
  EXPECT_EQ(by[1], 7u);
  EXPECT_FALSE(faulty.share_out(7, {}, {}));
}

TEST(Refuse, NobodySleepsRightAfterIt) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = 1, .refuse = 1, .delay = 0, .kill = {}}, 0);
  ASSERT_EQ(faulty.claim(1, Priority::low, 0, 0).status, Status::again);
  EXPECT_FALSE(faulty.arm({})) << "nobody would tell it: the network has room";
  EXPECT_EQ(network.arms, 0u);
  EXPECT_TRUE(faulty.arm({}));
}

// -- delay --------------------------------------------------------------------------------------------------------------

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
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = seed, .refuse = 0, .delay = delay, .kill = {}}, 0);
  std::uint64_t number = 0;
  for (int i = 0; i < 200; ++i) {
    for (const NodeId source : {1u, 2u, 3u}) {
      for (const Priority priority : both) network.arrive(source, priority, ++number);
    }
  }
  return receive_all(faulty, number);
}

TEST(Delay, LosesNothingAndKeepsTheOrderOfEachPair) {
  for (const double delay : {0.05, 0.5, 1.0}) delayed(7, delay);
}

TEST(Delay, MixesSourcesDifferentlyForEachSeed) {
  EXPECT_EQ(delayed(7, 0.3), delayed(7, 0.3));
  EXPECT_NE(delayed(7, 0.3), delayed(8, 0.3));
  EXPECT_NE(delayed(7, 0.3), delayed(7, 0));
}

TEST(Delay, HoldsAPacketBackForABoundedNumberOfRounds) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = 3, .refuse = 0, .delay = 1, .kill = {}}, 0);
  for (std::uint64_t number = 1; number <= 50; ++number) {
    network.arrive(1, Priority::low, number);
    std::uint64_t rounds = 0;
    faulty.progress();
    EXPECT_FALSE(faulty.receive(Priority::low)) << "it is held back as soon as it is seen";
    Transport::View view;
    while (!(view = faulty.receive(Priority::low))) {
      faulty.progress();
      ASSERT_LE(++rounds, FaultyTransport::longest_delay);
    }
    faulty.release(view);
  }
}

TEST(Delay, OfLowDoesNotHoldUpHigh) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = 3, .refuse = 0, .delay = 1, .kill = {}}, 0);
  network.arrive(1, Priority::low, 1);
  faulty.progress();
  ASSERT_FALSE(faulty.receive(Priority::low));
  for (std::uint64_t number = 1; number <= 10; ++number) {  // each waits its own turn, whatever low does
    network.arrive(1, Priority::high, number);
    std::uint64_t rounds = 0;
    Transport::View view;
    while (!(view = faulty.receive(Priority::high))) {
      faulty.progress();
      ASSERT_LE(++rounds, FaultyTransport::longest_delay);
    }
    faulty.release(view);
  }
}

TEST(Delay, APacketThatCoreDefersComesBackInTheNextRound) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = 3, .refuse = 0, .delay = 0.5, .kill = {}}, 0);
  network.arrive(1, Priority::low, 1);
  Transport::View view;
  while (!(view = faulty.receive(Priority::low))) faulty.progress();
  for (int i = 0; i < 10; ++i) {
    faulty.defer(view);
    EXPECT_FALSE(faulty.receive(Priority::low));
    faulty.progress();
    EXPECT_TRUE(faulty.receive(Priority::low)) << "its dice have fallen already";
  }
}

TEST(Delay, NobodySleepsOnAPacketThatIsHeldBack) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = 3, .refuse = 0, .delay = 1, .kill = {}}, 0);
  EXPECT_TRUE(faulty.arm({}));
  network.arrive(1, Priority::low, 1);
  faulty.progress();
  ASSERT_FALSE(faulty.receive(Priority::low));
  EXPECT_FALSE(faulty.arm({}));
  EXPECT_EQ(network.arms, 1u);
  while (!faulty.receive(Priority::low)) faulty.progress();
  EXPECT_TRUE(faulty.arm({}));
}

// What waits in one lane is not decided by what comes in another: lanes as emulated networks have them.
void check_lanes(Priority priority, std::uint32_t one, std::uint32_t other) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = 3, .delay = 1, .kill = {}}, 0);
  network.arrive(1, priority, 1, one);
  faulty.progress();
  ASSERT_FALSE(faulty.receive(priority));
  std::uint64_t rounds = 0;
  for (std::uint64_t taken = 0; taken != 20;) {  // in the other lane, whose dice fall for each
    network.arrive(1, priority, 100, other);
    bool came = false;
    while (!came) {
      faulty.progress();
      ASSERT_LE(++rounds, (FaultyTransport::longest_delay + 1) * (taken + 1));
      while (const Transport::View view = faulty.receive(priority)) {
        came = came || view.lane == other;
        ASSERT_TRUE(view.lane == other || rounds <= FaultyTransport::longest_delay);
        faulty.release(view);
      }
    }
    ++taken;
  }
}
TEST(Delay, OfOneLaneIsNotThatOfAnother) {
  check_lanes(Priority::low, 0, 2);
  check_lanes(Priority::high, 1, 3);
}

// -- reorder ------------------------------------------------------------------------------------------------------------

/// Node 1, whose packets to itself come by a network with faults.
class Reorder : public testing::Test {
 protected:
  explicit Reorder(double reorder = 1) : faulty_(network_, {.seed = 5, .reorder = reorder, .kill = {}}, 1) {}

  void send(bool unordered, std::uint64_t number, Priority priority = Priority::low) {
    const auto bytes = static_cast<std::size_t>(number % 7 == 0 ? number % 1025 : 0);
    const Transport::Slot slot =
        unordered ? faulty_.claim_unordered(1, priority, 1, bytes) : faulty_.claim(1, priority, 1, bytes);
    ASSERT_EQ(slot.status, Status::ok);
    const std::vector<std::byte> payload(bytes, std::byte(number));
    slot.packet->words[0] = number;
    slot.packet->origin = 1;
    slot.packet->payload_bytes = static_cast<std::uint32_t>(bytes);
    faulty_.fill(slot, Payload(payload));
    const std::uint16_t flags = bytes == 0 ? 0 : impl::flag::payload;
    faulty_.commit(slot, impl::Header::make(7, 1, 0, flags));
    network_.arrive_from(1);
  }
  void look_at(const Transport::View& view) {
    const std::uint64_t number = view.packet->words[0];
    EXPECT_EQ(view.source, 1u);
    EXPECT_EQ(view.head.handler(), 7u);
    EXPECT_EQ(view.packet->head().bits, view.head.bits);
    EXPECT_EQ(view.packet->origin & 0xff, 1u);
    if (!view.head.has(impl::flag::payload)) return;
    const std::optional<Payload> payload = faulty_.payload_of(view);
    ASSERT_TRUE(payload);
    EXPECT_EQ(payload->size(), number % 1025);
    EXPECT_TRUE(
        std::ranges::all_of(payload->bytes(), [number](std::byte b) { return b == std::byte(number); }));
  }
  /// What a round gives.
  std::vector<std::uint64_t> round(Priority priority = Priority::low) {
    std::vector<std::uint64_t> came;
    faulty_.progress();
    while (const Transport::View view = faulty_.receive(priority)) {
      EXPECT_EQ(faulty_.receive(priority).packet, view.packet) << "the same until it is released";
      look_at(view);
      came.push_back(view.packet->words[0]);
      faulty_.release(view);
    }
    return came;
  }

  test::FakeTransport network_;
  FaultyTransport faulty_;
};

TEST_F(Reorder, OrderedOnesPassAndEachComesOnce) {
  std::vector<std::uint64_t> came;
  std::uint64_t number = 0;
  std::vector<std::uint64_t> given_in(500);  // which round
  for (std::uint64_t now = 1; came.size() != 500; ++now) {
    for (int i = 0; i < 5 && number != 500; ++i, ++number) send(number % 2 == 0, number);
    for (const std::uint64_t one : round()) {
      came.push_back(one);
      EXPECT_EQ(given_in[one], 0u);
      given_in[one] = now;
      const std::uint64_t late = now - (one / 5 + 1);
      EXPECT_TRUE(one % 2 == 1 ? late == 0 : late >= 1 && late <= FaultyTransport::longest_delay) << one;
    }
    ASSERT_LE(now, 1000u);
  }
  EXPECT_FALSE(faulty_.holds_back());
  EXPECT_FALSE(faulty_.waits(Priority::low, nullptr));
}

TEST_F(Reorder, NobodySleepsOnWhatIsKeptUnlessNobodyWantsIt) {
  EXPECT_TRUE(faulty_.arm({}));
  send(true, 1);
  EXPECT_TRUE(round().empty());
  EXPECT_TRUE(faulty_.holds_back());
  EXPECT_FALSE(faulty_.arm({}));
  while (faulty_.holds_back()) faulty_.progress();
  EXPECT_FALSE(faulty_.arm({}));
  EXPECT_FALSE(faulty_.still_armed({}));
  Lookout lookout;
  EXPECT_TRUE(faulty_.describe(lookout, {}));
  EXPECT_TRUE(faulty_.arm({.high = true, .low = false}));
  EXPECT_FALSE(faulty_.describe(lookout, {.high = true, .low = false}));
  EXPECT_TRUE(faulty_.waits(Priority::low, nullptr));
  const Transport::View view = faulty_.receive(Priority::low);
  ASSERT_TRUE(view);
  EXPECT_FALSE(faulty_.waits(Priority::low, view.packet));
  faulty_.release(view);
  EXPECT_TRUE(faulty_.arm({}));
}

TEST_F(Reorder, WhatIsDeferredComesInTheNextRound) {
  send(true, 7);
  Transport::View view;
  while (!(view = faulty_.receive(Priority::low))) faulty_.progress();
  for (int i = 0; i < 3; ++i) {
    faulty_.defer(view);
    EXPECT_FALSE(faulty_.receive(Priority::low));
    EXPECT_FALSE(faulty_.arm({}));
    faulty_.progress();
    view = faulty_.receive(Priority::low);
    ASSERT_TRUE(view);
    look_at(view);
  }
}

// As a handler that waits does: rounds begin while its message is lent.
TEST_F(Reorder, WhatIsLentStaysThoughAnotherIsDue) {
  send(true, 1);
  EXPECT_TRUE(round().empty());
  send(false, 2);
  Transport::View view = faulty_.receive(Priority::low);
  EXPECT_EQ(view.packet->words[0], 2u);
  for (std::uint64_t i = 0; i < FaultyTransport::longest_delay; ++i) {
    faulty_.progress();
    EXPECT_EQ(faulty_.receive(Priority::low).packet, view.packet);
  }
  faulty_.release(view);
  view = faulty_.receive(Priority::low);
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
  EXPECT_TRUE(faulty_.waits(Priority::low, nullptr));
  bool high_came = false;
  for (std::uint64_t rounds = 0; came != many || !high_came; ++rounds) {
    ASSERT_LE(rounds, many * FaultyTransport::longest_delay);
    EXPECT_FALSE(faulty_.arm({}));
    high_came = high_came || !round(Priority::high).empty();
    EXPECT_TRUE(high_came || rounds <= FaultyTransport::longest_delay);
    came += round().size();
  }
}

TEST_F(Reorder, LeavesOtherPacketsAlone) {
  const Transport::Slot abandoned = faulty_.claim_unordered(1, Priority::low, 1, 0);
  send(false, 1);  // in the same place
  EXPECT_EQ(round().size(), 1u) << "the other was not sent";
  static_cast<void>(abandoned);
  network_.unordered_full = true;
  EXPECT_EQ(faulty_.claim_unordered(1, Priority::low, 1, 0).status, Status::again);
  EXPECT_FALSE(faulty_.has_room_unordered(1, Priority::low, 0));
  faulty_.close(1);
  network_.unordered_full = false;
  EXPECT_EQ(faulty_.claim_unordered(1, Priority::low, 1, 0).status, Status::unreachable);
}

class ReorderSome : public Reorder {
 protected:
  ReorderSome() : Reorder(0.2) {}
};

TEST_F(ReorderSome, HappensAsOftenAsAsked) {
  std::size_t at_once = 0;
  for (std::uint64_t number = 1; number <= 1000; ++number) {
    send(true, number);
    const std::vector<std::uint64_t> came = round();
    at_once += std::ranges::count(came, number) == 1 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(at_once), 800, 60);
}

class ReorderNone : public Reorder {
 protected:
  ReorderNone() : Reorder(0) {}
};

TEST_F(ReorderNone, KeepsNothing) {
  for (std::uint64_t number = 1; number <= 100; ++number) {
    send(true, number);
    EXPECT_EQ(round().size(), 1u);
  }
}

// -- kill ---------------------------------------------------------------------------------------------------------------

/// Sends forever as node `self`.
void send_for_ever(std::uint64_t seed, NodeId self, std::uint64_t commits) {
  test::FakeTransport network;
  FaultyTransport faulty(network, {.seed = seed, .refuse = 0, .delay = 0, .kill = Kill{2, 5}}, self);
  for (std::uint64_t i = 0; i < commits; ++i) {
    std::fprintf(stderr, "%zu sent;", network.sent.size());
    faulty.commit(faulty.claim(1, Priority::low, 0, 0), impl::Header::make(0, 0, 0, 0));
  }
  std::exit(7);  // NOLINT(concurrency-mt-unsafe): a child with one thread
}

TEST(KillDeathTest, HappensInTheMiddleOfTheChosenSend) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      send_for_ever(1, 2, 100), testing::KilledBySignal(SIGKILL),
      "3 sent;4 sent;am: node 2: faults: killed at commit 5, (before|after) it is published \\(seed=1\\)");
  EXPECT_EXIT(send_for_ever(1, 2, 4), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(send_for_ever(1, 1, 100), testing::ExitedWithCode(7), "") << "another node";
}

TEST(KillDeathTest, TheSeedSaysOnWhichSideOfThePublication) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  bool before = false, after = false;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    (Dice(seed, 2, 2).falls(0.5) ? before : after) = true;
  }
  EXPECT_TRUE(before && after) << "eight seeds, both sides";
}

}  // namespace faults_test
}  // namespace am::faults
