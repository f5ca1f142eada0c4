// What several nodes would say alike is said once, and again when it is news again.
#include "core/once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace am::core {
namespace {

constexpr std::uint64_t for_ever_ns = 3'600'000'000'000;

TEST(SaidOnce, ByTheFirstWhoAsks) {
  const auto segment = shm::Segment::create(2);
  EXPECT_TRUE(first_to_say(*segment, "a barrier", for_ever_ns));
  EXPECT_FALSE(first_to_say(*segment, "a barrier", for_ever_ns));
  EXPECT_TRUE(first_to_say(*segment, "another wait", for_ever_ns));
}

TEST(SaidOnce, IsNewsAgainAfterTheTimeGiven) {
  const auto segment = shm::Segment::create(2);
  EXPECT_TRUE(first_to_say(*segment, "a barrier", 0));
  EXPECT_TRUE(first_to_say(*segment, "a barrier", 0));
}

TEST(SaidOnce, ForEachJob) {
  for (int job = 0; job < 3; ++job)
    EXPECT_TRUE(first_to_say(*shm::Segment::create(1), "a barrier", for_ever_ns));
}

TEST(SaidOnce, ByOneOfManyAtTheSameTime) {
  for (int round = 0; round < 100; ++round) {
    const auto segment = shm::Segment::create(4);
    std::atomic<int> ready{0};
    std::atomic<int> said{0};
    std::vector<std::thread> nodes;
    for (int i = 0; i < 4; ++i) {
      nodes.emplace_back([&] {
        for (++ready; ready < 4;) std::this_thread::yield();
        if (first_to_say(*segment, "round " + std::to_string(round), for_ever_ns)) ++said;
      });
    }
    for (std::thread& node : nodes) node.join();
    EXPECT_EQ(said, 1);
  }
}

}  // namespace
}  // namespace am::core
