// Points that several threads compute: the same as one computes.
#include "emulated_hw/kit/load_curve.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "emulated_hw/kit/in_parallel.hpp"

namespace am::kit::load_curve_test {

TEST(LoadCurve, IsTheSameWhoeverComputesIt) {
  const std::vector<double> rates{0.05, 0.3, 0.9, 0.1, 1};
  const Load load{.topology = Grid{{4, true}, {4}},
                  .options = {.num_vcs = 3},
                  .traffic = {.packet_size = 3, .seed = 7},
                  .periods = {.sample_period = 200, .max_samples = 3, .latency_thres = 100}};
  const LoadCurve alone = load_curve(load, rates, 3, {.count = 1});
  ASSERT_EQ(alone.points.size(), 3u) << "it ends where it is saturated";
  for (std::size_t rate = 0; rate < 3; ++rate) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      Load one = load;
      one.traffic.injection_rate = rates[rate];
      one.traffic.seed += seed;
      EXPECT_EQ(alone.points[rate][seed], run(one));
    }
  }
  const auto limits = saturations(load, 0.2, 3, {.count = 1});
  for (const unsigned threads : {2u, 5u}) {
    EXPECT_EQ(load_curve(load, rates, 3, {.count = threads}).points, alone.points);
    EXPECT_EQ(saturations(load, 0.2, 3, {.count = threads}), limits);
  }
}

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
    EXPECT_EQ(begun.size(), std::min(threads, 10u));
  }
  in_parallel(
      0, 4, [](std::size_t) { FAIL(); }, [](unsigned) {});
}

}  // namespace am::kit::load_curve_test
