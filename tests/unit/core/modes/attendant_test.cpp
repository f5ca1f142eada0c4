// Who looks after a node while its program computes: with a ward that only counts, no node, no messages; interrupts are calls.
#include "core/modes/attendant.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "host/bell.hpp"
#include "host/memory.hpp"

namespace am::core::attendant_test {

using Work = std::deque<std::function<void()>>;

class AttendantTest : public testing::Test, protected Attendant::Ward {
 protected:
  void events_begin() override {}
  std::size_t run_events() noexcept override {
    if (work_.empty()) return 0;
    ++ran_;
    const auto event = std::move(work_.front());
    work_.pop_front();
    event();
    return 1;
  }
  bool more_waits(Lookout& lookout, std::size_t /*ran*/) noexcept override {
    lookout.watch(news_);
    return !work_.empty();
  }
  bool arm(host::Alarm alarm) noexcept override {
    bell_.set(alarm);
    if (!work_.empty()) {
      bell_.clear();
      return false;
    }
    if (on_arm_) std::exchange(on_arm_, nullptr)();
    return true;
  }
  void disarm() noexcept override { bell_.clear(); }
  bool computes() const noexcept override { return computes_; }
  Count next_due() noexcept override { return due_; }
  bool outlet_may_run() noexcept override {
    if (outlets_ == 0) return false;
    --outlets_;
    return true;
  }
  void look_after_peers() noexcept override {}

  [[nodiscard]] Attendant::Place place(Dispatch dispatch) const {
    return {.board = board_, .self = 0, .dispatch = dispatch, .memory = std::pmr::get_default_resource()};
  }
  [[nodiscard]] Attendant::Entrance entrance() {
    return {.node = nullptr, .shared = shared_, .depth = depth_, .lock = lock_};
  }
  /// A library call of the node's thread, as am::impl::Hold.
  template <class F>
  void in_the_node(Attendant& attendant, F f) {
    ++depth_;
    lock_.enter();
    f();
    --depth_;
    if (lock_.leave()) attendant.attend();
  }
  [[nodiscard]] bool is_armed_for(host::Alarm alarm) const {
    return board_.card(0).alarm.load() == static_cast<std::uint32_t>(alarm);
  }

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(1);
  const host::Board& board_ = memory_->board();
  host::Bell bell_{board_, 0};
  impl::EventLock lock_;
  std::uint32_t depth_ = 0;
  bool shared_ = true;
  bool computes_ = true;
  Work work_;  // by whoever is in
  std::atomic<std::uint64_t> news_{0};
  std::atomic<int> ran_{0};
  int outlets_ = 0;
  Count due_ = Attendant::never;
  std::function<void()> on_arm_;  // once, when it is armed
};

class InterruptsTest : public AttendantTest {
 protected:
  InterruptsTest() {
    attendant_.take_signal(SIGURG);
    attendant_.attach(entrance());
    in_the_node(attendant_, [&] { attendant_.begin(); });
  }
  /// It comes with this work. How often anything ran so far.
  int interrupt_for(Work work) {
    work_ = std::move(work);
    attendant_.interrupted(false);
    return ran_;
  }

