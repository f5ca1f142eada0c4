// What a provider gives up, and peers that die without a word: they are lost, in the provider's words, and nobody hangs.
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <chrono>
#include <string>
#include <vector>

#include "unit/transports/ofi/ways.hpp"

namespace am::ofi {
namespace failures_test {

class Failures : public Nodes, public testing::WithParamInterface<Way> {
 protected:
  Failures() : Nodes(3, 3, GetParam()) {}

  void meet() {
    ASSERT_EQ(send(0, 1, Priority::low, 1), Status::ok);
    ASSERT_EQ(next_word(1, Priority::low), 1u);
    ASSERT_EQ(send(1, 0, Priority::low, 2), Status::ok);
    ASSERT_EQ(next_word(0, Priority::low), 2u);
    for (const NodeId node : {NodeId{0}, NodeId{1}}) ASSERT_TRUE(until([&] { return at(node).drained(); }));
  }
  /// What has come to node 1.
  void release_all() {
    while (const Transport::View view = at(1).receive(Priority::low)) at(1).release(view);
  }
  void expect_lost(NodeId node, NodeId peer, const std::string& words) {
    EXPECT_EQ(ears_[node].lost_ones, std::vector<NodeId>{peer});
    EXPECT_EQ(send(node, peer, Priority::low, 0), Status::unreachable);
    EXPECT_TRUE(until([&] { return at(node).drained() && at(node).published(); }));
    EXPECT_NE(words.find("no way to node " + std::to_string(peer)), std::string::npos) << words;
    ASSERT_EQ(send(node, 2, Priority::low, 3), Status::ok) << "the others";
    EXPECT_EQ(next_word(2, Priority::low), 3u);
  }
};

/// Who notices what does not come within 0.2 s of looking.
class FailuresInTime : public Failures {
 protected:
  FailuresInTime() { host_timeout_ns_ = 200'000'000; }
  [[nodiscard]] std::chrono::nanoseconds host_timeout() const {
    return std::chrono::nanoseconds(host_timeout_ns_);
  }
  /// The next one from node 0 to node 1 comes to nothing.
  void expect_loss_of_a_letter() {
    testing::internal::CaptureStderr();
    ASSERT_EQ(send(0, 1, Priority::low, 7), Status::ok);
    EXPECT_TRUE(until([&] { return !ears_[1].lost_ones.empty(); }));
    const std::string words = testing::internal::GetCapturedStderr();
    EXPECT_EQ(ears_[1].lost_ones, std::vector<NodeId>{0});
    EXPECT_NE(words.find("node 1: no way to node 0"), std::string::npos) << words;
    EXPECT_NE(words.find(" does not come, "), std::string::npos) << words;
    EXPECT_FALSE(at(1).receive(Priority::low));
    ASSERT_EQ(send(1, 2, Priority::low, 3), Status::ok) << "the others";
    EXPECT_EQ(next_word(2, Priority::low), 3u);
  }
};

TEST_P(Failures, APeerThatDiesIsLost) {
  meet();
  testing::internal::CaptureStderr();
  networks_[1].reset();
  at(0).publish(1, 1, 1);
  EXPECT_TRUE(until([&] { return !ears_[0].lost_ones.empty(); }));
  const std::string words = testing::internal::GetCapturedStderr();
  expect_lost(0, 1, words);
  EXPECT_NE(words.find("the fake's own words"), std::string::npos) << words;
}

/// A send by inject that fails does not say to whom. It was the last: nothing would come behind it by itself.
TEST_P(FailuresInTime, ALetterThatIsLostIsTheEndOfItsPeer) {
  if (choose(library(), {})->tx_attr->inject_size < 64) GTEST_SKIP() << "it injects nothing";
  meet();
  fabric_->fail_inject_after(0, FI_EIO);
  expect_loss_of_a_letter();
}

/// Nor does a receive that fails say from whom.
TEST_P(FailuresInTime, ALetterThatCannotBeReceivedIsTheEndOfItsPeer) {
  meet();
  fabric_->fail_arrival_after(0, FI_EIO);
  expect_loss_of_a_letter();
}

/// Letters come in any order, are refused, and are many.
TEST_P(FailuresInTime, LettersThatAreOnlyLateAreNotLost) {
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - began < 3 * host_timeout()) {
    EXPECT_TRUE(until([&] { return send(0, 1, Priority::low, 1) == Status::ok; }));
    release_all();
    progress();
  }
  EXPECT_TRUE(until([&] { return release_all(), at(0).drained(); }));
  for (const Ear& ear : ears_) EXPECT_TRUE(ear.lost_ones.empty());
}

/// It may have kept a letter back, though later ones have gone.
TEST_P(FailuresInTime, APeerThatDoesNotLookIsNotLost) {
  if ((way_.fake->order & FI_ORDER_SAS) != 0) GTEST_SKIP() << "letters do not overtake each other";
  meet();
  fabric_->hold(true);
  for (const std::uint64_t word : {5u, 6u}) {
    const std::size_t on_the_wire = fabric_->deliverable().size();
    ASSERT_EQ(send(0, 1, Priority::low, word), Status::ok);
    while (fabric_->deliverable().size() == on_the_wire) at(0).progress();
  }
  fabric_->deliver(fabric_->deliverable().back());
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - began < 3 * host_timeout()) at(1).progress();
  EXPECT_FALSE(at(1).receive(Priority::low));
  fabric_->hold(false);
  EXPECT_EQ(next_word(1, Priority::low), 5u);
  EXPECT_EQ(next_word(1, Priority::low), 6u);
  EXPECT_TRUE(until([&] { return at(0).drained() && at(1).drained(); }));
  for (const Ear& ear : ears_) EXPECT_TRUE(ear.lost_ones.empty());
}

