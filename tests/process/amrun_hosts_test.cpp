// Jobs that amrun runs across hosts, which are network namespaces here (process/namespaces.hpp): where they run, what becomes of
// their output, and how they end. Nodes play a role here, in a scenario.
#include <signal.h>
#include <sys/stat.h>

#include "process/every_example.hpp"
#include "process/namespaces.hpp"

namespace process_test::amrun_hosts_test {

using namespace testing;

struct State {
  int dead = 0;
  am::NodeId ready = 0;
  void is_ready(am::Request&) { ++ready; }
  bool answered = false;  // and what the answer was:
  am::Count count = 0;
  am::Count error = 0;
};

void nothing(am::Request&) {}

[[noreturn]] void wait_for_ever(am::Node& node) {
  for (;;) node.wait_until([] { return false; });
}

constexpr int lines = 20000;

void print_much(am::Node& node) {
  for (int i = 0; i < lines; ++i)
    std::printf("node %u line %d of the many lines that it prints\n", node.id(), i);
}
/// Node 0 says how much input it got.
void read_input(am::Node& node) {
  std::size_t bytes = 0;
  std::vector<char> room(65536);
  while (const std::size_t got = std::fread(room.data(), 1, room.size(), stdin)) bytes += got;
  std::printf("node %u read %zu bytes\n", node.id(), bytes);
}
void count_is(am::Reply& reply, am::Count count, am::Count error) {
  State& state = reply.state<State>();
  state.answered = true;
  state.count = count;
  state.error = error;
}
void what_is_count(am::Request& request) {
  request.reply<count_is>(request.node().count(), request.node().count_error());
}
/// Node 0 asks the others for their Count, for a second: it is between what its own was before and after, but for the error that they tell.
void compare_counts(am::Node& node) {
  State& state = node.state<State>();
  am::Count largest = 0;
  const am::Count end = node.count() + 1'000'000'000;
  while (node.id() == 0 && node.count() < end) {
    for (am::NodeId other = 1; other < node.size(); ++other) {
      state.answered = false;
      const am::Count before = node.count();
      static_cast<void>(node.request<what_is_count>(other));
      node.wait_until([&] { return state.answered; });
      const am::Count after = node.count();
      if (state.count + state.error < before || state.count > after + state.error)
        std::printf("node %u said %llu, with an error of %llu, between %llu and %llu\n", other,
                    static_cast<unsigned long long>(state.count),
                    static_cast<unsigned long long>(state.error), static_cast<unsigned long long>(before),
                    static_cast<unsigned long long>(after));
      largest = std::max(largest, state.error);
    }
  }
  node.barrier();
  if (node.id() != 0) return;
  std::printf("the clocks are %s; Count is the same %s\n", largest == 0 ? "one" : "several",
              largest < 500'000'000 ? "as far as is known" : "or not");
}
void say_environment(am::Node& node) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const char* const value = std::getenv("COLOUR");
  const char* const setting = std::getenv("AM_TIMEOUT");
  std::printf("%u %s %s %s %s\n", node.id(), host, value != nullptr ? value : "none",
              setting != nullptr ? setting : "none", std::filesystem::current_path().c_str());
}

/// All have heard from all; then a shell cuts the cable.
void vanish(am::Node& node) {
  State& state = node.state<State>();
  for (am::NodeId other = 0; other < node.size(); ++other) {
    state.answered = false;
    static_cast<void>(node.request<what_is_count>(other));
    node.wait_until([&] { return state.answered; });
  }
  node.barrier();
  if (node.id() == 0 && std::system(std::getenv("CUT")) != 0) std::exit(3);
}

/// A process that the variable names.
pid_t process(const char* variable) { return static_cast<pid_t>(std::atoi(std::getenv(variable))); }
/// Of SIGTERM: who sent it has to say it again.
void go_on(int) { kill(process("HEAD"), SIGTERM); }

