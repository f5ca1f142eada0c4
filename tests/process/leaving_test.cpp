// Nodes that end in unusual ways, and living ones that look dead: nothing is delivered twice, nobody waits for ever.
#include <am/multicast.hpp>

#include "process/command.hpp"
#include "support/job.hpp"

namespace process_test::leaving_test {

struct Seen {
  int multicasts = 0;
  int answers = 0;
  bool finish = false;

  void come(am::Request& request) {
    ++multicasts;
    if (request.node().id() == 1) std::exit(0);
    static_cast<void>(request.reply<&Seen::answer>());
  }
  void answer(am::Reply&) { ++answers; }
  void end(am::Request&) { finish = true; }
  void take(am::Request&, am::Payload) {}
};

void wait_until_it_left(am::Node& node, am::NodeId peer) {
  while (node.try_request<&Seen::end>(peer) != am::Status::unreachable) node.poll();
}

/// Node 1 exits in the handler of a multicast that it has passed on to nodes 2 and 3.
const Role exit_in_a_handler("exit_in_a_handler", [](am::Node& node) {
  Seen seen;
  node.attach(seen);
  if (node.id() == 0) {
    static_cast<void>(node.multicast<&Seen::come>(am::Group{1, 2, 3}));
    node.wait_until([&] { return seen.answers == 2; });
    wait_until_it_left(node, 1);
    for (const am::NodeId to : {am::NodeId{2}, am::NodeId{3}})
      static_cast<void>(node.request<&Seen::end>(to));
    return 0;
  }
  node.wait_until([&] { return seen.finish; });
  while (node.poll() != 0) {
  }
  std::printf("%d multicast\n", seen.multicasts);
  return 0;
});

/// Node 0 is ended by another thread than its own, which goes on polling.
const Role exit_on_another_thread("exit_on_another_thread", [](am::Node& node) {
  node.barrier();
  if (node.id() == 0) std::thread([] { std::exit(0); }).detach();
  for (;;) node.poll();
});

std::atomic<bool> computes = false, ends = false, polls = false;
/// Ends the program where its thread computes: what comes within the barrier runs on that thread, and then nobody polls.
void end_the_program(am::Request&) {
  if (!computes) return;
  ends = true;
  std::exit(0);
}
/// Is destroyed when the node has left, and then waits for a poll of its thread.
struct PolledLate {
  ~PolledLate() {
    for (int left = ends ? 100 : 0; left != 0; left -= polls ? 1 : 0) std::this_thread::yield();
  }
} polled_late;
/// A handler ends node 1 while its thread computes, which polls then.
const Role exit_beside_the_computation("exit_beside_the_computation", [](am::Node& node) {
  node.barrier();
  if (node.id() == 0) {
    while (node.try_request<end_the_program>(1) != am::Status::unreachable) node.poll();
    return 0;
  }
  computes = true;
  while (!ends) std::this_thread::yield();
  for (polls = true;;) node.poll();
});

const Role exit_with_a_draft("exit_with_a_draft", [] {
  Seen seen;
  am::Node& node = start_with(seen);
  const am::Draft draft = node.prepare<&Seen::take>(1 - node.id(), 8);
  std::exit(draft || draft.status() == am::Status::unreachable ? 0 : 3);  // the other one may have left
});

/// Node 1 leaves while the others do not stop sending to it.
const Role leave_under_fire("leave_under_fire", [] {
  Seen seen;
  am::Node& node = start_with(seen);
  if (node.id() != 1) wait_until_it_left(node, 1);
});

/// Node 1 closes all that it does not know, as daemons do, and so loses the lock that says that it lives.
const Role close_descriptors("close_descriptors", [] {
  Seen seen;
  am::Node& node = start_with(seen);
  if (node.id() == 1) {
    for (int fd = 3; fd < 64; ++fd) close(fd);
  }
  bool long_enough = false;  // for several looks at the locks
  constexpr am::Count looks_ns = 1'500'000'000;
  node.on_timelet(node.count() + looks_ns, [&](am::LowEvent&) { long_enough = true; });
  node.wait_until([&] { return long_enough; });
  static_cast<void>(node.request<&Seen::end>(1 - node.id()));
  node.wait_until([&] { return seen.finish; });
  node.barrier();
});

/// The first program of many: it knows by a barrier that all have sent, and takes that for all having come.
struct Counted {
  int came = 0;
  void come(am::Request&) { ++came; }
  void come_back(am::Reply&) { ++came; }
};
const Role leave_after_a_barrier("leave_after_a_barrier", [] {
  Counted counted;
  am::Node& node = start_with(counted);
  for (int i = 0; i < 150; ++i) {
    for (am::NodeId to = 0; to < node.size(); ++to) node.request<&Counted::come>(to);
  }
  node.barrier();
  std::printf("%d came\n", counted.came);
});

/// Node 1 has five requests and three replies in its rings when it leaves.
const Role leave_with_some("leave_with_some", [](const Arguments& exit_code_of_node_1) {
  Counted counted;
  am::Node& node = start_with(counted);
  const am::CriticalSection quiet(node);
  node.barrier();
  if (node.id() == 0) {
    for (int i = 0; i < 5; ++i) static_cast<void>(node.request<&Counted::come>(1));
    for (int i = 0; i < 3; ++i) static_cast<void>(node.reply_to<&Counted::come_back>(1));
  }
  node.barrier();
  return node.id() == 1 ? std::stoi(exit_code_of_node_1.at(0)) : 0;
});

/// Node 2 dies, the others survive it, and node 1 leaves with messages.
const Role leave_with_some_and_a_dead_peer("leave_with_some_and_a_dead_peer", [](am::Node& node) {
  Counted counted;
  node.attach(counted);
  bool told = false;
  node.on_peer_death([&](am::Node&, am::NodeId) { told = true; });
  node.barrier();
  if (node.id() == 2) std::raise(SIGKILL);
  node.wait_until([&] { return told; });
  static_cast<void>(node.request<&Counted::come>(node.id()));
  return 0;
});

/// What libam itself sends is no message of the program: a collective is complete where it returns.
const Role leave_after_a_collective("leave_after_a_collective", [](am::Node& node) {
  for (int i = 0; i < 200; ++i) static_cast<void>(am::all_reduce(node, i, std::plus<>()));
});

/// Node 0 leaves at once. The others send it long payloads until they hear of that, and say how many.
const Role leave_under_heavy_fire("leave_under_heavy_fire", [] {
  Seen seen;
  am::Node& node = start_with(seen);
  if (node.id() == 0) return 0;
  const std::vector<std::byte> payload(256 * 1024);
  int sent = 0;
  while (node.request<&Seen::take>(0, payload) == am::Status::ok) ++sent;
  std::printf("%d\n", sent);
  return 0;
});

/// The first thread ends by itself: alone, or before another one of the program's.
const Role end_the_first_thread("end_the_first_thread", [](const Arguments& arguments) {
  am::start(0, nullptr).barrier();
  if (!arguments.empty()) {
    std::thread([] {
      const std::string first = "/proc/self/task/" + std::to_string(getpid()) + "/stat";
      std::string state;
      while (state != "Z") {
        std::ifstream line(first);
        std::string word;
        line >> word >> word >> state;
      }
    }).detach();
  }
  pthread_exit(nullptr);
});

/// Jobs of threads: first one that ends in good order, then one whose node 1 throws.
const Role leave_as_threads("leave_as_threads", [] {
  const auto leave_with_one = [](am::Node& node, bool fails) {
    const am::CriticalSection quiet(node);
    if (node.id() == 0) static_cast<void>(node.request<&Counted::come>(1));
    node.barrier();
    if (fails && node.id() == 1) throw std::runtime_error("of node 1");
  };
  for (const bool fails : {false, true}) {
    const auto run = [&] { am::run_threads(2, [&](am::Node& node) { leave_with_one(node, fails); }); };
    std::printf("%s\n", test::error_of<std::runtime_error>(run).c_str());
  }
});

/// A global object, which is destroyed after the node has left.
struct Late {
  am::Node* node = nullptr;
  bool sends = false;
  ~Late() {
    if (node == nullptr) return;
    std::fprintf(stderr, "%u of %u\n", node->id(), node->size());
    if (sends) static_cast<void>(node->request<&Counted::come>(1));
    node->barrier();
  }
} late;
const Role use_late("use_late", [](am::Node& node, const Arguments& arguments) {
  if (node.id() == 0) late.node = &node;
  late.sends = arguments.at(0) == "send";
  node.barrier();
});

Outcome run_job(int nodes, const std::string& role, const std::vector<std::string>& environment = {},
                const std::string& argument = "") {
  std::vector<std::string> command = {amrun, "-n", std::to_string(nodes), this_program(), "--node", role};
  if (!argument.empty()) command.push_back(argument);
  return run(command, {environment});
}

/// How many messages the nodes say that they left undelivered; takes what they say of that away.
int take_undelivered(std::string& err) {
  std::istringstream lines(std::exchange(err, {}));
  int undelivered = 0;
  for (std::string line; std::getline(lines, line);) {
    unsigned node = 0;
    int messages = 0;
    const bool says =
        std::sscanf(line.c_str(), "am: node %u left with %d message", &node, &messages) == 2 ||
        std::sscanf(line.c_str(), "am: node %u left with at least %d message", &node, &messages) == 2;
    undelivered += messages;
    if (!says) err += line + "\n";
  }
  return undelivered;
}

/// The job ends well, and says nothing but how many messages it left undelivered, which is returned.
int expect_only_undelivered(Outcome outcome, const testing::Matcher<std::string>& out = "") {
  const int undelivered = take_undelivered(outcome.err);
  expect_end(outcome, 0, "", out);
  return undelivered;
}

TEST(Leaving, InAHandlerOfAMulticastPassesItOnOnce) {
  // Node 0 sends to node 1 until it hears that it has left.
  expect_only_undelivered(run_job(4, "exit_in_a_handler"), "1 multicast\n1 multicast\n");
}

TEST(Leaving, IsNotForAThreadThatIsNotTheNodes) {
  expect_end(run_job(2, "exit_on_another_thread"), 1,
             testing::AllOf(testing::HasSubstr("am: node 0: another thread than the node's ends the program"),
                            testing::HasSubstr("exited with code 0 without leaving the job")));
}

TEST(Leaving, InAHandlerBesideTheComputationLeavesNothingForThat) {
  // Node 0 sends to node 1 until it hears that it has left.
  expect_only_undelivered(run_job(2, "exit_beside_the_computation", {"AM_DISPATCH=thread"}));
}

TEST(Leaving, WithADraftWaitsForNothing) {
  expect_end(run_job(2, "exit_with_a_draft", {"AM_TIMEOUT=20s"}), 0, "");
}

TEST(Leaving, EndsThoughOthersDoNotStopSending) {
  for (const char* faults :
       {"AM_FAULTS=", "AM_FAULTS=seed=3,delay=1", "AM_FAULTS=seed=4,refuse=0.3,delay=0.5"}) {
    SCOPED_TRACE(faults);
    expect_only_undelivered(run_job(4, "leave_under_fire", {faults}));
  }
}

/// What was under way when it began to leave is taken, and not what they go on to send.
TEST(Leaving, TakesNoMoreThanWasThere) {
  for (const char* network : {"shm", "tcp"}) {
    SCOPED_TRACE(network);
    const Outcome outcome = run_job(4, "leave_under_heavy_fire", {std::string("AM_TRANSPORT=") + network});
    expect_only_undelivered(outcome, testing::_);
    std::istringstream out(outcome.out);
    int senders = 0;
    for (int sent = 0; out >> sent; ++senders) EXPECT_LE(sent, 40);  // 5 MiB, and a window
    EXPECT_EQ(senders, 3);
  }
}

// What was accepted has run, or is told of.
TEST(Leaving, TellsOfWhatWasNotDelivered) {
  for (const char* faults : {"AM_FAULTS=", "AM_FAULTS=seed=5,refuse=0.1,delay=0.3"}) {
    const Outcome outcome = run_job(4, "leave_after_a_barrier", {faults});
    EXPECT_LE(count(outcome.err, "\n"), 4) << outcome.err;
    const int undelivered = expect_only_undelivered(outcome, testing::_);
    std::istringstream out(outcome.out);
    int came = 0;
    std::string word;
    for (int here = 0; out >> here >> word;) came += here;
    EXPECT_EQ(came + undelivered, 4 * 4 * 150) << outcome.out;
  }
}

TEST(Leaving, TellsOfPrioritiesAndTheFirstOne) {
  expect_end(
      run_job(2, "leave_with_some", {}, "0"), 0,
      testing::MatchesRegex("am: node 1 left with 8 messages undelivered \\(5 low, 3 high; the first for "
                            "handler [^\n]*Counted::come(_back)? from node 0\\): [^\n]*\n"));
}

TEST(Leaving, TellsNothingOfItWhereTheProgramFails) {
  expect_end(run_job(2, "leave_with_some", {}, "7"), 7,
             testing::MatchesRegex("amrun: node 1 \\(pid [^\n]*\\) exited with code 7\n"));
}

TEST(Leaving, TellsNothingOfItWhereAPeerHasDied) {
  expect_end(run_job(3, "leave_with_some_and_a_dead_peer"), 0,
             testing::MatchesRegex("amrun: node 2 \\(pid [^\n]*\\) was killed by signal 9[^\n]*\n"));
}

TEST(Leaving, TellsNothingOfWhatLibamItselfSends) {
  expect_end(run_job(4, "leave_after_a_collective"), 0, "");
}

TEST(Leaving, TellsOfItInAJobOfThreadsThatDoesNotFail) {
  expect_end(run({this_program(), "--node", "leave_as_threads"}), 0,
             testing::MatchesRegex("am: node 1 left with 1 message undelivered [^\n]*\n"),
             "no error\nof node 1\n");
}

/// Threads of libam's own keep no process.
TEST(Leaving, IsWhatTheEndOfTheLastThreadMeans) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer has a thread of its own";
  for (const char* network : {"shm", "tcp", "ofi:net"}) {
    const std::vector<std::string> environment = {std::string("AM_TRANSPORT=") + network, "AM_TIMEOUT=60s"};
    expect_end(run_job(2, "end_the_first_thread", environment), 0, "");
    EXPECT_GE(run_job(2, "end_the_first_thread", environment, "later").exit_code, 0) << network;
  }
}

TEST(Leaving, IsTheEndOfWhatMayBeDoneWithANode) {
  for (const std::string network : {"shm", "tcp", "ofi"}) {
    for (const char* use : {"send", "wait"})
      expect_end(
          run_job(2, "use_late", {"AM_TRANSPORT=" + network}, use), 128 + SIGABRT,
          testing::StartsWith("0 of 2\nam: node 0: the program uses its node when that has left the job"));
  }
}

TEST(Leaving, IsNotWhatClosingDescriptorsMeans) { expect_end(run_job(2, "close_descriptors"), 0, ""); }

}  // namespace process_test::leaving_test
