// Nodes that are killed with SIGKILL at random points under heavy traffic: nothing hangs, nothing is left behind, amrun
// says who it was. 200 rounds; TEST_SEED repeats them.
//
// In every round one node is the victim and dies once it has done so many things: in its computation, inside a handler,
// with a message half written, in a commit (AM_FAULTS), deaf while the others fill its queues, or by a signal from outside
// at whatever it just does. Jobs of programs that do not care end with it; programs that set on_peer_death go on.

#include <am/collectives.hpp>

#include "process/killed_nodes_traffic.hpp"

namespace amrun_test::killed_nodes_test {

using testing::MatchesRegex;

int traffic(const Arguments& arguments) try {
  const Plan plan(arguments);
  if (plan.how == "before_joining" && std::to_string(plan.victim) == std::getenv("AM_RANK")) die();
  am::Node& node = am::start(0, nullptr);
  Traffic traffic(node, plan);
  traffic.until_a_death();
  traffic.sends_to_the_dead_are_refused();
  traffic.among_survivors();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "a node failed: %s\n", error.what());
  std::_Exit(1);  // without leaving in good order: the others shall know
}

struct Heard {
  std::uint64_t requests = 0;
  bool begun = false;
  bool is_dead = false;
};
void hear(am::Request& request) { ++request.state<Heard>().requests; }
void begin(am::Reply& reply) { reply.state<Heard>().begun = true; }
constexpr std::uint64_t last_requests = 50;  // as many as every network has room for

/// Node 1 dies when it has polled after its last requests. Node 0 takes them when it is dead.
const Role last_words("last_words", [](am::Node& node) {
  Heard heard;
  node.attach(heard);
  node.on_peer_death([&](am::Node&, am::NodeId) { heard.is_dead = true; });
  if (node.id() == 0) node.enable_event(am::Event::low_message, false);
  node.barrier();
  if (node.id() == 1) {
    node.reply_to<begin>(0);
    node.wait_until([&] { return heard.begun; });  // there is a connection
    for (std::uint64_t i = 0; i < last_requests; ++i) node.request<hear>(0);
    node.poll();
    die();
  }
  node.wait_until([&] { return heard.begun; });
  node.reply_to<begin>(1);
  node.wait_until([&] { return heard.is_dead; });
  if (heard.requests != 0) return 1;
  node.enable_event(am::Event::low_message, true);
  node.wait_until([&] { return heard.requests == last_requests; });
  return 0;
});

const std::map<std::string, void (*)(am::Node&)> operations = {
    {"barrier", [](am::Node& node) { node.barrier(); }},
    {"broadcast", [](am::Node& node) { static_cast<void>(am::broadcast(node, 7, 2)); }},
    {"reduce", [](am::Node& node) { am::reduce(node, 7, std::plus<>()); }},
    {"all_reduce", [](am::Node& node) { static_cast<void>(am::all_reduce(node, 7, std::plus<>())); }},
    {"scan", [](am::Node& node) { static_cast<void>(am::scan(node, 7, std::plus<>())); }}};

struct Told {
  bool other = false;
};
void tell(am::Request& request) { request.state<Told>().other = true; }

/// Node 1 is gone before one of these, or in its middle. The others are told so, there or in a later one; of a death both, before one leaves.
const Role operations_of_all("operations_of_all", [](am::Node& node, const Arguments& arguments) {
  Told told;
  node.attach(told);
  node.on_peer_death([](am::Node&, am::NodeId) {});
  node.barrier();  // all mean to survive
  const std::string& how = arguments.at(0);
  const auto operation = operations.at(arguments.at(1));
  try {
    for (int i = 0; i < 3; ++i) operation(node);
    if (node.id() == 1 && how == "leaves") return 0;
    if (node.id() == 1 && how == "dies") die();
    if (node.id() == 1) node.post([](am::Node&) { die(); });  // runs when it has taken part
    for (;;) operation(node);
  } catch (const am::Error& error) {
    if (how == "leaves") return 0;  // who does not need node 1 itself hears of who did, and leaves
    node.request<tell>(2 - node.id());
    node.wait_until([&] { return told.other; });
    if (std::string(error.what()).find("node 1 (pid ") != std::string::npos) return 0;
    std::fprintf(stderr, "a node failed: %s\n", error.what());
    return 1;
  }
});

struct Round {
  Round(int number, bool goes_on) : survives(goes_on) {
    test::Random random(test::mix(test::seed(), static_cast<std::uint64_t>(number)));
    nodes = static_cast<am::NodeId>(2 + random.below(5));
    victim = static_cast<am::NodeId>(random.below(nodes));
    // Nobody survives a job that never came to be.
    how = survives ? ways.at(1 + random.below(ways.size() - 1)) : ways.at(random.below(ways.size()));
    at = 1 + random.below(random.one_in(3) ? 400 : 40);
    seed = random();
    constexpr std::array transports = {"shm", "shm", "t1", "mmachine", "ncube2", "cm5", "iwarp", "care"};
    transport = transports.at(random.below(transports.size()));
    if (transport == "ncube2") nodes = std::bit_floor(nodes);
    victim %= nodes;
  }

