// What holds of the ends of every emulated network, in one thread: what is deferred, what a node that is armed sleeps on, and accesses to
// memory. What is special of a machine: t1_transport_test.cpp, mmachine_transport_test.cpp,
// ncube2_transport_test.cpp, cm5_transport_test.cpp, care_transport_test.cpp. All else is the conformance suite's.
#include "transports/emulated/window_transport.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "support/random.hpp"
#include "transports/emulated/care_transport.hpp"
#include "transports/emulated/mmachine_transport.hpp"
#include "transports/emulated/t1_transport.hpp"
#include "unit/transports/emulated/ends.hpp"

namespace am::emulated::window_transport_test {

template <class Network>
using EmulatedEnds = Ends<Network>;
using Machines = testing::Types<T1Transport, MMachineTransport, Ncube2Transport, Cm5Transport, CareTransport>;
TYPED_TEST_SUITE(EmulatedEnds, Machines);

TYPED_TEST(EmulatedEnds, KeepDeferredOnesForTheNextRoundAndGoOnWithOthers) {
  ASSERT_EQ(this->send(0, 1, Priority::low), Status::ok);
  ASSERT_EQ(this->send(0, 1, Priority::low), Status::ok);
  ASSERT_EQ(this->send(4, 1, Priority::low), Status::ok);
  TypeParam& to = this->end(1);
  to.progress();
  std::vector<NodeId> sources;
  for (int i = 0; i < 2; ++i) {
    const Transport::View view = to.receive(Priority::low);
    ASSERT_TRUE(view);
    EXPECT_TRUE(to.waits(Priority::low, view.packet));
    sources.push_back(view.source);
    to.defer(view);
  }
  EXPECT_THAT(sources, testing::UnorderedElementsAre(0u, 4u));
  EXPECT_FALSE(to.receive(Priority::low));
  EXPECT_TRUE(to.waits(Priority::low, nullptr));
  EXPECT_FALSE(to.waits(Priority::high, nullptr));
  EXPECT_EQ(this->take_all(1, Priority::low).size(), 3u);
  EXPECT_FALSE(to.waits(Priority::low, nullptr));
}

// A high handler's progress may begin another round while a low one's packet is lent.
TYPED_TEST(EmulatedEnds, KnowTheLenderWhateverRoundItIs) {
  ASSERT_EQ(this->send(0, 1, Priority::low), Status::ok);
  ASSERT_EQ(this->take(1, Priority::low, 0), this->sent_);
  ASSERT_EQ(this->send(4, 1, Priority::low), Status::ok);
  TypeParam& to = this->end(1);
  to.progress();
  const Transport::View view = to.receive(Priority::low);
  ASSERT_TRUE(view);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(to.waits(Priority::low, view.packet));
    to.progress();
  }
  to.defer(view);
  to.progress();
  EXPECT_TRUE(to.waits(Priority::low, nullptr));
  EXPECT_EQ(this->take(1, Priority::low, 4), this->sent_);
}

TYPED_TEST(EmulatedEnds, AreNotArmedWhereSomethingIsWantedThatHasCome) {
  TypeParam& to = this->end(1);
  EXPECT_TRUE(to.arm(both));
  to.disarm();
  ASSERT_EQ(this->send(0, 1, Priority::low), Status::ok);
  EXPECT_FALSE(to.arm(both));
  EXPECT_TRUE(to.arm(high_only));
  to.disarm();
  to.progress();
  const Transport::View view = to.receive(Priority::low);
  ASSERT_TRUE(view);
  to.defer(view);
  EXPECT_TRUE(to.arm(both)) << "what was deferred rings nobody";
  to.disarm();
  Lookout lookout;
  EXPECT_FALSE(to.describe(lookout, both));
  EXPECT_FALSE(lookout.news());
  ASSERT_EQ(this->send(4, 1, Priority::high), Status::ok);
  EXPECT_TRUE(lookout.news());
}

TYPED_TEST(EmulatedEnds, AreNotArmedWhereRoomWasMissingThatHasCome) {
  this->fill(0, 1, Priority::low);
  EXPECT_TRUE(this->end(0).arm(both));
  this->end(0).disarm();
  EXPECT_EQ(this->send(0, 1, Priority::low), Status::again);
  this->take_all(1, Priority::low);
  EXPECT_FALSE(this->end(0).arm(both));
  EXPECT_EQ(this->send(0, 1, Priority::low), Status::ok);
}

TYPED_TEST(EmulatedEnds, WakeWhoSleeps) {
  constexpr std::size_t rounds = 300;
  for (const bool armed_often : {false, true}) {
    this->begin_anew(armed_often ? 1 : this->nodes);
    std::atomic<std::size_t> taken = 0;
    std::jthread sleeper([&] {
      while (taken != rounds) {
        const std::size_t some = this->take_all(1, Priority::low).size();
        taken += some;
        if (some == 0) this->sleep_unless(1, [] { return false; });
      }
    });
    test::Random random(test::seed());
    for (std::size_t i = 0; i < rounds; ++i) {
      while (this->send(0, 1, Priority::low) != Status::ok) std::this_thread::yield();
      if (random.one_in(4)) continue;
      while (taken != i + 1) std::this_thread::yield();
    }
  }
}

// Handlers in hardware (T1 report, 3.9), and a kernel's interrupts: no other end takes part.
template <class Network>
using EndsWithAccesses = Ends<Network>;
using MachinesWithAccesses = testing::Types<T1Transport, Ncube2Transport>;
TYPED_TEST_SUITE(EndsWithAccesses, MachinesWithAccesses);

TYPED_TEST(EndsWithAccesses, CarryThemToWhoDoesNothing) {
  using Access = MemoryReach::Access;
  TypeParam& from = this->end(0);
  for (std::uint64_t i = 1; i <= 50; ++i) {
    for (const Access access : {Access::store, Access::fetch}) {
      ASSERT_EQ(from.begin_access(access, 4, i * 20), Status::ok);
      EXPECT_EQ(from.accesses_done(access, 4), i) << "whoever begins one carries it";
    }
  }
  EXPECT_EQ(from.accesses_done(Access::store, 1), 0u);
  EXPECT_EQ(this->end(4).accesses_done(Access::store, 0), 0u);
  EXPECT_FALSE(this->end(4).progress()) << "nothing for a processor";
  from.close(4);
  EXPECT_EQ(from.begin_access(Access::store, 4, 8), Status::unreachable);
  EXPECT_EQ(from.begin_access(Access::store, 5, 8), Status::ok);
  EXPECT_EQ(from.begin_access(Access::fetch, 3, 8), Status::ok);
}

}  // namespace am::emulated::window_transport_test
