// Jobs without a launcher: each node is started with AM_JOB, and they meet at node 0's address. On this host, and across hosts,
// which are network namespaces here (process/namespaces.hpp).
#include <spawn.h>
#include <sys/stat.h>

#include "process/every_example.hpp"
#include "process/namespaces.hpp"
#include "support/held_port.hpp"

namespace process_test::appointment_test {

using namespace testing;

void say(const char* text) {
  std::printf("%s\n", text);
  std::fflush(stdout);
}

void touch(am::Request&) {}

/// Waits for its end, and serves.
void wait_for_ever(am::Node& node) {
  say("there");
  node.wait_until([] { return false; });
}
/// The same, when each has sent to each; while a forked child and a program that it has started go on, until the test closes what these
/// read.
void wait_connected(am::Node& node) {
  for (am::NodeId to = 0; to < node.size(); ++to) static_cast<void>(node.request<touch>(to));
  node.barrier();
  if (fork() == 0) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) close(stream);
    char nothing = 0;
    _exit(static_cast<int>(read(STDIN_FILENO, &nothing, 1)));
  }
  pid_t program = 0;
  std::string command[] = {"sh", "-c", "exec cat >/dev/null 2>&1"};
  char* const words[] = {command[0].data(), command[1].data(), command[2].data(), nullptr};
  if (posix_spawnp(&program, "sh", nullptr, nullptr, words, environ) == 0) wait_for_ever(node);
}
/// In a barrier to which node 0 does not come.
void wait_in_barrier(am::Node& node) {
  say("there");
  if (node.id() == 0) node.wait_until([] { return false; });
  node.barrier();
}

const Role run_node("appointment", Role::told, [](const Arguments& arguments) {
  const std::map<std::string, std::function<void(am::Node&)>> scenarios = {
      {"wait", wait_for_ever}, {"wait_connected", wait_connected}, {"wait_in_barrier", wait_in_barrier}};
  am::Node& node = am::start(0, nullptr);
  node.barrier();
  scenarios.at(arguments.at(0))(node);
});

class Key {
 public:
  explicit Key(const std::string& content = "a secret that tests share\n") : file_(content) {
    EXPECT_EQ(chmod(file_.path().c_str(), 0600), 0);
  }
  [[nodiscard]] std::string path() const { return file_.path(); }

 private:
  TemporaryFile file_;
};

using Program = std::vector<std::string>;
const Program hello = {example("hello")};
const Program hello_three_times = {"sh", "-c", hello[0] + " && " + hello[0] + " && " + hello[0]};

class Appointments : public testing::Test {
 protected:
  /// AM_JOB for a node.
  [[nodiscard]] std::string place(am::NodeId rank, am::NodeId size) const { return place(rank, size, key_); }
  [[nodiscard]] std::string place(am::NodeId rank, am::NodeId size, const Key& key) const {
    return "AM_JOB=address=" + address_ + ",rank=" + std::to_string(rank) + ",size=" + std::to_string(size) +
           ",key=" + key.path();
  }
  /// `place`: see above; `host`: of namespaces, from 1 on; 0: this one.
  [[nodiscard]] std::unique_ptr<Running> start(const std::string& place, Program program,
                                               std::vector<std::string> environment = {},
                                               std::size_t host = 0) const {
    environment.insert(environment.begin(), "AM_TIMEOUT=60s");  // before a test is taken for one that hangs
    environment.push_back(place);
    if (host != 0) program.insert(program.begin(), {"ip", "netns", "exec", host_name(host)});
    return std::make_unique<Running>(program,
                                     Surroundings{.environment = std::move(environment), .input = true});
  }
  [[nodiscard]] virtual std::string host_name(std::size_t /*host*/) const { return {}; }
  /// Where a node of a whole job is.
  [[nodiscard]] virtual std::size_t host_of(am::NodeId /*rank*/) const { return 0; }

