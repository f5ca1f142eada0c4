// Jobs across hosts, which are network namespaces here (process/namespaces.hpp), started by mpirun. A node may be the one that cuts cables.

#include "process/bad_link.hpp"
#include "process/every_example.hpp"
#include "process/open_mpi.hpp"

namespace process_test::several_hosts_test {

using namespace testing;
using namespace std::chrono_literals;

struct Seen {
  int came = 0;
  bool in_order = true;
  std::set<am::NodeId> dead;
};
void take(am::Request& request, int number) {
  Seen& seen = request.state<Seen>();
  seen.in_order = seen.in_order && number == seen.came;
  ++seen.came;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "node: %s\n", what);
  std::exit(3);
}
void check(bool yes, const char* what) {
  if (!yes) fail(what);
}
/// Has a shell run the script, which finds this process as $NODE.
void shell(const std::string& script) {
  const std::string command = "NODE=" + std::to_string(getpid()) + " sh " + script;
  check(std::system(command.c_str()) == 0, "the script");
}

constexpr int many = 1000;

void send_many(am::Node& node, am::NodeId to) {
  for (int i = 0; i < many; ++i) check(node.request<take>(to, i) == am::Status::ok, "a request");
}
void expect_many(am::Node& node, const Seen& seen, int count) {
  node.wait_until([&] { return seen.came >= count; });
  node.barrier();
  check(seen.came == count && seen.in_order, "none is lost, none comes twice");
}

/// The other host vanishes for good, with all its nodes: `cut` sees to it.
void vanish(am::Node& node, Seen& seen, const std::string& cut) {
  if (node.id() == 0) shell(cut);
  const auto began = std::chrono::steady_clock::now();
  const am::NodeId half = node.size() / 2;
  if (node.id() == 0) static_cast<void>(node.try_request<take>(half, 0));  // the others' lines are idle
  node.wait_until([&] { return seen.dead.size() == half; });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  for (const am::NodeId dead : seen.dead) {
    check((dead < half) != (node.id() < half), "those of the other host are dead");
    check(node.request<take>(dead, 0) == am::Status::unreachable, "and cannot be reached");
  }
  std::printf("noticed after %.1f s\n", took.count());
}

/// The cable is cut for a second, while both send.
void blink(am::Node& node, Seen& seen, const std::string& cut_and_mend) {
  if (node.id() == 0) shell(cut_and_mend);
  send_many(node, 1 - node.id());
  expect_many(node, seen, many);
}

/// A little of everything, checked.
void traffic(am::Node& node, Seen& seen, const std::string& /*none*/) {
  constexpr std::size_t values = 40'000;
  const am::NodeId other = 1 - node.id();
  const am::GlobalPtr<std::uint64_t> there = am::allocate_symmetric<std::uint64_t>(node, values);
  const am::GlobalPtr<std::uint64_t> sum = am::allocate_symmetric<std::uint64_t>(node);
  std::vector<std::uint64_t> own(values);
  for (std::size_t i = 0; i < values; ++i) own[i] = i << 8 | node.id();
  send_many(node, other);
  am::put(node, there.on(other), std::span<const std::uint64_t>(own));
  for (int i = 1; i <= 20; ++i) am::fetch_add(node, sum.on(0), static_cast<std::uint64_t>(i));
  expect_many(node, seen, many);
  std::vector<std::uint64_t> back(values);
  am::get(node, there.on(other), std::span(back));
  check(back == own, "what was put is there");
  node.barrier();
  check(node.id() != 0 || *sum.local() == 2 * 210, "each term is added once");
  check(am::all_reduce(node, node.id() + 1, std::plus<>()) == 3, "all_reduce");
}

/// Node 1 is stopped for longer than a host may be silent.
void stop(am::Node& node, Seen& seen, const std::string& stop_for_a_while) {
  if (node.id() == 1) shell(stop_for_a_while);
  send_many(node, 1 - node.id());
  expect_many(node, seen, many);
}

const Role run_node("several_hosts", [](const Arguments& arguments) {
  const std::string& scenario = arguments.at(0);
  const std::string& argument = arguments.at(1);
  const std::map<std::string, std::function<void(am::Node&, Seen&, const std::string&)>> scenarios = {
      {"vanish", vanish}, {"blink", blink}, {"stop", stop}, {"traffic", traffic}};
  am::Node& node = am::start(0, nullptr);
  static Seen seen;
  node.attach(seen);
  node.on_peer_death([](am::Node&, am::NodeId dead) { seen.dead.insert(dead); });
  node.barrier();
  scenarios.at(scenario)(node, seen, argument);
});

class SeveralHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (!hosts_.works()) GTEST_SKIP() << "network namespaces cannot be made here: " << hosts_.problem();
    if (!process_test::OpenMpi::is_there()) GTEST_SKIP() << "there is no mpirun here";
  }

  /// Runs hello, which ends well.
  [[nodiscard]] Outcome run_hello(std::size_t nodes_on_each,
                                  const std::vector<std::string>& environment = {}) const {
    const Outcome outcome = expect_end(run(hosts_.mpirun(nodes_on_each, {example("hello")}, environment)), 0);
    return outcome;
  }

  const process_test::OpenMpi open_mpi_;
  Namespaces hosts_{2};
};

const std::string over_libfabric = "shm,ofi:tcp";

TEST_F(SeveralHosts, RunExamplesWithTheResultOfOneHost) {
  expect_the_same(a_few_examples(),
                  [&](const std::vector<std::string>& program) { return run(hosts_.mpirun(2, program)); });
}

TEST_F(SeveralHosts, RunExamplesOverLibfabricToo) {
  expect_the_same(a_few_examples(), [&](const std::vector<std::string>& program) {
    return run(hosts_.mpirun(2, program, {"AM_TRANSPORT=" + over_libfabric}));
  });
}

TEST_F(SeveralHosts, SayWhatWasChosenOfLibfabric) {
  const Outcome outcome = run_hello(2, {"AM_VERBOSE=1", "AM_TRANSPORT=" + over_libfabric});
  EXPECT_EQ(count(outcome.err, "shared memory to 2 nodes, libfabric to 2 nodes"), 4) << outcome.err;
  EXPECT_EQ(count(outcome.err, ": libfabric's tcp;ofi_rxm on eth0"), 2) << outcome.err;
}

TEST_F(SeveralHosts, SayWhatWasFoundAndChosen) {
  const Outcome outcome = run_hello(2, {"AM_VERBOSE=1"});
  EXPECT_EQ(count(outcome.err, "shared memory to 2 nodes, TCP to 2 nodes"), 4) << outcome.err;
  for (const std::size_t from : {1u, 2u}) {
    const auto host = [&](std::size_t which) {
      return hosts_.name(which) + (which == 1 ? " (nodes 0 and 1)" : " (nodes 2 and 3)");
    };
    const std::string way = "am: " + host(from) + " to " + host(3 - from) + ": TCP by eth0 to 10.77.0." +
                            std::to_string(3 - from);
    EXPECT_EQ(count(outcome.err, way), 1) << way << "\n" << outcome.err;
  }
}

TEST_F(SeveralHosts, SayThatTheyEncrypt) {
  const Outcome outcome = run_hello(1, {"AM_VERBOSE=1", "AM_TCP_TLS=1"});
  EXPECT_EQ(count(outcome.err, ": TCP with TLS by eth0 to "), 2) << outcome.err;
}

TEST_F(SeveralHosts, TellOfInterfacesThatLeadNowhere) {
  expect_end(run(hosts_.mpirun(1, {example("hello")}, {"AM_TCP_INTERFACES=eth7"})), Ne(0),
             AllOf(HasSubstr("AM_TCP_INTERFACES=eth7 takes none"), HasSubstr("eth0 10.77.0.")));
  expect_end(run(hosts_.mpirun(1, {example("hello")}, {"AM_TCP_INTERFACES=lo"})), Ne(0),
             HasSubstr("a loopback address, which leads to this host itself"));
}

TEST_F(SeveralHosts, UseIpv6WhereThatIsAskedFor) {
  static_cast<void>(run_hello(1, {"AM_TCP_INTERFACES=fd77::/16"}));
}

/// The first addresses that are told lead nowhere; the others are tried then.
TEST_F(SeveralHosts, FindTheInterfaceThatWorks) {
  for (const std::size_t host : {1u, 2u}) {
    hosts_.connect(host, "eth1", "10.78.0.", "fd78::");
    hosts_.cut(host, "eth0");
  }
  hosts_.let_launcher_use("eth1");
  ASSERT_TRUE(hosts_.works()) << hosts_.problem();
  static_cast<void>(run_hello(1));
}

