// What several nodes would say alike is said once, and again when it is news again.
#include "core/reports/once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/memory.hpp"

namespace am::core {
namespace once_test {

constexpr std::uint64_t for_ever_ns = 3'600'000'000'000;

TEST(SaidOnce, ByTheFirstWhoAsksInAJobUntilItIsNewsAgain) {
  for (int job = 0; job < 2; ++job) {
    const auto memory = host::Memory::create(2);
    EXPECT_TRUE(first_to_say(memory->board(), "a barrier", for_ever_ns));
    EXPECT_FALSE(first_to_say(memory->board(), "a barrier", for_ever_ns));
    EXPECT_TRUE(first_to_say(memory->board(), "another wait", for_ever_ns));
    EXPECT_TRUE(first_to_say(memory->board(), "a barrier", 0));
  }
}

TEST(SaidOnce, ByOneOfManyAtTheSameTime) {
  for (int round = 0; round < 100; ++round) {
    const auto memory = host::Memory::create(4);
    std::atomic<int> ready{0};
    std::atomic<int> said{0};
    std::vector<std::thread> nodes;
    for (int i = 0; i < 4; ++i) {
      nodes.emplace_back([&] {
        for (++ready; ready < 4;) std::this_thread::yield();
        if (first_to_say(memory->board(), "round " + std::to_string(round), for_ever_ns)) ++said;
      });
    }
    for (std::thread& node : nodes) node.join();
    EXPECT_EQ(said, 1);
  }
}

}  // namespace once_test
}  // namespace am::core