/// Node 0 interrupts the job when nobody reads what the other one does not stop to print.
void print_until_interrupted(am::Node& node) {
  if (node.id() == 0) {
    node.wait_until([&] { return node.state<State>().ready == 1; });
    kill(process("HEAD"), SIGINT);
    return;
  }
  for (std::size_t printed = 0;; printed += 100) {
    std::printf("%099d\n", 0);
    if (printed == 100'000 && node.request<&State::is_ready>(0) == am::Status::ok) node.poll();  // it leaves
  }
}

const Role run_node("amrun_hosts", [](const Arguments& arguments) {
  const std::string& scenario = arguments.at(0);
  const auto who = static_cast<am::NodeId>(std::stoi(arguments.at(1)));
  if (scenario == "go on" || scenario == "stop part") signal(SIGTERM, &go_on);
  static State state;
  am::Node& node = start_with(state);
  const bool mine = node.id() == who;
  if (scenario == "print") print_much(node);
  if (scenario == "read") read_input(node);
  if (scenario == "count") compare_counts(node);
  if (scenario == "environment") say_environment(node);
  if (scenario == "vanish") vanish(node);
  if (scenario == "exit" && mine) _exit(5);
  if (scenario == "kill" && mine) raise(SIGKILL);
  if (scenario == "kill part" && mine) kill(getppid(), SIGKILL);
  if (scenario == "leave, kill part" && node.id() == 0) return 0;
  if (scenario == "leave, kill part" && mine) {
    // When node 0 has left.
    while (node.try_request<nothing>(0) != am::Status::unreachable) node.poll();
    kill(getppid(), SIGKILL);
  }
  if (scenario == "kill agent" && mine) kill(process("AGENT"), SIGKILL);
  if (scenario == "stop part" && mine) kill(getppid(), SIGSTOP);
  if ((scenario == "terminate" || scenario == "go on" || scenario == "stop part") && mine)
    kill(process("HEAD"), SIGTERM);
  if (scenario == "kill head" && mine) kill(process("HEAD"), SIGKILL);
  if (scenario == "print until interrupted") print_until_interrupted(node);
  const bool ends =
      scenario == "print" || scenario == "read" || scenario == "count" || scenario == "environment";
  if (!ends) wait_for_ever(node);
  return 0;
});

/// Who survives: all others hear of the death, and then leave.
const Role run_survivor("amrun_hosts_survivor", [](const Arguments& arguments) {
  const auto who = static_cast<am::NodeId>(std::stoi(arguments.at(0)));
  const std::string& how = arguments.at(1);
  am::Node& node = am::start(0, nullptr);
  static State state;
  node.attach(state);
  node.on_peer_death([](am::Node& self, am::NodeId) { ++self.state<State>().dead; });
  node.barrier();
  node.request<&State::is_ready>(
      who);  // until all are here somebody who dies now dies in the barrier of others
  if (node.id() == who) {
    node.wait_until([&] { return state.ready == node.size(); });
    kill(how == "kill part" ? getppid() : getpid(), SIGKILL);
    wait_for_ever(node);
  }
  const int expected = how == "kill part" ? static_cast<int>(node.size() / 2) : 1;
  if (how == "kill part" && node.id() / (node.size() / 2) == who / (node.size() / 2)) wait_for_ever(node);
  node.wait_until([&] { return state.dead == expected; });
  return 0;
});

/// Enters a host where it has a clock of its own, 1000 s ahead: so it is taken for another machine.
class OtherMachines {
 public:
  explicit OtherMachines(const std::string& host) : works_(run({path(), host, "true"}).exit_code == 0) {}
  /// There are time namespaces here.
  [[nodiscard]] bool work() const { return works_; }
  [[nodiscard]] std::string path() const { return agent_.path(); }

 private:
  const TemporaryFile agent_{
      "#!/bin/sh\nexec unshare --time --fork --kill-child --monotonic 1000 " + enter_host + " \"$@\"\n",
      std::filesystem::perms::owner_exec};
  const bool works_;
};

class AmrunHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (!hosts_.works()) GTEST_SKIP() << "network namespaces cannot be made here: " << hosts_.problem();
  }

  /// "a,b", or "a:2,b:2".
  [[nodiscard]] std::string names(const std::string& nodes = "") const {
    return hosts_.name(1) + nodes + "," + hosts_.name(2) + nodes;
  }
  /// amrun, on the first host. What it is started with is one process: the test's variable HEAD is its number.
  [[nodiscard]] Outcome amrun_there(const std::vector<std::string>& arguments,
                                    std::vector<std::string> environment = {},
                                    const std::string& redirection = "") const {
    environment.push_back("AM_AGENT=" + enter_host);
    std::string line = "HEAD=$$ exec " + amrun;
    for (const std::string& argument : arguments) line += " '" + argument + "'";
    const TemporaryFile script(line + redirection);
    return run(hosts_.on(1, {"sh", script.path()}), {std::move(environment)});
  }
  /// A job with these options of nodes that play a scenario. `who` of them has the part that is one node's.
  [[nodiscard]] Outcome run_scenario(std::vector<std::string> options, const std::string& scenario,
                                     am::NodeId who = 0, const std::vector<std::string>& environment = {},
                                     const std::string& redirection = "") const {
    options.insert(options.end(), {this_program(), "--node", "amrun_hosts", scenario, std::to_string(who)});
    return amrun_there(options, environment, redirection);
  }
  /// Two nodes on each host, which know amrun.
  [[nodiscard]] Outcome run_on_four(const std::string& scenario, am::NodeId who) const {
    return run_scenario({"--hosts", names(":2"), "-x", "HEAD"}, scenario, who);
  }
  /// amrun in a shell that calls its host otherwise, which is then none of the job's hosts.
  [[nodiscard]] Outcome run_elsewhere(const std::string& hosts, const std::string& scenario,
                                      std::vector<std::string> environment,
                                      const std::string& redirection = "") const {
    const TemporaryFile line("hostname elsewhere; exec " + amrun + " --hosts " + hosts + " " +
                             this_program() + " --node amrun_hosts " + scenario + " 0" + redirection);
    return run(hosts_.on(1, {"sh", line.path()}), {std::move(environment)});
  }

  Namespaces hosts_{2};
};

