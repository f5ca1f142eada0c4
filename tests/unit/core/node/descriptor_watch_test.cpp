// A node that is told by a descriptor. No node runs here: the test is armed and sleeps itself.
#include "core/node/descriptor_watch.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "host/bell.hpp"
#include "host/clock.hpp"
#include "host/memory.hpp"

namespace am::core::descriptor_watch_test {

constexpr std::uint64_t minute_ns = 60'000'000'000;

class DescriptorWatchTest : public testing::Test {
 protected:
  ~DescriptorWatchTest() override {
    close(first_);
    close(second_);
  }
  /// Armed as a node does it, and until it is told; false after a minute.
  bool sleep(DescriptorWatch& watch) {
    const std::uint64_t end = host::monotonic_ns() + minute_ns;
    bell_.set(host::Alarm::sleeper);
    watch.watch();
    while (bell_.is_set() && host::monotonic_ns() < end) bell_.sleep(end);
    return !bell_.is_set();
  }

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(1);
  host::Bell bell_{memory_->board(), 0};
  int first_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int second_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

TEST_F(DescriptorWatchTest, RingsForWhatIsReadableAlready) {
  DescriptorWatch watch(memory_->board(), 0, {first_, second_});
  eventfd_write(second_, 1);
  EXPECT_TRUE(sleep(watch));
  EXPECT_TRUE(sleep(watch)) << "nobody has read it";
}

TEST_F(DescriptorWatchTest, RingsForWhatBecomesReadable) {
  DescriptorWatch watch(memory_->board(), 0, {first_, second_});
  for (int i = 0; i < 1000; ++i) {
    const int which = i % 2 == 0 ? first_ : second_;
    std::thread sender([&] { eventfd_write(which, 1); });
    EXPECT_TRUE(sleep(watch)) << i;
    sender.join();
    eventfd_t value = 0;
    EXPECT_EQ(eventfd_read(which, &value), 0);
  }
}

}  // namespace am::core::descriptor_watch_test
