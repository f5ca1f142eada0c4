// Nodes whose handlers run beside them, or interrupt them, and that start other processes: the job goes on, and a child
// that is not the node does it no harm.
#include <spawn.h>

#include <am/registers.hpp>

#include "host/relax.hpp"
#include "support/job.hpp"

namespace dispatch_children_test {

using namespace test;
using Children =
    test::OnSubstrates<test::Suite{.faults = false, .polling = false, .about = test::About::node}>;

struct State {
  std::atomic<std::uint64_t> came{0};
  std::atomic<bool> ended{false};
  std::uint64_t last_ones = 0;
  void come(am::Request& request) {
    ++came;
    check(request.reply<&State::answer>() == am::Status::ok, "reply");
  }
  void answer(am::Reply&) {}
  void end(am::Request&) { ended = true; }
  /// Behind all others of its sender: nothing of it comes any more when the receiver leaves.
  void last(am::Request&) { ++last_ones; }
};

int end_of(pid_t child) {
  int status = -1;
  check(child > 0, "no child");
  check(waitpid(child, &status, 0) == child, "waitpid");
  return status;
}

/// Node 1 starts children, between two of which messages come; the others send all the time.
void with_children(const test::Substrate& substrate, const std::function<void()>& start_one) {
  test::run_job<State>(substrate, 3, [&](am::Node& node, State& state) {
    node.barrier();
    // Where the other nodes are threads of this process they have their handler threads by the second barrier: std::exit in a
    // child waits for ever for a lock that somebody held who was loading a library when it was forked.
    node.barrier();
    if (node.id() == 1) {
      for (std::uint64_t i = 0; i < rounds(40); ++i) {
        start_one();
        const std::uint64_t enough = state.came + 10;
        while (state.came < enough) am::host::relax();
      }
      for (const am::NodeId other : {am::NodeId{0}, am::NodeId{2}})
        check(node.request<&State::end>(other) == am::Status::ok, "request");
      node.wait_until([&] { return state.last_ones == 2; });
    } else {
      while (!state.ended) {
        static_cast<void>(node.try_request<&State::come>(1));
        test::poll_or_yield(node);
      }
      check(node.request<&State::last>(1) == am::Status::ok, "request");
    }
    node.barrier();
  });
}

TEST_P(Children, OfTheShell) {
  with_children(GetParam(), [] { check_equal(std::system("exit 3"), 3 << 8, "system"); });  // NOLINT
}

TEST_P(Children, OfTheShellThatAreRead) {
  with_children(GetParam(), [] {
    FILE* stream = popen("echo 12345", "r");  // NOLINT
    check(stream != nullptr, "popen");
    char text[32] = {};
    check(std::fgets(text, sizeof text, stream) != nullptr, "fgets");
    check_equal(std::string(text), "12345\n", "what it says");
    check_equal(pclose(stream), 0, "pclose");
  });
}

TEST_P(Children, Spawned) {
  with_children(GetParam(), [] {
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    pid_t child = -1;
    check(posix_spawnp(&child, name, nullptr, nullptr, arguments, environ) == 0, "posix_spawnp");
    check_equal(end_of(child), 0, "how it ended");
  });
}

TEST_P(Children, ThatExecute) {
  with_children(GetParam(), [] {
    const pid_t child = fork();
    if (child == 0) {
      execlp("sh", "sh", "-c", "exit 5", nullptr);
      _exit(127);
    }
    check_equal(end_of(child), 5 << 8, "how it ended");
  });
}

// It computes like its parent, whose messages are not for it, and leaves by exit, with all that runs then.
TEST_P(Children, ThatExit) {
  with_children(GetParam(), [] {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      for (volatile int i = 0; i < 100'000;) i = i + 1;
      std::exit(0);  // NOLINT
    }
    check_equal(end_of(child), 0, "how it ended");
  });
}

// What came meanwhile runs in the parent, when both leave the section.
TEST_P(Children, ForkedInACriticalSection) {
  run<State>(2, [](am::Node& node, State& state) {
    const am::Registers registers(node);
    node.barrier();
    for (std::uint64_t i = 0; node.id() == 1 && i < rounds(40); ++i) {
      pid_t child = -1;
      std::uint64_t before = 0;
      {
        const am::CriticalSection quiet(node);
        before = state.came;
        while ((registers.nistat() & am::nistat::pend) == 0) am::host::relax();
        child = fork();
      }
      if (child == 0) _exit(state.came == before ? 0 : 1);
      check_equal(end_of(child), 0, "how it ended");
      while (state.came == before) am::host::relax();
    }
    if (node.id() == 1) check(node.request<&State::end>(0) == am::Status::ok, "request");
    while (node.id() == 0 && !state.ended) {
      static_cast<void>(node.try_request<&State::come>(1));
      test::poll_or_yield(node);
    }
    if (node.id() == 0) check(node.request<&State::last>(1) == am::Status::ok, "request");
    if (node.id() == 1) node.wait_until([&] { return state.last_ones == 1; });
    node.barrier();
  });
}

#if defined(__SANITIZE_THREAD__)  // which does not follow a fork of a program with threads
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Children);
#else
INSTANTIATE_TEST_SUITE_P(Modes, Children, test::cells_of<Children>(), test::name_of);
#endif

}  // namespace dispatch_children_test