TEST_F(AmrunHosts, RunEveryExampleWithTheResultOfOneHost) {
  for (const char* tls : {"AM_TCP_TLS=0", "AM_TCP_TLS=1"}) {
    const bool first = tls == std::string("AM_TCP_TLS=0");
    expect_the_same(first ? every_example() : a_few_examples(), [&](const std::vector<std::string>& program) {
      std::vector<std::string> arguments = {"--hosts", names(":2")};
      arguments.insert(arguments.end(), program.begin(), program.end());
      Outcome outcome = amrun_there(arguments, {tls});
      // Node 3 of this one dies, if it gets work enough. amrun says so, and whoever has found its connection broken before.
      const bool may_die = program[0] == example("survivors");
      EXPECT_EQ(count(outcome.err, "\n"), may_die ? count(outcome.err, "node 3") : 0) << outcome.err;
      return outcome;
    });
  }
}

TEST_F(AmrunHosts, TransferInTheBackground) {
  const Outcome outcome = expect_end(
      amrun_there({"--hosts", names(":2"), example("background_transfer"), "1"}, {"AM_DISPATCH=thread"}), 0);
  EXPECT_EQ(count(outcome.out, " 0 values came wrong"), 4) << outcome.out;
}

TEST_F(AmrunHosts, GiveNodesTheFolderTheSettingsAndTheVariablesAskedFor) {
  const std::string folder = std::filesystem::current_path();
  expect_end(run_scenario({"--hosts", names()}, "environment", 0, {"COLOUR=blue", "AM_TIMEOUT=70s"}), 0, _,
             HasSubstr(" 70s " + folder));
  const Outcome given = run_scenario({"--hosts", names(), "-x", "COLOUR=a \"red\" one"}, "environment");
  EXPECT_EQ(count(given.out, "a \"red\" one none"), given.exit_code == 0 ? 2 : -1) << given.out << given.err;
}