  Attendant attendant_{place(Dispatch::interrupt), *this};
};

TEST_F(InterruptsTest, RunsUntilNothingWaitsAndArms) {
  EXPECT_TRUE(is_armed_for(host::Alarm::signal));
  EXPECT_EQ(interrupt_for({[] {}, [&] { work_.emplace_back([] {}); }, [] {}}), 4);
  EXPECT_TRUE(is_armed_for(host::Alarm::signal));
  EXPECT_EQ(depth_, 0u);
  EXPECT_FALSE(lock_.thread_is_inside());
}

TEST_F(InterruptsTest, WaitsUntilTheThreadHasLeftTheNode) {
  in_the_node(attendant_, [&] { EXPECT_EQ(interrupt_for({[] {}}), 0) << "the thread is inside"; });
  EXPECT_EQ(ran_, 1);
}

TEST_F(InterruptsTest, ComeWhereTheThreadIsAboutToEnter) {
  depth_ = 1;  // Hold counts first, and enters then
  EXPECT_EQ(interrupt_for({[] {}}), 1);
  EXPECT_EQ(depth_, 1u);
  depth_ = 0;
}

TEST_F(InterruptsTest, ComeIntoALowHandlerOfTheProgramAlone) {
  const auto low_handler = [&] {
    const Attendant::Interruptible own(attendant_, false);
    EXPECT_TRUE(lock_.thread_is_inside()) << "libam's own handlers stay in";
    const Attendant::Interruptible interruptible(attendant_, true);
    EXPECT_FALSE(lock_.thread_is_inside());
    EXPECT_TRUE(is_armed_for(host::Alarm::signal)) << "for high events";
    EXPECT_EQ(interrupt_for({[&] { EXPECT_TRUE(attendant_.interrupts_computation()); }}), 2);
  };
  EXPECT_EQ(interrupt_for({low_handler}), 2);
  EXPECT_FALSE(attendant_.interrupts_computation());
  EXPECT_TRUE(is_armed_for(host::Alarm::signal));
}

TEST_F(InterruptsTest, LeaveTheComputationItsTurnHoweverLongTheOutletGoesOn) {
  outlets_ = 1'000'000;
  attendant_.interrupted(false);
  EXPECT_GT(outlets_, 999'000);
  EXPECT_TRUE(is_armed_for(host::Alarm::signal));
  outlets_ = 0;
}

TEST_F(InterruptsTest, DestroyNothing) {
  auto spent = std::make_shared<int>();
  const std::weak_ptr<int> lives = spent;
  interrupt_for({[&] { attendant_.discard(std::exchange(spent, nullptr)); }});
  EXPECT_FALSE(lives.expired());
  attendant_.drop_discarded();
  EXPECT_TRUE(lives.expired());
  spent = std::make_shared<int>();
  const std::weak_ptr<int> outside = spent;
  attendant_.discard(std::exchange(spent, nullptr));
  EXPECT_TRUE(outside.expired()) << "the computation may destroy";
}

TEST_F(InterruptsTest, AFunctionOfTheProgramInACallIsOutOfTheNode) {
  in_the_node(attendant_, [&] {
    const Attendant::Computation computation(attendant_);
    EXPECT_FALSE(lock_.thread_is_inside());
    EXPECT_EQ(depth_, 0u);
    EXPECT_TRUE(is_armed_for(host::Alarm::signal));
  });
  EXPECT_FALSE(lock_.thread_is_inside());
}

/// As in a signal handler: the signal waits until it is looked for.
class BlockedSignal {
 public:
  BlockedSignal() {
    sigemptyset(&urgent_);
    sigaddset(&urgent_, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent_, &before_);
  }
  ~BlockedSignal() {
    while (comes(0)) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignal(const BlockedSignal&) = delete;
  BlockedSignal& operator=(const BlockedSignal&) = delete;

  [[nodiscard]] static bool waits() {
    sigset_t waiting;
    sigpending(&waiting);
    return sigismember(&waiting, SIGURG) == 1;
  }
  [[nodiscard]] bool comes(time_t within_seconds) const {
    const timespec time{within_seconds, 0};
    return sigtimedwait(&urgent_, nullptr, &time) == SIGURG;
  }

 private:
  sigset_t urgent_{};
  sigset_t before_{};
};

// Linux since 6.13 takes back a waiting signal of a timer that is set anew, with what had become one with it.
TEST_F(InterruptsTest, ARingWhileTheTimersSignalWaitsIsNotLost) {
  const auto ring = [] { pthread_kill(pthread_self(), SIGURG); };
  const BlockedSignal blocked;
  for (const bool before : {true, false}) {
    due_ = 1;  // long ago
    attendant_.interrupted(false);
    while (!BlockedSignal::waits()) std::this_thread::yield();
    due_ = Attendant::never;
    if (before) on_arm_ = ring;
    attendant_.interrupted(false);
    if (!before) ring();
    EXPECT_TRUE(blocked.comes(5)) << (before ? "before" : "after") << " the timer was set";
    attendant_.interrupted(true);
  }
}

TEST_F(InterruptsTest, ATimerIsHeardInsideTheNodeToo) {
  const BlockedSignal blocked;
  due_ = 1;
  attendant_.interrupted(false);
  ASSERT_TRUE(blocked.comes(5));
  in_the_node(attendant_, [&] {
    attendant_.interrupted(true);
    due_ = attendant_.now() + 3'600'000'000'000;
  });
  EXPECT_FALSE(blocked.comes(0)) << "it was not set to come at once";
}

TEST_F(InterruptsTest, ATimerThatCameEarlyIsSetAgain) {
  const BlockedSignal blocked;
  due_ = attendant_.now() + 1'000'000;
  attendant_.interrupted(false);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(blocked.comes(5)) << i;
    attendant_.interrupted(true);
  }
}

class HandlerThreadTest : public AttendantTest {
 protected:
  // The thread calls the ward: not before that is whole, nor while it goes.
  void SetUp() override {
    thread_mode_.emplace(place(Dispatch::thread), static_cast<Attendant::Ward&>(*this));
    attendant().attach(entrance());
    in_the_node(attendant(), [&] { attendant().begin(); });
  }
  void TearDown() override { thread_mode_.reset(); }
  Attendant& attendant() { return *thread_mode_; }

  /// As who sends: it is there, and the node is told.
  void bring(std::function<void()> event) {
    in_the_node(attendant(), [&] {
      work_.push_back(std::move(event));
      attendant().look_again();
    });
  }
  void wait_for_runs(int runs) const {
    while (ran_.load(std::memory_order_acquire) < runs) std::this_thread::yield();
  }

  std::optional<Attendant> thread_mode_;
};

/// However the two meet: each event runs, once.
TEST_F(HandlerThreadTest, ForgetsNoEvent) {
  constexpr int events = 20'000;
  int sum = 0;  // of whoever is in
  for (int i = 1; i <= events; ++i) {
    bring([&sum, i] { sum += i % 7; });
    if (i % 100 == 0) wait_for_runs(i);
  }
  wait_for_runs(events);
  int expected = 0;
  for (int i = 1; i <= events; ++i) expected += i % 7;
  in_the_node(attendant(), [&] { EXPECT_EQ(sum, expected); });
}

}  // namespace am::core::attendant_test
