// Nodes in PID namespaces of their own, as in containers, where the number of a process means another one: no node signals a
// stranger, takes a peer for dead that lives, or for living that is dead.
//
// Of its two roles, one is played in a new namespace.
#include <sched.h>

#include "process/command.hpp"

namespace process_test::pid_namespace_test {

using namespace testing;

struct State {
  int came = 0;
  void come(am::Request& request) {
    ++came;
    static_cast<void>(request.reply<&State::answer>());
  }
  void answer(am::Reply&) { ++came; }
};

/// Messages both ways, long enough for several looks at who lives.
void talk(am::Node& node) {
  constexpr am::Count looks_ns = 1'000'000'000;
  bool long_enough = false;
  static_cast<void>(node.request<&State::come>(1 - node.id()));
  node.on_timelet(node.count() + looks_ns, [&](am::LowEvent&) { long_enough = true; });
  node.wait_until([&] { return long_enough && node.state<State>().came == 2; });
}

/// Node 1 dies, node 0 waits for ever.
void die(am::Node& node) {
  if (node.id() == 1) _exit(3);
  node.wait_until([] { return false; });
}

/// Asks for a report on the job when node 1 waits.
void report(am::Node& node) {
  if (node.id() != 0) return;
  std::printf("%s\n", run({AM_BIN_DIR "/aminfo", "--stats", std::to_string(getpid())}).out.c_str());
  std::fflush(stdout);
}

const Role pid_namespace("pid_namespace", Role::told, [](const Arguments& arguments) {
  const std::string& role = arguments.at(0);
  State state;
  am::Node& node = start_with(state);
  role == "talk" ? talk(node) : role == "die" ? die(node) : report(node);
  node.barrier();
});

/// Runs it in a namespace of its own; afterwards stays, as a wrapper does that outlives its node, if "stays" is said.
const Role in_namespace("in_a_pid_namespace", [](const Arguments& arguments) {
  if (unshare(CLONE_NEWPID) != 0) return 99;
  const pid_t init = fork();  // number 1 there
  if (init == 0) {
    const pid_t node = fork();
    if (node == 0) return Role::play({"pid_namespace", arguments.at(0)});
    int status = 0;
    waitpid(node, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
  }
  int status = 0;
  waitpid(init, &status, 0);
  while (arguments.size() > 1) pause();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
});

class PidNamespace : public testing::Test {
 protected:
  void SetUp() override {
    const auto in_child = [] {
      if (unshare(CLONE_NEWPID) != 0) _exit(1);
    };
    if (run({"true"}, {.in_child = in_child}).exit_code != 0)
      GTEST_SKIP() << "this user may not make PID namespaces";
  }
  /// Node 1 of two is in a namespace of its own.
  static Outcome run_job(const std::string& role, const std::vector<std::string>& environment = {},
                         const std::string& more = "") {
    return run({amrun, "-n", "2", "sh", "-c",
                "[ $AM_RANK = 1 ] && exec " + this_program() + " --node in_a_pid_namespace " + role + more +
                    "; exec " + this_program() + " --node pid_namespace " + role},
               {environment});
  }
};

TEST_F(PidNamespace, IsNoHindrance) {
  for (const char* dispatch : {"AM_DISPATCH=poll", "AM_DISPATCH=thread"}) {
    SCOPED_TRACE(dispatch);
    expect_end(run_job("talk", {dispatch}), 0, "");
  }
}

TEST_F(PidNamespace, RefusesInterruptsFromOutside) {
  expect_end(run_job("talk", {"AM_DISPATCH=interrupt"}), 1,
             AllOf(ContainsRegex(
                       "am: join the job: node [01] is interrupted by signals .AM_DISPATCH=interrupt., and "
                       "(node [01]|amrun) is in another PID namespace"),
                   HasSubstr("(run the job in one container, or with AM_DISPATCH=thread or poll)")));
}

// Whose number is a living process's here.
TEST_F(PidNamespace, HidesNoDeath) {
  expect_end(run_job("die", {"AM_TIMEOUT=60s"}, " stays"), 1,
             HasSubstr(") ended without leaving the job; ending with it\n"));
}

TEST_F(PidNamespace, IsNamedWithANumberOfIt) {
  expect_end(run_job("report"), 0, _,
             AllOf(ContainsRegex("am: node 0 of 2: runs, process [0-9]+\n"),
                   ContainsRegex("am: node 1 of 2: runs, process 2 of another PID namespace\n")));
}

/// Of an amrun that is in one, where /proc shows the one around it. The output ends when nobody has it any more.
TEST_F(PidNamespace, KeepsNoLeftovers) {
  expect_end(run({"unshare", "--pid", "--fork", "sh", "-c",
                  amrun + " -n 1 sh -c 'sleep 600 & exec " + example("hello") + "'; true"}),
             0);
}

}  // namespace process_test::pid_namespace_test