/// Its memory goes while it is to be read.
TEST_P(Failures, APeerThatDiesWithALongPayloadIsLost) {
  meet();
  const std::vector<std::byte> bytes(1'000'000);
  for (int i = 0; i < 2; ++i) static_cast<void>(send(1, 0, Priority::low, 7, bytes));
  at(1).flush();
  testing::internal::CaptureStderr();
  networks_[1].reset();
  for (int i = 0; i < 100; ++i) progress();
  at(0).publish(1, 1, 1);
  EXPECT_TRUE(until([&] { return !ears_[0].lost_ones.empty(); }));
  expect_lost(0, 1, testing::internal::GetCapturedStderr());
}

TEST_P(Failures, ASendThatFailsIsTheEndOfThatPeer) {
  meet();
  testing::internal::CaptureStderr();
  fabric_->fail_send_after(0, FI_EIO);
  at(0).publish(1, 1, 1);  // which is followed, and so no inject
  EXPECT_TRUE(until([&] { return !ears_[0].lost_ones.empty(); }));
  expect_lost(0, 1, testing::internal::GetCapturedStderr());
}

TEST_P(Failures, AReadThatFailsIsTheEndOfThatPeer) {
  if ((choose(library(), {})->caps & FI_RMA) == 0) GTEST_SKIP() << "it reads nothing";
  meet();
  const std::vector<std::byte> bytes(500'000);
  testing::internal::CaptureStderr();
  fabric_->fail_access_after(0, FI_EIO);
  ASSERT_EQ(send(1, 0, Priority::low, 7, bytes), Status::ok);
  ASSERT_EQ(send(1, 0, Priority::low, 8), Status::ok);
  EXPECT_TRUE(until([&] { return !ears_[0].lost_ones.empty(); }));
  expect_lost(0, 1, testing::internal::GetCapturedStderr());
  EXPECT_FALSE(at(0).receive(Priority::low)) << "what stood behind it";
}

/// A node that can receive nothing any more does not wait for ever (libfabric 1.17's shm, whose room for letters that came too early is
/// that of its receive buffers).
TEST_P(Failures, WithoutReceiveBuffersAllAreLost) {
  meet();
  testing::internal::CaptureStderr();
  fabric_->fail_receives(FI_ENOMEM);
  const std::vector<std::byte> bytes(500);
  EXPECT_TRUE(until([&] {
    static_cast<void>(send(0, 1, Priority::low, 7, bytes));
    release_all();
    return !ears_[1].lost_ones.empty();
  }));
  const std::string words = testing::internal::GetCapturedStderr();
  EXPECT_EQ(ears_[1].lost_ones, std::vector<NodeId>{0}) << "of whom it knew";
  EXPECT_EQ(send(1, 0, Priority::low, 0), Status::unreachable);
  EXPECT_NE(words.find("node 1: no way to node 0"), std::string::npos) << words;
  EXPECT_NE(words.find("it takes no receive buffer: "), std::string::npos) << words;
}

TEST_P(Failures, WithoutACompletionQueueAllAreLost) {
  meet();
  testing::internal::CaptureStderr();
  fabric_->fail_queues(FI_EOVERRUN);
  EXPECT_TRUE(until([&] { return !ears_[1].lost_ones.empty(); }));
  const std::string words = testing::internal::GetCapturedStderr();
  EXPECT_EQ(ears_[1].lost_ones, std::vector<NodeId>{0}) << "of whom it knew";
  EXPECT_EQ(send(1, 0, Priority::low, 0), Status::unreachable);
  EXPECT_NE(words.find("its completion queue cannot be read: "), std::string::npos) << words;
}

/// Whichever greeting fails: it is tried again.
TEST_P(Failures, AGreetingThatFailsIsTriedAgain) {
  for (std::size_t good = 0; good < 2; ++good) {
    fabric_->fail_send_after(good, FI_ECONNREFUSED);
    const NodeId to = good == 0 ? 1 : 2;
    ASSERT_EQ(send(0, to, Priority::low, good), Status::ok);
    EXPECT_EQ(next_word(to, Priority::low), good);
  }
  for (const Ear& ear : ears_) EXPECT_TRUE(ear.lost_ones.empty());
}

INSTANTIATE_TEST_SUITE_P(, Failures, testing::ValuesIn(fake_ways()), name_of);
INSTANTIATE_TEST_SUITE_P(, FailuresInTime, testing::ValuesIn(fake_ways()), name_of);

}  // namespace failures_test
}  // namespace am::ofi
