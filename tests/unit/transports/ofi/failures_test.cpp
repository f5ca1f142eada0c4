// What a provider gives up, and peers that die without a word: they are lost, in the provider's words, and nobody hangs.
#include <gmock/gmock.h>
#include <rdma/fi_errno.h>

#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi::failures_test {

using testing::HasSubstr;

class Failures : public Nodes, public testing::WithParamInterface<Way> {
 protected:
  Failures() : Nodes(3, 3, GetParam()) {}

  /// By what `cause` does node `node` loses `peer`, and gets on with node 2.
  void expect_loss(NodeId node, NodeId peer, const std::string& why, const std::function<void()>& cause) {
    const std::string words = loss(node, peer, cause);
    EXPECT_THAT(words, HasSubstr("no way to node " + std::to_string(peer)));
    EXPECT_THAT(words, HasSubstr(why));
    EXPECT_TRUE(until([&] { return at(node).drained() && at(node).published(); }));
    pass(node, 2, Priority::low, 3);
  }
};

/// Who notices what does not come within 0.2 s of looking.
class FailuresInTime : public Failures {
 protected:
  static constexpr std::chrono::nanoseconds host_timeout{200'000'000};

  FailuresInTime() { host_timeout_ns_ = host_timeout.count(); }
  /// The next one from node 0 to node 1 comes to nothing.
  void expect_loss_of_a_letter() {
    expect_loss(1, 0, " does not come, ", [&] { ASSERT_EQ(send(0, 1, Priority::low, 7), Status::ok); });
    EXPECT_FALSE(at(1).receive(Priority::low));
  }
};

/// A send by inject that fails does not say to whom. It was the last: nothing would come behind it by itself.
TEST_P(FailuresInTime, ALetterThatIsLostIsTheEndOfItsPeer) {
  if (choose(library(), {})->tx_attr->inject_size < 64) GTEST_SKIP() << "it injects nothing";
  meet(0, 1);
  fabric_->fail_after(test::FakeFabric::Step::inject, 0, FI_EIO);
  expect_loss_of_a_letter();
}

/// Nor does a receive that fails say from whom.
TEST_P(FailuresInTime, ALetterThatCannotBeReceivedIsTheEndOfItsPeer) {
  meet(0, 1);
  fabric_->fail_after(test::FakeFabric::Step::arrival, 0, FI_EIO);
  expect_loss_of_a_letter();
}

/// Letters come in any order, are refused, and are many.
TEST_P(FailuresInTime, LettersThatAreOnlyLateAreNotLost) {
  const auto end = std::chrono::steady_clock::now() + 3 * host_timeout;
  while (std::chrono::steady_clock::now() < end) {
    EXPECT_TRUE(until([&] { return send(0, 1, Priority::low, 1) == Status::ok; }));
    release_all(1);
    progress();
  }
  EXPECT_TRUE(until([&] { return release_all(1), at(0).drained(); }));
  expect_nobody_is_lost();
}

/// It may have kept a letter back, though later ones have gone.
TEST_P(FailuresInTime, APeerThatDoesNotLookIsNotLost) {
  if ((way_.fake->order & FI_ORDER_SAS) != 0) GTEST_SKIP() << "letters do not overtake each other";
  meet(0, 1);
  fabric_->hold(true);
  for (const std::uint64_t word : {5u, 6u}) {
    const std::size_t on_the_wire = fabric_->deliverable().size();
    ASSERT_EQ(send(0, 1, Priority::low, word), Status::ok);
    while (fabric_->deliverable().size() == on_the_wire) at(0).progress();
  }
  fabric_->deliver(fabric_->deliverable().back());
  const auto end = std::chrono::steady_clock::now() + 3 * host_timeout;
  while (std::chrono::steady_clock::now() < end) at(1).progress();
  EXPECT_FALSE(at(1).receive(Priority::low));
  fabric_->hold(false);
  EXPECT_EQ(next_word(1, Priority::low), 5u);
  EXPECT_EQ(next_word(1, Priority::low), 6u);
  EXPECT_TRUE(until([&] { return at(0).drained() && at(1).drained(); }));
  expect_nobody_is_lost();
}