  /// All of a job, node 0 last.
  [[nodiscard]] std::vector<std::unique_ptr<Running>> start_all(
      am::NodeId size, const Program& program, const std::vector<std::string>& environment = {}) const {
    std::vector<std::unique_ptr<Running>> nodes(size);
    for (am::NodeId rank = size; rank-- > 0;)
      nodes[rank] = start(place(rank, size), program, environment, host_of(rank));
    return nodes;
  }
  /// Runs a job to its good end: what all have printed.
  Outcome run_all(am::NodeId size, const Program& program,
                  const std::vector<std::string>& environment = {}) const {
    return end_well(start_all(size, program, environment));
  }
  static Outcome end_well(const std::vector<std::unique_ptr<Running>>& nodes) {
    Outcome all{.exit_code = 0, .out = {}, .err = {}};
    for (const auto& node : nodes) {
      const Outcome outcome = expect_end(node->outcome(), 0);
      all.out += outcome.out;
      all.err += outcome.err;
    }
    return all;
  }
  /// Each node has heard from node 0, and node 0 from each.
  static void expect_greetings(const Outcome& all, am::NodeId size, int programs = 1) {
    EXPECT_EQ(count(all.out, "hears from"), 2 * static_cast<int>(size) * programs) << all.out << all.err;
  }
  /// The others say that they wait for it.
  Outcome run_with_one_that_is_late(am::NodeId late, am::NodeId size) const {
    std::vector<std::unique_ptr<Running>> nodes(size);
    for (am::NodeId rank = 0; rank < size; ++rank) {
      if (rank != late) nodes[rank] = start(place(rank, size), hello, {"AM_REPORT_AFTER=1ms"}, host_of(rank));
    }
    for (am::NodeId rank = 0; rank < size; ++rank) {
      if (rank == late) continue;
      EXPECT_TRUE(nodes[rank]->says("am: node " + std::to_string(rank) + " waits for node"));
    }
    nodes[late] = start(place(late, size), hello, {}, host_of(late));
    Outcome outcome = end_well(nodes);
    expect_greetings(outcome, size);
    return outcome;
  }
  static void kill_one_that_waits(Running& node) {
    ASSERT_TRUE(node.says("waits for node 0"));
    node.signal(SIGKILL);
    EXPECT_EQ(node.exit_code(), 128 + SIGKILL);
  }
  void expect_the_same_as_amrun(const std::vector<ExampleRun>& examples) const {
    expect_the_same(examples, [&](const Program& program) {
      Outcome all = run_all(4, program);
      EXPECT_THAT(all.err, IsEmpty());
      return all;
    });
  }
  /// `victim` is killed when all are there: the others end by themselves, and the job says why. What each has said.
  std::vector<std::string> expect_all_end_with(am::NodeId victim, am::NodeId size,
                                               const std::string& scenario,
                                               const std::vector<std::string>& environment = {}) const {
    const auto nodes = start_all(size, {this_program(), "--node", "appointment", scenario}, environment);
    for (const auto& node : nodes) EXPECT_TRUE(node->says("there"));
    EXPECT_EQ(kill(nodes[victim]->pid(), SIGKILL), 0);
    std::vector<std::string> said(size);
    std::string all;
    for (am::NodeId rank = 0; rank < size; ++rank) {
      const Outcome outcome = expect_end(nodes[rank]->outcome(), rank == victim ? 128 + SIGKILL : 1);
      all += said[rank] = outcome.err;
    }
    EXPECT_THAT(all, HasSubstr(names(victim))) << scenario;
    return said;
  }
  [[nodiscard]] static std::string names(am::NodeId dead) {
    return ": node " + std::to_string(dead) + " (pid ";
  }

  Key key_;
  test::HeldPort port_;
  std::string address_ = "127.0.0.1:" + std::to_string(port_.number());
};

using OnOneHost = Appointments;

TEST_F(OnOneHost, RunTheSameAsUnderAmrun) { expect_the_same_as_amrun(a_few_examples()); }