TEST_F(AmrunHosts, PrintAllThatNodesPrint) {
  const Outcome plain = expect_end(run_on_four("print", 0), 0);
  EXPECT_EQ(count(plain.out, "\n"), 4 * lines);
  const Outcome labelled = expect_end(run_scenario({"--hosts", names(":2"), "-l"}, "print"), 0);
  EXPECT_EQ(count(labelled.out, "\n"), 4 * lines);
  for (const char* label : {"[0] node 0 line", "[1] node 1 line", "[2] node 2 line", "[3] node 3 line"})
    EXPECT_EQ(count(labelled.out, label), lines) << label;
}

/// Their output is closed: they end as from a pipe of their own.
TEST_F(AmrunHosts, EndWhenNobodyReadsWhatTheyPrint) {
  const Outcome outcome = run_scenario({"--hosts", names()}, "print", 0, {}, " | head -n 1");
  EXPECT_EQ(count(outcome.out, "\n"), 1);
}

TEST_F(AmrunHosts, GiveNodeZeroTheInput) {
  const TemporaryFile input(std::string(3'000'000, 'x'));
  expect_end(run_scenario({"--hosts", names()}, "read", 0, {}, " <" + input.path()), 0, _,
             AllOf(HasSubstr("node 0 read 3000000 bytes"), HasSubstr("node 1 read 0 bytes")));
}

TEST_F(AmrunHosts, EndWithTheNodeThatFails) {
  for (const am::NodeId who : {0u, 1u, 2u, 3u}) {
    const std::string host = hosts_.name(who < 2 ? 1 : 2);
    const Outcome exited = run_on_four("exit", who);
    expect_end(exited, 5,
               ContainsRegex("amrun: node " + std::to_string(who) + " \\(pid [0-9]+, host " + host +
                             "\\) exited with code 5"));
    EXPECT_EQ(count(exited.err, "amrun: "), 1) << exited.err;
    const Outcome killed = run_on_four("kill", who);
    expect_end(killed, 137, HasSubstr("host " + host + ") was killed by signal 9"));
    EXPECT_EQ(count(killed.err, "amrun: "), 1) << killed.err;
  }
}

TEST_F(AmrunHosts, EndWithAHostThatIsLost) {
  for (const am::NodeId who : {0u, 3u}) {
    expect_end(run_on_four("kill part", who), 1,
               HasSubstr("amrun: host " + hosts_.name(who < 2 ? 1 : 2) + " is lost"));
  }
}

/// Each host says why; the agents do not need the cable here.
TEST_F(AmrunHosts, EndWhenAHostVanishes) {
  const Outcome outcome =
      expect_end(run_scenario({"--hosts", names(":2"), "-x", "CUT"}, "vanish", 0,
                              {"CUT=" + hosts_.cut_command(2, "eth0"), "AM_HOST_TIMEOUT=2s"}),
                 1);
  for (const char* line :
       {"am: node [01]: no connection to node [23] any more: its host does not answer since 2",
        "am: node [23]: no connection to node [01] any more: its host does not answer since 2"})
    EXPECT_THAT(outcome.err, ContainsRegex(line));
}

TEST_F(AmrunHosts, EndWithTheirHead) {
  const Outcome terminated = expect_end(run_on_four("terminate", 2), 143);
  EXPECT_EQ(count(terminated.err, "the job was ended by signal 15"), 1) << terminated.err;
  // That this returns says that none of its processes is left.
  expect_end(run_on_four("kill head", 2), 137);
}