  [[nodiscard]] std::string text() const {
    return std::to_string(nodes) + " nodes over " + transport + ", node " + std::to_string(victim) +
           " dies: " + how + " at " + std::to_string(at);
  }
  [[nodiscard]] std::vector<std::string> command() const {
    return job({"-n", std::to_string(nodes)}, {"traffic", how, std::to_string(victim), std::to_string(at),
                                               survives ? "survives" : "ends", std::to_string(seed)});
  }
  [[nodiscard]] Surroundings surroundings() const {
    std::vector<std::string> environment = {"AM_TIMEOUT=50s", "AM_TRANSPORT=" + transport};
    if (seed % 2 == 0) environment.emplace_back("AM_CM5_SWAP=1ms");
    if (how == "faults")
      environment.push_back("AM_FAULTS=seed=" + std::to_string(seed) + ",delay=0.05,refuse=0.05,kill=" +
                            std::to_string(victim) + "@" + std::to_string(at));
    return {environment};
  }

  am::NodeId nodes = 0;
  am::NodeId victim = 0;
  std::string how;
  std::string transport;
  std::uint64_t at = 0;
  std::uint64_t seed = 0;
  bool survives;
};

/// Files of the machine's shared memory that begin as libam's do. There never is one.
std::set<std::string> segments_with_a_name() {
  std::set<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    std::uint64_t first = 0;
    std::ifstream(entry.path(), std::ios::binary).read(reinterpret_cast<char*>(&first), sizeof first);
    if (first == am::host::magic) found.insert(entry.path());
  }
  return found;
}

/// The lines that amrun wrote, without those of the fault decorator.
std::string lines_of_amrun(const std::string& text) {
  std::string lines;
  for (const std::string& line : lines_of(text)) {
    if (line.find(": faults: killed at commit ") == std::string::npos) lines += line + "\n";
  }
  return lines;
}

/// The end of its output, which exit_code() reads to, says that no process of the job is left.
void expect_round(const Round& round, int exit_code) {
  Amrun amrun(round.command(), round.surroundings());
  if (round.how == "outside") {
    ASSERT_TRUE(amrun.prints("pid ") && amrun.prints("\n")) << amrun.err();
    kill(pids_in(amrun.out()).at(0), SIGKILL);
  }
  EXPECT_EQ(amrun.exit_code(), exit_code);
  EXPECT_THAT(lines_of_amrun(amrun.err()),
              MatchesRegex("amrun: node " + std::to_string(round.victim) +
                           " \\(pid [0-9]+, host .+\\) was killed by signal 9 \\(Killed\\)" +
                           (round.how == "before_joining" ? " before it joined the job\n"
                                                          : "(; it ran handler .*Traffic::.*)?\n")));
}

void run_rounds(int count, bool survives, int exit_code) {
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const Round round(i, survives);
    SCOPED_TRACE("round " + std::to_string(i) + ": " + round.text());
    expect_round(round, exit_code);
  }
  EXPECT_THAT(segments_with_a_name(), testing::IsEmpty());
}

TEST(KilledNodes, EndTheJob) { run_rounds(90, false, 128 + SIGKILL); }

TEST(KilledNodes, AreSurvivedByProgramsThatMeanTo) { run_rounds(80, true, 0); }

TEST(KilledNodes, WhatTheyHaveSentIsDelivered) {
  for (const char* const transport :
       {"shm", "t1", "mmachine", "ncube2", "cm5", "iwarp", "care", "tcp", "ofi:net", "ofi:tcp;ofi_rxm"}) {
    SCOPED_TRACE(transport);
    expect_end(
        run_job({"-n", "2"}, {"last_words"}, {{"AM_TIMEOUT=50s", std::string("AM_TRANSPORT=") + transport}}),
        0);
  }
}

// The barrier and reductions of core's, and of the CM-5's control network.
TEST(KilledNodes, EndOperationsOfAllNodes) {
  for (const char* const transport : {"shm", "cm5"}) {
    for (const auto& [operation, function] : operations) {
      for (const std::string how : {"dies", "dies_inside", "leaves"}) {
        const bool all_wait = operation != "broadcast" && operation != "reduce";
        if (how == "leaves" && !all_wait) continue;  // who needs nothing of it goes on
        SCOPED_TRACE(std::string(transport) + ": " + operation + ", node 1 " + how);
        Amrun amrun(job({"-n", "3"}, {"operations_of_all", how, operation}),
                    {{"AM_TIMEOUT=50s", std::string("AM_TRANSPORT=") + transport}});
        EXPECT_EQ(amrun.exit_code(), 0) << amrun.err();
        // The exit code is 0 also if the others failed: these have meant to survive, and node 1 ended well.
        if (how == "leaves") {
          EXPECT_EQ(amrun.err(), "");
        }
      }
    }
  }
}

TEST(KilledNodes, EndWithAmrun) {
  for (int i = 0; i < 30 && !HasFailure(); ++i) {
    Round round(i, i % 2 == 0);
    round.how = "outside";
    SCOPED_TRACE("round " + std::to_string(i) + ": amrun is killed; " + round.text());
    Amrun amrun(round.command(), round.surroundings());
    ASSERT_TRUE(amrun.prints("pid ") && amrun.prints("\n")) << amrun.err();
    amrun.signal(SIGKILL);
    EXPECT_EQ(amrun.status(), SIGKILL);
    // A node may see the end before the kernel's signal comes.
    EXPECT_THAT(amrun.err(), MatchesRegex("(am: node [0-9]+: amrun \\(pid [0-9]+\\) has ended; .*\n)?"));
  }
  EXPECT_THAT(segments_with_a_name(), testing::IsEmpty());
}

const Role traffic_role("traffic", traffic);

}  // namespace amrun_test::killed_nodes_test
