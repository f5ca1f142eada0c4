// The handler thread as the system sees it. Where it shares a processor with its node's computation, each turn that it takes is
// one that the computation does not have; and when it has had more than its share it waits, and so do the events.
#include <gtest/gtest.h>
#include <am/am.hpp>

#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>

#include "process/surroundings.hpp"
#include "support/check.hpp"

namespace handler_thread_test {

constexpr am::Count second = 1'000'000'000;

/// A job of one node with a handler thread, both on one processor. Fails with what `body` throws.
void run_on_one_processor(const std::function<void(am::Node&)>& body) {
  const cpu_set_t before = process_test::own_processors();
  process_test::stay_on_one();
  const cpu_set_t one = process_test::own_processors();
  ASSERT_EQ(CPU_COUNT(&one), 1);
  am::Options options;
  options.dispatch = am::Dispatch::thread;
  try {
    am::run_threads(1, body, options);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  sched_setaffinity(0, sizeof before, &before);
}

std::filesystem::path handler_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "am events 0") return task.path();
  }
  test::check(false, "there is a handler thread");
  return {};
}

/// How often it has gone to sleep.
std::uint64_t sleeps(const std::filesystem::path& thread) {
  std::ifstream status(thread / "status");
  std::uint64_t count = 0;
  for (std::string word; status >> word;) {
    if (word == "voluntary_ctxt_switches:" && status >> count) return count;
  }
  test::check(false, "the system counts switches");
  return 0;
}

// Each is sooner than all before, so the handler thread has to be told.
TEST(HandlerThread, WakesOnceForATimelet) {
  run_on_one_processor([](am::Node& node) {
    constexpr std::uint64_t timelets = 200;
    node.barrier();
    const std::filesystem::path thread = handler_thread();
    const std::uint64_t first = sleeps(thread);
    for (std::uint64_t i = 0; i < timelets; ++i) {
      const std::uint64_t before = sleeps(thread);
      node.on_timelet(node.count() + (2000 - i) * second, [](am::LowEvent&) {});
      while (sleeps(thread) == before) {  // no library call
      }
    }
    const std::uint64_t all = sleeps(thread) - first;
    test::check(all < 3 * timelets, "woke " + std::to_string(all) + " times");  // and now and then by itself
  });
}

/// What the system calls the runtime of a thread that has no deadline: how long a turn is, in ns; 0 where it does not say.
std::uint64_t turn_ns(pid_t thread) {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes{};
  return syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0) == 0 ? attributes.runtime : 0;
}

TEST(HandlerThread, AsksForShortTurnsForItselfAlone) {
  if (turn_ns(0) == 0) GTEST_SKIP() << "this system gives turns of its own length";
  run_on_one_processor([](am::Node& node) {
    const std::uint64_t usual = turn_ns(0);
    const pid_t self = gettid();
    node.barrier();
    struct Seen {
      std::atomic<bool> done{false};
      bool beside = false;
      std::uint64_t own = 0;
      std::uint64_t of_a_thread = 0;
    };
    for (bool beside = false; !beside;) {  // a timelet that is late may run on the node's own thread
      Seen seen;
      node.on_timelet(node.count() + 1'000'000, [&seen, self](am::LowEvent&) {
        seen.beside = gettid() != self;
        seen.own = turn_ns(0);
        std::thread([&] { seen.of_a_thread = turn_ns(0); }).join();
        seen.done = true;
      });
      while (!seen.done) {  // no library call
      }
      beside = seen.beside;
      if (!beside) continue;
      test::check_equal(seen.own, 100'000U, "the handler thread's turn");
      test::check_equal(seen.of_a_thread, usual, "that of a thread which a handler starts");
    }
    test::check_equal(turn_ns(0), usual, "that of the node's own thread");
  });
}

}  // namespace handler_thread_test