/// Where nodes go on, or a part hears nothing: a second signal ends all.
TEST_F(AmrunHosts, EndByASecondSignal) {
  for (const char* scenario : {"go on", "stop part"})
    EXPECT_EQ(run_on_four(scenario, 3).exit_code, 143) << scenario;
}

/// A pipe that is full, and stays so.
TEST_F(AmrunHosts, EndByAnInterruptThoughNobodyReadsWhatTheyPrint) {
  const TemporaryFile name("");
  const std::string pipe = name.path() + ".pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  expect_end(run_scenario({"--hosts", names(), "-x", "HEAD"}, "print until interrupted", 0, {},
                          " <>" + pipe + " >&0"),
             128 + SIGINT);
  unlink(pipe.c_str());
}

/// What the agent has started still runs, and holds its line to the head.
TEST_F(AmrunHosts, EndWithAnAgentThatIsKilled) {
  const TemporaryFile agent("#!/bin/sh\nAGENT=$$ " + enter_host + " \"$@\"\nexit $?\n",
                            std::filesystem::perms::owner_exec);
  expect_end(run_elsewhere(names(), "'kill agent'", {"AM_AGENT=" + agent.path()}), 1,
             HasSubstr("is lost: its agent was ended by signal 9"));
}

/// A host that is lost before its nodes have joined leaves a job that cannot begin; one that is lost later fails it, also where a node
/// has left in good order already.
TEST_F(AmrunHosts, FailWhenAHostIsLostEarlyOrLate) {
  const TemporaryFile early("case $AM_RANK in 0) exec " + this_program() +
                            " --node amrun_hosts wait 0;; *) kill -9 $PPID; sleep 60;; esac");
  expect_end(amrun_there({"--hosts", names(), "sh", early.path()}), 1,
             HasSubstr("amrun: host " + hosts_.name(2) + " is lost"));
  expect_end(run_scenario({"--hosts", names(":2")}, "leave, kill part", 3), 1,
             HasSubstr("amrun: host " + hosts_.name(2) + " is lost"));
}

/// As hosts are that are other machines; here a clock of their own makes them such. Input that is there from the start comes between.
TEST_F(AmrunHosts, MayBeOtherMachines) {
  const OtherMachines agent(hosts_.name(1));
  if (!agent.work()) GTEST_SKIP() << "there are no time namespaces here";
  const TemporaryFile input("some input");
  for (const std::string& from : {std::string("/dev/null"), input.path()}) {
    expect_end(run_elsewhere(names(), "read", {"AM_AGENT=" + agent.path()}, " <" + from), 0, _,
               HasSubstr(from == "/dev/null" ? "node 0 read 0 bytes" : "node 0 read 10 bytes"));
  }
}

TEST_F(AmrunHosts, HaveOneCount) {
  const Outcome one = run_scenario({"--hosts", names()}, "count");
  EXPECT_EQ(one.out, "the clocks are one; Count is the same as far as is known\n");
  const OtherMachines agent(hosts_.name(1));
  if (!agent.work()) GTEST_SKIP() << "there are no time namespaces here";
  // The head is not one of its hosts: the first host's clock is another one than its own, too.
  const Outcome two = run_elsewhere(names(":2"), "count", {"AM_AGENT=" + agent.path(), "AM_VERBOSE=1"});
  EXPECT_EQ(two.out, "the clocks are several; Count is the same as far as is known\n") << two.err;
  EXPECT_EQ(count(two.err, " has a clock of its own: Count is that of node 0 to within "), 1) << two.err;
}

TEST_F(AmrunHosts, OutliveANodeWhereTheyMeanTo) {
  for (const char* how : {"kill", "kill part"}) {
    expect_end(
        amrun_there({"--hosts", names(":2"), this_program(), "--node", "amrun_hosts_survivor", "3", how}), 0);
  }
}

