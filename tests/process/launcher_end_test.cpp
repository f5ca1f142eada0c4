// amrun is killed while two processes lie between it and its nodes, so that the kernel tells neither of its end: the nodes
// notice it themselves, whatever they do, and end.

#include <thread>

#include "host/relax.hpp"
#include "process/amrun_job.hpp"

namespace amrun_test::launcher_end_test {

using namespace testing;

// What nodes do, once they have printed who they are.

am::Node& start() {
  am::Node& node = am::start(0, nullptr);
  node.barrier();
  Node::print("pid " + std::to_string(getpid()));
  return node;
}

const Role wait("wait", [] { start().wait_until([] { return false; }); });

const Role wait_in_a_barrier("wait_in_a_barrier", [] {
  am::Node& node = start();
  if (node.id() == 0) node.wait_until([] { return false; });
  node.barrier();
});

const Role poll_for_ever("poll_for_ever", [] {
  for (am::Node& node = start();;) node.poll();
});

const Role poll_now_and_then("poll_now_and_then", [] {
  for (am::Node& node = start();;) {
    node.poll();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
});

const Role compute("compute", [] {
  start();
  for (;;) am::host::relax();
});

const Role sleep("sleep", [] {
  start();
  for (;;) pause();
});

struct Case {
  const char* role;
  const char* setting = "AM_DISPATCH=poll";
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.role << " " << each.setting; }

class LauncherEnd : public testing::TestWithParam<Case> {};

TEST_P(LauncherEnd, EndsNodesBehindTwoProcesses) {
  constexpr int nodes = 2;
  const std::string self = this_program();
  // The first shell is amrun's child, and dies with it; the second tells how the node ended.
  Amrun amrun({"-n", std::to_string(nodes), "sh", "-c",
               "sh -c '" + self + " --node " + GetParam().role + "; echo code $?'; true"},
              {{GetParam().setting}});
  ASSERT_TRUE(amrun.prints("pid ", nodes) && amrun.prints("\n", nodes));
  std::vector<std::unique_ptr<Watched>> watched;
  const std::vector<pid_t> pids = pids_in(amrun.out());
  for (const pid_t pid : pids) watched.push_back(std::make_unique<Watched>(pid));
  amrun.signal(SIGKILL);
  bool all_end = true;
  for (const auto& node : watched) all_end = node->ends() && all_end;
  EXPECT_TRUE(all_end);
  for (const pid_t pid : pids) {
    if (!all_end) kill(pid, SIGKILL);
  }
  EXPECT_EQ(amrun.status(), SIGKILL);
  EXPECT_TRUE(amrun.prints("code 1\n", nodes)) << amrun.out();
  EXPECT_THAT(amrun.err(), ContainsRegex("am: node [01]: amrun \\(pid " + std::to_string(amrun.pid()) +
                                         "\\) has ended; ending with it"));
  EXPECT_EQ(lines_of(amrun.err()).size(), 1U) << amrun.err();
}

INSTANTIATE_TEST_SUITE_P(Whatever, LauncherEnd,
                         testing::Values(Case{"wait"}, Case{"wait", "AM_PEER_DEATH=survive"},
                                         Case{"wait", "AM_DISPATCH=thread"},
                                         Case{"wait", "AM_DISPATCH=interrupt"}, Case{"wait_in_a_barrier"},
                                         Case{"poll_for_ever"}, Case{"poll_for_ever", "AM_DISPATCH=thread"},
                                         Case{"poll_for_ever", "AM_DISPATCH=interrupt"},
                                         Case{"poll_now_and_then"}, Case{"compute"},
                                         Case{"compute", "AM_DISPATCH=thread"},
                                         Case{"compute", "AM_DISPATCH=interrupt"}, Case{"sleep"},
                                         Case{"sleep", "AM_PEER_DEATH=survive"}));

// A node that has become another user has lost the kernel's promise (prctl(2), PR_SET_PDEATHSIG): it looks itself where it
// waits, and where it polls.
const Role become_another_user("become_another_user", [](const Arguments& arguments) {
  am::Node& node = start();
  if (setresuid(65534, 65534, 65534) != 0) return 77;
  Node::print("nobody");
  while (arguments.at(0) == "poll") node.poll();
  node.wait_until([] { return false; });
  return 0;
});

TEST(LauncherEndOfAChild, EndsItWithoutTheKernelsHelp) {
  if (getuid() != 0) GTEST_SKIP() << "only root becomes another user";
  for (const char* where : {"poll", "wait"}) {
    Amrun amrun(job({"-n", "2"}, {"become_another_user", where}));
    ASSERT_TRUE(amrun.prints("nobody", 2));
    amrun.signal(SIGKILL);
    EXPECT_EQ(amrun.status(), SIGKILL);  // when nobody has the output open any more
    EXPECT_THAT(amrun.err(), HasSubstr(") has ended; ending with it"));
  }
}

// The kernel takes the thread that starts a node for its parent.
const Role start_in_a_thread("start_in_a_thread", [] {
  FILE* node = nullptr;
  std::thread([&] {
    node = popen(("exec " + this_program() + " --node wait_a_moment >&2").c_str(), "r");
    (void)std::getchar();  // until both have joined
  }).join();
  return WEXITSTATUS(pclose(node));
});

const Role wait_a_moment("wait_a_moment", [] {
  am::Node& node = start();
  for (const am::Count end = node.count() + 300'000'000; node.count() < end;) node.poll();
});

TEST(LauncherEndOfAChild, IsNotTheEndOfTheThreadThatStartedIt) {
  Amrun amrun(job({"-n", "2"}, {"start_in_a_thread"}));
  ASSERT_TRUE(amrun.complains("pid ", 2));
  amrun.close_input();
  EXPECT_EQ(amrun.exit_code(), 0) << amrun.err();
}

}  // namespace amrun_test::launcher_end_test