/// Its memory goes while it is to be read.
TEST_P(Failures, APeerThatDiesWithALongPayloadIsLost) {
  meet(0, 1);
  const std::vector<std::byte> bytes(1'000'000);
  for (int i = 0; i < 2; ++i) static_cast<void>(send(1, 0, Priority::low, 7, bytes));
  at(1).flush();
  expect_loss(0, 1, "the fake's own words", [&] {
    networks_[1].reset();
    for (int i = 0; i < 100; ++i) progress();
    at(0).publish(1, 1, 1);
  });
}

TEST_P(Failures, AReadThatFailsIsTheEndOfThatPeer) {
  if ((choose(library(), {})->caps & FI_RMA) == 0) GTEST_SKIP() << "it reads nothing";
  meet(0, 1);
  const std::vector<std::byte> bytes(500'000);
  fabric_->fail_after(test::FakeFabric::Step::access, 0, FI_EIO);
  expect_loss(0, 1, "the fake's own words", [&] {
    ASSERT_EQ(send(1, 0, Priority::low, 7, bytes), Status::ok);
    ASSERT_EQ(send(1, 0, Priority::low, 8), Status::ok);
  });
  EXPECT_FALSE(at(0).receive(Priority::low)) << "what stood behind it";
}

/// A node that can receive nothing any more does not wait for ever (libfabric 1.17's shm, whose room for letters that came too early is
/// that of its receive buffers).
TEST_P(Failures, WithoutReceiveBuffersAllAreLost) {
  meet(0, 1);
  fabric_->fail_receives(FI_ENOMEM);
  const std::vector<std::byte> bytes(500);
  const std::string words = loss(1, 0, [&] {
    EXPECT_TRUE(until([&] {
      static_cast<void>(send(0, 1, Priority::low, 7, bytes));
      release_all(1);
      return !ears_[1].lost_ones.empty();
    }));
  });
  EXPECT_THAT(words, HasSubstr("node 1: no way to node 0"));
  EXPECT_THAT(words, HasSubstr("it takes no receive buffer: "));
}

TEST_P(Failures, WithoutACompletionQueueAllAreLost) {
  meet(0, 1);
  const std::string words = loss(1, 0, [&] { fabric_->fail_queues(FI_EOVERRUN); });
  EXPECT_THAT(words, HasSubstr("its completion queue cannot be read: "));
}

/// Whichever greeting fails: it is tried again.
TEST_P(Failures, AGreetingThatFailsIsTriedAgain) {
  for (std::size_t good = 0; good < 2; ++good) {
    fabric_->fail_after(test::FakeFabric::Step::send, good, FI_ECONNREFUSED);
    const NodeId to = good == 0 ? 1 : 2;
    pass(0, to, Priority::low, good);
  }
  expect_nobody_is_lost();
}

/// One that has left may be gone before libfabric takes its answer, and nobody waits for that for ever.
TEST_P(Failures, AnAnswerToOneThatHasLeftIsGivenUp) {
  constexpr std::uint64_t later_ns = 3'000'000'000;
  host::JobHeader& job = memory_->board().job();
  job.standstill = 2 * later_ns;  // the job has stood still so long
  meet(0, 1);
  at(0).publish(1, 3, 4);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(at(0).drained());  // so it asks
    at(0).progress();
  }
  fabric_->refuse_sends(true);
  memory_->board().card(0).standing = static_cast<std::uint32_t>(host::Standing::left);
  at(1).close(0);
  for (int i = 0; i < 10'000; ++i) at(1).progress();
  EXPECT_FALSE(at(1).is_calm()) << "it has nothing to say";
  job.standstill = 0;  // now it is later
  EXPECT_TRUE(until([&] { return at(1).is_calm(); }));
  expect_nobody_is_lost();
  fabric_->refuse_sends(false);
  EXPECT_EQ(send(1, 0, Priority::low, 0), Status::unreachable);
  pass(1, 2, Priority::low, 5);
}

INSTANTIATE_TEST_SUITE_P(, Failures, testing::ValuesIn(fake_ways()), name_of);
INSTANTIATE_TEST_SUITE_P(, FailuresInTime, testing::ValuesIn(fake_ways()), name_of);

}  // namespace am::ofi::failures_test