TEST_F(AmrunHosts, SayWhatIsWrong) {
  const auto error = [&](const std::string& hosts, const std::string& program) {
    const Outcome outcome = amrun_there({"--hosts", hosts, program});
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(count(outcome.err, "amrun: "), 1) << outcome.err;
    return std::to_string(outcome.exit_code) + ": " + outcome.err;
  };
  EXPECT_THAT(error(names(), "./not_there"),
              AllOf(HasSubstr("127: "), HasSubstr("\"./not_there\" is not there")));
  EXPECT_THAT(error(hosts_.name(1) + ",nohost", example("hello")),
              HasSubstr("amrun: host nohost: its agent ended with code "));
  const TemporaryFile joins_on_one("#!/bin/sh\n[ $AM_RANK = 0 ] || exec " + example("hello") + "\n",
                                   std::filesystem::perms::owner_exec);
  EXPECT_THAT(
      error(names(), joins_on_one.path()),
      HasSubstr("host " + hosts_.name(1) + ": its nodes exited with code 0 before they joined the job"));
  expect_end(amrun_there({"--hosts", names(), "/bin/true"}), 0,
             HasSubstr("amrun: nobody joined the job: \"/bin/true\""));
  expect_end(run_scenario({"--hosts", names()}, "environment", 0, {}, " >/dev/full"), 1,
             HasSubstr("amrun: cannot write standard output: No space left on device"));
}

/// The lines of a loop are the loop's.
TEST_F(AmrunHosts, LeaveInputThatNobodyReads) {
  const auto turns = [&](const std::string& options) {
    const TemporaryFile loop("seq 3 | while read -r line; do echo turn $line; AM_AGENT=" + enter_host + " " +
                             amrun + " " + options + " " + example("hello") + " >/dev/null; done");
    return run(hosts_.on(1, {"sh", loop.path()})).out;
  };
  EXPECT_EQ(turns("--hosts " + names()), "turn 1\nturn 2\nturn 3\n");
  EXPECT_EQ(turns("--stdin none --hosts " + hosts_.name(2)), "turn 1\nturn 2\nturn 3\n")
      << "node 0 is elsewhere";
}

/// Folder and amrun are reached by a link, which leads to another disk on the other host.
TEST_F(AmrunHosts, FollowLinksOnEachHost) {
  const TemporaryFolder folder;
  const std::string here = folder.in("here");
  run({"sh", "-c",
       "cd " + folder.path() + " && mkdir -p here/1/run there/2/run && cp " + amrun + " here/1 && cp " +
           amrun + " there/2 && ln -s 1 here/link && ln -s 2 there/link && printf '%s:1\n%s slots=1\n' " +
           hosts_.name(1) + " " + hosts_.name(2) + " >here/1/hosts"});
  const TemporaryFile agent("#!/bin/sh\nexec unshare -m sh -c 'mount --bind " + folder.in("there") + " " +
                                here + " && exec " + enter_host + " \"$@\"' - \"$@\"\n",
                            std::filesystem::perms::owner_exec);
  for (const std::string wdir : {"", "--wdir ../run "}) {
    const TemporaryFile script("cd " + here + "/link/run && exec ../amrun --hostfile ../hosts " + wdir +
                               this_program() + " --node amrun_hosts environment 0");
    const Outcome outcome =
        expect_end(run(hosts_.on(1, {"sh", script.path()}), {{"AM_AGENT=" + agent.path()}}), 0);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(here + "/1/run\n"), HasSubstr(here + "/2/run\n"))) << wdir;
  }
}

TEST_F(AmrunHosts, DoNotMindAChattyShell) {
  const TemporaryFile chatty(
      "#!/bin/sh\necho Welcome to this host; echo you have mail\nexec " + enter_host + " \"$@\"\n",
      std::filesystem::perms::owner_exec);
  expect_end(
      run(hosts_.on(1, {amrun, "--hosts", names(), example("hello")}), {{"AM_AGENT=" + chatty.path()}}), 0, _,
      Not(HasSubstr("Welcome")));
}

}  // namespace process_test::amrun_hosts_test