TEST_F(OnOneHost, MeetByTheNameOfThisHostForItself) {
  address_ = "localhost:" + std::to_string(port_.number());
  expect_greetings(run_all(3, hello), 3);
}

TEST_F(OnOneHost, OneIsAJob) {
  const Outcome outcome = run_all(1, hello, {"AM_VERBOSE=1"});
  expect_greetings(outcome, 1);
  EXPECT_THAT(outcome.err, HasSubstr("node 0 of 1: found AM_JOB (meeting at " + address_ + ")"));
}

TEST_F(OnOneHost, SayWhatWasFound) {
  const Outcome outcome = run_all(3, hello, {"AM_VERBOSE=1"});
  EXPECT_EQ(count(outcome.err, "found AM_JOB (meeting at " + address_ + "); shared memory to all nodes"), 3)
      << outcome.err;
}

TEST_F(OnOneHost, MayTalkByTcp) { expect_greetings(run_all(3, hello, {"AM_TRANSPORT=tcp"}), 3); }

TEST_F(OnOneHost, ANodeMayBeLate) {
  EXPECT_THAT(run_with_one_that_is_late(1, 3).err, HasSubstr("to join since"));
  EXPECT_THAT(run_with_one_that_is_late(0, 3).err, HasSubstr("waits for node 0 at " + address_));
}

/// As a container that is started anew.
TEST_F(OnOneHost, ANodeThatIsKilledBeforeAllAreThereMayComeAgain) {
  std::vector<std::unique_ptr<Running>> nodes(3);
  nodes[0] = start(place(0, 3), hello);
  for (int time = 0; time < 3; ++time)
    kill_one_that_waits(*start(place(1, 3), hello, {"AM_REPORT_AFTER=100ms"}));
  nodes[1] = start(place(1, 3), hello);
  nodes[2] = start(place(2, 3), hello);
  expect_greetings(end_well(nodes), 3);
}

TEST_F(OnOneHost, TwoProgramsOneAfterTheOther) { expect_greetings(run_all(3, hello_three_times), 3, 3); }

TEST_F(OnOneHost, EndWhenANodeIsKilled) {
  for (const am::NodeId victim : {0u, 1u, 2u}) expect_all_end_with(victim, 3, "wait");
  expect_all_end_with(2, 3, "wait_in_barrier");
}

TEST_F(OnOneHost, AnotherKeyIsTurnedAway) {
  const Key other("another secret than that");
  const auto zero = start(place(0, 2), hello, {"AM_TIMEOUT=2s"});
  expect_refusal(start(place(1, 2, other), hello, {"AM_TIMEOUT=60s"})->outcome(), 1,
                 AllOf(HasSubstr("am: join the job"), HasSubstr("does not know the job's key")));
  expect_end(
      zero->outcome(), 1,
      AllOf(HasSubstr("node 1 of 2 did not come within"), HasSubstr("1 came that do not know the key")));
}

TEST_F(OnOneHost, OtherErrorsAreOneLineEach) {
  const std::string at = "AM_JOB=address=" + address_;
  const std::map<std::string, std::string> errors = {
      {"AM_JOB=here", "\"here\" is none of"},
      {at + ",rank=2,size=2,key=" + key_.path(), "rank is from 0 to 1"},
      {at + ",rank=0,size=2,key=/nowhere/key", "No such file"},
      {at + ",rank=0,size=2,key=/dev/null", "is no file"},
  };
  for (const auto& [job, error] : errors) {
    SCOPED_TRACE(job);
    expect_refusal(start(job, hello)->outcome(), 1, HasSubstr(error));
  }
}

TEST_F(OnOneHost, NobodyThereIsAnErrorInTime) {
  expect_end(start(place(1, 2), hello, {"AM_TIMEOUT=500ms"})->outcome(), 1,
             AllOf(HasSubstr("node 0 at " + address_ + " takes no connection since"),
                   HasSubstr("Connection refused"), HasSubstr("is node 0 running there")));
  expect_end(start(place(0, 3), hello, {"AM_TIMEOUT=500ms"})->outcome(), 1,
             HasSubstr("nodes 1 and 2 of 3 did not come within"));
}

