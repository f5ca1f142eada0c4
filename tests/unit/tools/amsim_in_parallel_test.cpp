// Work on several threads, whose results do not depend on them.
#include "amsim/network/in_parallel.hpp"

#include <gmock/gmock.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace amsim::network::amsim_in_parallel_test {

TEST(InParallel, DoesAllOnceAndThrowsWhatTheFirstThrew) {
  for (const unsigned threads : {1u, 3u, 100u}) {
    std::mutex mutex;
    std::multiset<std::size_t> done;
    std::set<std::thread::id> begun;
    const auto begins = [&](unsigned) {
      const std::lock_guard lock(mutex);
      begun.insert(std::this_thread::get_id());
    };
    const auto work = [&](std::size_t i) {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(begun.contains(std::this_thread::get_id()));
      done.insert(i);
      if (i == 3 || i == 7) throw std::runtime_error(std::to_string(i));
    };
    EXPECT_THAT([&] { in_parallel(10, threads, work, begins); },
                testing::ThrowsMessage<std::runtime_error>("3"));
    EXPECT_THAT(done, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    EXPECT_LE(begun.size(), threads);
  }
}

}  // namespace amsim::network::amsim_in_parallel_test