/// Hosts whose jobs talk over eth0, which may be cut, while the launcher has eth1.
class Failing : public SeveralHosts, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    SeveralHosts::SetUp();
    if (IsSkipped()) return;
    for (const std::size_t host : {1u, 2u}) hosts_.connect(host, "eth1", "10.78.0.", "fd78::");
    ASSERT_TRUE(hosts_.works()) << hosts_.problem();
    hosts_.let_launcher_use("eth1");
  }
  /// `script`: what one of the nodes has a shell do.
  Outcome run_scenario(const std::string& scenario, const std::string& script, const std::string& timeout,
                       std::size_t nodes_on_each = 1) {
    const TemporaryFile file(script);  // the words of a command do not come whole through an agent's shells
    return run(hosts_.mpirun(nodes_on_each,
                             {this_program(), "--node", "several_hosts", scenario, file.path()},
                             {"AM_TCP_INTERFACES=eth0", "AM_PEER_DEATH=survive", "AM_HOST_TIMEOUT=" + timeout,
                              "AM_TIMEOUT=100s", "AM_TRANSPORT=" + GetParam()}));
  }
};

TEST_P(Failing, AHostThatVanishesIsLostInTime) {
  const Outcome outcome = run_scenario("vanish", hosts_.cut_command(2, "eth0"), "2s", 2);
  expect_end(outcome, 0, HasSubstr("its host does not answer since"));
  EXPECT_EQ(count(outcome.out, "noticed after"), 4) << outcome.out << outcome.err;
}

TEST_P(Failing, ACutCableThatIsMendedLosesNothing) {
  expect_end(run_scenario("blink",
                          hosts_.cut_command(2, "eth0") + "; (sleep 1; " + hosts_.mend_command(2, "eth0") +
                              ") >/dev/null 2>&1 &",
                          "30s"),
             0, AllOf(Not(HasSubstr("no connection")), Not(HasSubstr("no way"))));
}

TEST_P(Failing, ANodeThatIsStoppedIsNotLost) {
  expect_end(run_scenario("stop", "(sleep 3; kill -CONT $NODE) >/dev/null 2>&1 & kill -STOP $NODE", "1s"), 0,
             AllOf(Not(HasSubstr("no connection")), Not(HasSubstr("no way"))));
}

INSTANTIATE_TEST_SUITE_P(Over, Failing, testing::Values("auto", over_libfabric),
                         [](const auto& of) { return of.param == "auto" ? "tcp" : "libfabric"; });

/// The jobs are amrun's, which needs no network of its own here. Over a network, or TCP with TLS.
class BadCables : public SeveralHosts, public testing::WithParamInterface<const char*> {
 protected:
  void expect_all_well_over(const CableFaults& faults) {
    const BadLink link(hosts_, "bad0", "10.79.0.", faults, test::seed());
    if (!link.works()) GTEST_SKIP() << link.problem();
    const TemporaryFile none("");
    const std::string over = GetParam();
    const bool tls = over == "tls";
    expect_end(run(hosts_.on(1, {amrun, "--hosts", hosts_.name(1) + "," + hosts_.name(2), this_program(),
                                 "--node", "several_hosts", "traffic", none.path()}),
                   {{"AM_AGENT=" + enter_host, "AM_TCP_INTERFACES=bad0", "AM_TIMEOUT=100s",
                     tls ? "AM_TCP_TLS=1" : "AM_TCP_TLS=0", "AM_TRANSPORT=shm," + (tls ? "tcp" : over)}}),
               0, "");
    EXPECT_EQ(link.faults() > 0, faults.loss > 0 || faults.doubled > 0);
  }
};
std::string name_of(const testing::TestParamInfo<const char*>& of) {
  std::string name(of.param);
  std::ranges::replace(name, ':', '_');
  return name;
}

TEST_P(BadCables, ThatLoseFramesLoseNoMessage) { expect_all_well_over({.loss = 0.02}); }
TEST_P(BadCables, OnWhichFramesOvertakeEachOtherKeepTheOrder) {
  expect_all_well_over({.doubled = 0.05, .delay = 1ms, .jitter = 3ms});
}
TEST_P(BadCables, ThatAreLongAreOnlySlow) { expect_all_well_over({.delay = 20ms}); }
TEST_P(BadCables, ThatAreThinAreOnlySlow) { expect_all_well_over({.bytes_per_second = 1e6}); }

INSTANTIATE_TEST_SUITE_P(, BadCables, testing::Values("tcp", "ofi:tcp", "ofi:net"), name_of);

/// A megabit per second to a host far away.
using SlowCables = BadCables;
TEST_P(SlowCables, AreNoDeaths) {
  expect_all_well_over({.loss = 0.01, .delay = 50ms, .jitter = 5ms, .bytes_per_second = 1e6 / 8});
}
INSTANTIATE_TEST_SUITE_P(, SlowCables, testing::Values("tcp", "tls", "ofi:tcp", "ofi:net"),
                         [](const auto& of) { return name_of(of) + "_night"; });

}  // namespace process_test::several_hosts_test