TEST_F(OnOneHost, ASecondProcessForANodeIsRefused) {
  std::vector<std::unique_ptr<Running>> nodes(3);
  nodes[0] = start(place(0, 3), hello);
  nodes[1] = start(place(1, 3), hello, {"AM_REPORT_AFTER=1s"});
  ASSERT_TRUE(nodes[1]->says("which waits for others"));  // it has been let in
  expect_end(start(place(1, 3), hello)->outcome(), 1,
             HasSubstr("another process has come as this node already"));
  expect_end(start(place(0, 3), hello)->outcome(), 1,
             AllOf(HasSubstr("Address already in use"), HasSubstr("another job, may have that port")));
  nodes[2] = start(place(2, 3), hello);
  expect_greetings(end_well(nodes), 3);
}

TEST_F(OnOneHost, SizesThatDifferAreNamed) {
  const auto zero = start(place(0, 2), hello);
  EXPECT_EQ(start(place(1, 3), hello)->exit_code(), 1);
  expect_end(zero->outcome(), 1, HasSubstr("node 1 was told that the job has 3 nodes, node 0 that it has 2"));
}

/// amrun's nodes have a place; the one that amrun was started with is not theirs.
TEST_F(OnOneHost, AmrunIsAskedFirst) {
  const Outcome outcome = expect_end(run({amrun, "-n", "2", hello[0]}, {{place(1, 4)}}), 0);
  expect_greetings(outcome, 2);
}

class OnTwoHosts : public Appointments {
 protected:
  void SetUp() override {
    if (!hosts_.works()) GTEST_SKIP() << "network namespaces cannot be made here: " << hosts_.problem();
    address_ = "10.77.0.1:7000";  // ports are each host's own
  }
  [[nodiscard]] std::string host_name(std::size_t host) const override { return hosts_.name(host); }
  [[nodiscard]] std::size_t host_of(am::NodeId rank) const override { return hosts_of_ranks_.at(rank); }

  Namespaces hosts_{2};
  std::vector<std::size_t> hosts_of_ranks_ = {1, 1, 2, 2};
};

TEST_F(OnTwoHosts, RunTheSameAsUnderAmrun) {
  for (const std::vector<std::size_t>& hosts :
       std::vector<std::vector<std::size_t>>{{1, 1, 2, 2}, {1, 2, 1, 2}, {1, 2, 2, 2}}) {
    hosts_of_ranks_ = hosts;
    expect_the_same_as_amrun(a_few_examples());
  }
}

TEST_F(OnTwoHosts, MeetByIpv6) {
  address_ = "[fd77::1]:7000";
  expect_greetings(run_all(4, hello), 4);
}

TEST_F(OnTwoHosts, ANodeMayBeLate) {
  for (const am::NodeId late : {3u, 2u, 0u}) run_with_one_that_is_late(late, 4);
}

/// On the other host, what is more.
TEST_F(OnTwoHosts, ANodeThatIsKilledBeforeAllAreThereMayComeAgainElsewhere) {
  std::vector<std::unique_ptr<Running>> nodes(4);
  for (const am::NodeId rank : {0u, 2u}) nodes[rank] = start(place(rank, 4), hello, {}, host_of(rank));
  kill_one_that_waits(*start(place(1, 4), hello, {"AM_REPORT_AFTER=200ms"}, 2));
  nodes[1] = start(place(1, 4), hello, {"AM_VERBOSE=1"}, 1);
  nodes[3] = start(place(3, 4), hello, {}, host_of(3));
  const Outcome outcome = end_well(nodes);
  expect_greetings(outcome, 4);
  EXPECT_THAT(outcome.err, HasSubstr("shared memory to 2 nodes, TCP to 2 nodes"));
}

TEST_F(OnTwoHosts, TwoProgramsOneAfterTheOther) { expect_greetings(run_all(4, hello_three_times), 4, 3); }

