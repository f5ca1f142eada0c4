// Nodes whose handlers run beside them, or interrupt them, when their surroundings fail: a peer dies and amrun does not learn
// of it, the system has nothing left to begin with.

#include <thread>

#include "process/amrun_job.hpp"
#include "process/surroundings.hpp"

namespace dispatch_surroundings_test {

using amrun_test::Amrun;
using amrun_test::Arguments;
using process_test::first_of;
using process_test::own_processors;

void dies(am::Request&) { kill(getpid(), SIGKILL); }

/// Two threads, so that malloc locks.
[[noreturn]] void allocate_for_ever() {
  std::thread([] {
    for (;;) pause();
  }).detach();
  for (;;) {
    void* volatile blocks[16];
    for (std::size_t i = 0; i < 16; ++i) blocks[i] = std::malloc(1200 + 700 * i);
    for (void* const block : blocks) std::free(block);
  }
}

/// The last node dies while node 0 makes no library call any more, after a wait that was longer than its handler thread stays awake.
const amrun_test::Role lose_a_peer("lose_a_peer", [](am::Node& node, const Arguments& arguments) {
  node.barrier();
  if (node.id() == 0) {
    const am::Count later = node.count() + 50'000'000;
    node.wait_until([&] { return node.count() > later; });
    node.request<dies>(node.size() - 1);
    if (arguments.at(0) == "allocates") allocate_for_ever();
    for (;;) {
    }
  }
  node.wait_until([] { return false; });
});

/// Each node is in a wrapper that outlives it, and stops: amrun does not learn of its death.
void expect_noticed(const char* nodes, const char* mode, const char* what) {
  const std::string program = amrun_test::this_program();
  Amrun amrun({"-n", nodes, "env", std::string("AM_DISPATCH=") + mode, "sh", "-c", "\"$@\"; kill -STOP $$",
               "sh", program, "--node", "lose_a_peer", what});
  // One speaks for all that survive it.
  EXPECT_TRUE(amrun.complains("ended without leaving the job; ending with it")) << amrun.err();
  amrun.signal(SIGTERM);
  amrun.signal(SIGCONT);
  amrun.status();
}

/// Says which processor its handler thread is bound to.
void say_where(am::Request& request) {
  const cpu_set_t set = own_processors();
  amrun_test::Node::print(std::to_string(CPU_COUNT(&set)) + " from " + std::to_string(first_of(set)) + ".");
  request.state<std::atomic<bool>>() = true;
}

const amrun_test::Role run_beside("run_beside", [] {
  am::Options options;
  options.dispatch = am::Dispatch::thread;
  am::Node& node = am::start(0, nullptr, options);
  std::atomic<bool> said{false};
  node.attach(said);
  node.barrier();
  node.request<say_where>(0);
  while (!said) {  // no library call
  }
});

TEST(DispatchSurroundings, AHandlerThreadNoticesADeathThoughItsNodeHadWaited) {
  expect_noticed("2", "thread", "computes");
}

// Another node notices and tells of it, in the middle of malloc.
TEST(DispatchSurroundings, ADeathInterruptsANodeThatAllocates) {
  for (int i = 0; i < 5; ++i) expect_noticed("3", "interrupt", "allocates");
}

// taskset -c 0 amrun ...: the other processors are not for this job.
TEST(DispatchSurroundings, AHandlerThreadStaysWhereTheJobMayRun) {
  const unsigned cpu = first_of(own_processors());
  Amrun amrun(amrun_test::job({"-n", "1"}, {"run_beside"}), {.in_child = process_test::stay_on_one});
  EXPECT_TRUE(amrun.prints("1 from " + std::to_string(cpu) + ".")) << amrun.out() << amrun.err();
  EXPECT_EQ(amrun.exit_code(), 0);
}

void take(am::Request& request) { request.state<std::atomic<bool>>() = true; }

// The first call finds no memory, the next one does.
[[noreturn]] void begin_again(void (*call)(am::Node&)) {
  setenv("AM_SEGMENT", "64MiB", 1);  // NOLINT(concurrency-mt-unsafe)
  am::Options options;
  options.dispatch = am::Dispatch::thread;
  am::run_threads(
      1,
      [call](am::Node& node) {
        std::atomic<bool> taken{false};
        node.attach(taken);
        rlimit before{};
        getrlimit(RLIMIT_AS, &before);
        process_test::limit(RLIMIT_AS, 1 << 20);
        bool failed = false;
        try {
          call(node);
        } catch (const am::Error&) {
          failed = true;
        }
        setrlimit(RLIMIT_AS, &before);
        if (!failed) std::_Exit(2);
        node.poll();
        while (node.try_request<take>(0) != am::Status::ok) {
        }
        while (!taken) {  // no library call
        }
      },
      options);
  std::_Exit(0);
}

TEST(DispatchSurroundingsDeathTest, WhatCannotBeginIsTriedAgain) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(begin_again([](am::Node& node) { node.poll(); }), testing::ExitedWithCode(0), "");
  // Not kept until it is complete, which it would never be.
  EXPECT_EXIT(begin_again([](am::Node& node) { node.barrier(); }), testing::ExitedWithCode(0), "");
}

}  // namespace dispatch_surroundings_test