TEST_F(OnTwoHosts, EndWhenANodeIsKilled) {
  for (const am::NodeId victim : {0u, 1u, 2u, 3u}) expect_all_end_with(victim, 4, "wait");
  for (const am::NodeId victim : {0u, 1u, 3u}) expect_all_end_with(victim, 4, "wait_in_barrier");
}

TEST_F(OnTwoHosts, EndWhenTheOnlyNodeOfAHostIsKilled) {
  hosts_of_ranks_ = {1, 2};
  for (const am::NodeId victim : {0u, 1u}) expect_all_end_with(victim, 2, "wait");
  // Its children hold nothing open by which the others would take it for alive.
  for (const char* const network : {"tcp", "ofi:net", "ofi:tcp;ofi_rxm"})
    expect_all_end_with(1, 2, "wait_connected", {std::string("AM_TRANSPORT=") + network});
  hosts_of_ranks_ = {1, 1, 1, 2};
  expect_all_end_with(3, 4, "wait");
}

/// One node of each host speaks for it, and names the one that was killed; not one that ended because of that.
TEST_F(OnTwoHosts, EachHostNamesTheNodeThatWasKilled) {
  for (const am::NodeId victim : {0u, 1u, 2u, 3u}) {
    const std::vector<std::string> said = expect_all_end_with(victim, 4, "wait_connected");
    EXPECT_THAT(said[0] + said[1], HasSubstr(names(victim)));
    EXPECT_THAT(said[2] + said[3], HasSubstr(names(victim)));
  }
}

TEST_F(OnTwoHosts, MayEncryptWhatTheySay) {
  const Outcome outcome = run_all(4, hello, {"AM_TCP_TLS=1", "AM_VERBOSE=1"});
  expect_greetings(outcome, 4);
  EXPECT_EQ(count(outcome.err, "shared memory to 2 nodes, TCP to 2 nodes"), 4) << outcome.err;
}

/// From the first word on, where they meet.
TEST_F(OnTwoHosts, EncryptAllOrNothing) {
  const auto zero = start(place(0, 2), hello, {"AM_TIMEOUT=2s"}, 1);
  expect_end(start(place(1, 2), hello, {"AM_TCP_TLS=1"}, 2)->outcome(), 1,
             HasSubstr("AM_TCP_TLS is on at one end only"));
  EXPECT_THAT(zero->outcome().err, HasSubstr("node 1 of 2 did not come within"));
}

/// The others of its host wait for it alone.
TEST_F(OnTwoHosts, NodeZeroThatIsKilledWhileOthersWaitIsNamed) {
  const auto zero = start(place(0, 4), hello, {}, 1);
  const auto two = start(place(2, 4), hello, {"AM_REPORT_AFTER=300ms"}, 2);
  ASSERT_TRUE(two->says("which waits for others"));
  zero->signal(SIGKILL);
  expect_end(two->outcome(), 1, HasSubstr("node 0 at " + address_ + " has ended"));
}

/// A port from which the system takes those of connections, too: who calls where nobody listens may get a connection with itself.
TEST_F(OnTwoHosts, NobodyTakesItselfForNodeZero) {
  ASSERT_EQ(run({"ip", "netns", "exec", hosts_.name(1), "sh", "-c",
                 "echo 7000 7001 > /proc/sys/net/ipv4/ip_local_port_range"})
                .exit_code,
            0);
  expect_end(start(place(1, 2), hello, {"AM_TIMEOUT=2s"}, 1)->outcome(), 1, HasSubstr("Connection refused"));
  std::vector<std::unique_ptr<Running>> nodes(2);
  nodes[1] = start(place(1, 2), hello, {"AM_REPORT_AFTER=500ms", "AM_TIMEOUT=20s"}, 1);
  EXPECT_TRUE(nodes[1]->says("waits for node 0"));
  nodes[0] = start(place(0, 2), hello, {"AM_TIMEOUT=20s"}, 1);
  end_well(nodes);
}

}  // namespace process_test::appointment_test
