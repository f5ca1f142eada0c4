// Jobs over the emulated networks: examples give what they give over shared memory, also on grids of one row or column; and a node that is
// stopped in the middle of the grid holds up nobody else.

#include "process/amrun_job.hpp"
#include "process/every_example.hpp"

namespace amrun_test::emulated_test {

using process_test::amrun;
using process_test::example;
using testing::HasSubstr;

Outcome run_over(const std::string& transport, int nodes, const std::vector<std::string>& program) {
  return process_test::run_by_amrun(nodes, program, {"AM_TRANSPORT=" + transport});
}

TEST(Emulated, RunsExamplesOnRowsAndColumns) {
  for (const char* const transport :
       {"t1:1x4", "t1:4x1", "mmachine:4x1", "ncube2", "cm5", "iwarp:2x2", "care:torus:4x1", "care:cube"}) {
    process_test::expect_the_same(
        process_test::a_few_examples(),
        [&](const std::vector<std::string>& program) { return run_over(transport, 4, program); });
  }
}

TEST(Emulated, TellsWhatItsRoutersHaveCounted) {
  const auto told_of = [](const std::string& transport) {
    const Outcome outcome = expect_end(process_test::run({amrun, "-n", "2", example("hello")},
                                                         {{"AM_TRANSPORT=" + transport, "AM_STATS=1"}}),
                                       0, HasSubstr(" links each"));
    return outcome.err;
  };
  const std::string t1 = told_of("t1:1x2");
  const std::string mmachine = told_of("mmachine:1x2");
  EXPECT_THAT(told_of("ncube2"), HasSubstr("its nCUBE/2 router, in a cube of 1 dimensions\n"));
  EXPECT_THAT(told_of("cm5"), HasSubstr("its CM-5 routers, of 2 in each network\n"));
  for (const std::string node : {"0", "1"}) {
    EXPECT_THAT(t1, HasSubstr("its T1 router, at row 0, column " + node + " of 1x2\n"));
    EXPECT_THAT(mmachine, HasSubstr("its M-Machine router, at row 0, column " + node + " of 1x2\n"));
  }
  EXPECT_THAT(mmachine, HasSubstr("  sent back to this node                 0, GTLB misses 1\n"));
}

// Node 1, between 0 and the last but two of five, or the last of four, floods that one, and is stopped again and again, wherever it is on its way through the routers; the others
// talk on meanwhile.

struct Talk {
  std::uint64_t answers = 0;
  std::uint64_t flood = 0;
  pid_t flooding = 0;
  bool ended = false;

  void ask(am::Request& request, std::uint64_t word) { request.reply<&Talk::answer>(word); }
  void answer(am::Reply&, std::uint64_t) { ++answers; }
  void i_flood(am::Request&, std::uint64_t pid) { flooding = static_cast<pid_t>(pid); }
  void take(am::Request&) { ++flood; }
  void end(am::Request&) { ended = true; }
};

const Role talk_past_a_stopped_node("talk", [] {
  Talk talk;
  am::Node& node = process_test::start_with(talk);
  const am::NodeId far = node.size() == 4 ? 3 : 2;
  if (node.id() == 1) {
    node.request<&Talk::i_flood>(0, static_cast<std::uint64_t>(getpid()));
    while (!talk.ended) {
      node.request<&Talk::take>(far);
      node.poll();
    }
  } else if (node.id() == 0) {
    node.wait_until([&] { return talk.flooding != 0; });
    for (std::uint64_t i = 1; i <= 2'000; ++i) {
      if (i % 20 == 1) kill(talk.flooding, SIGSTOP);
      if (i % 20 == 11) kill(talk.flooding, SIGCONT);
      node.request<&Talk::ask>(far, i);
      node.wait_until([&] { return talk.answers == i; });
    }
    std::printf("talked\n");
    std::fflush(stdout);
    node.request<&Talk::end>(1);
  }
  node.barrier();
});

TEST(Emulated, GoesOnPastANodeThatIsStopped) {
  // The way from 0 to 2, or in a cube from 0 to 3, leads by 1. (A T1's row is a ring, and its column is not.) On a CM-5 these have routers in
  // common, and the node that is stopped may have frozen the networks.
  for (const auto& [transport, nodes] : {std::pair{"t1:5x1", "5"},
                                         {"mmachine:1x5", "5"},
                                         {"ncube2", "4"},
                                         {"cm5", "5"},
                                         {"iwarp:5x1", "5"},
                                         {"care:5x1", "5"}}) {
    const Outcome started = expect_end(
        run_job({"-n", nodes}, {"talk"}, {{std::string("AM_TRANSPORT=") + transport, "AM_CM5_SWAP=1ms"}}), 0);
    EXPECT_EQ(started.out, "talked\n") << transport;
  }
}

// Node 1 is stopped all the time; node 0 reads and writes its memory, and that of node 2, to which the way leads by 1. As node 2
// computes, and never polls, its interface, or its kernel, does it.

struct Sleeper {
  pid_t pid = 0;

  void i_am(am::Request&, std::uint64_t its_pid) { pid = static_cast<pid_t>(its_pid); }
};

const Role use_the_memory_of_a_stopped_node("use", [] {
  Sleeper sleeper;
  am::Node& node = process_test::start_with(sleeper);
  constexpr std::size_t longest = 50'000;
  const auto place = am::allocate_symmetric<std::uint64_t>(node, longest);
  const auto end = am::allocate_symmetric<std::uint64_t>(node);
  am::put(node, end.on(node.id()), 0);
  if (node.id() == 1) node.request<&Sleeper::i_am>(0, static_cast<std::uint64_t>(getpid()));
  node.barrier();
  if (node.id() == 0) {
    node.wait_until([&] { return sleeper.pid != 0; });
    kill(sleeper.pid, SIGSTOP);
    for (std::size_t n = 1; n <= longest; n = n * 3 + 1) {
      std::vector<std::uint64_t> there(n), back(n);
      for (const am::NodeId peer : {1u, 2u}) {
        for (std::size_t i = 0; i < n; ++i) there[i] = peer * 1'000'000 + n + i;
        am::put(node, place.on(peer), there);
        am::get(node, place.on(peer), std::span(back));
        if (there != back || am::get(node, place.on(peer) + n / 2) != there[n / 2]) std::abort();
        am::Counter counter;
        am::begin_put(node, place.on(peer), there, counter);
        am::begin_get(node, place.on(peer), std::span(back), counter);
        am::wait(node, counter);
        if (there != back) std::abort();
      }
    }
    am::put(node, end.on(2), 1);
    std::printf("used\n");
    std::fflush(stdout);
    kill(sleeper.pid, SIGCONT);
  } else if (node.id() == 2) {
    const std::atomic_ref<std::uint64_t> flag(*end.on(2).local(node));
    while (flag.load(std::memory_order_acquire) == 0) {  // without a poll
    }
  }
  node.barrier();
});

TEST(Emulated, UsesTheMemoryOfNodesThatTakeNoPart) {
  for (const auto& [network, nodes, mode] : {std::tuple{"t1:3x1", "3", "poll"},
                                             {"t1:3x1", "3", "thread"},
                                             {"t1:3x1", "3", "interrupt"},
                                             {"ncube2", "4", "poll"}}) {
    const Outcome started =
        expect_end(run_job({"-n", nodes}, {"use"},
                           {{std::string("AM_TRANSPORT=") + network, std::string("AM_DISPATCH=") + mode}}),
                   0);
    EXPECT_EQ(started.out, "used\n") << network << ' ' << mode;
  }
}

// Node 0 has four pathways to node 1, which is what a link of an iWarp has; a fifth stream has none until one of these ends. Messages go on.
const Role open_pathways("pathways", [](am::Node& node) {
  constexpr std::uint64_t most = 4;
  std::vector<am::StreamIn<int>> in;
  std::vector<am::StreamOut<int>> out;
  int value = 0;
  for (std::uint64_t tag = 0; node.id() == 1 && tag <= most; ++tag) in.emplace_back(node, 0, tag);
  node.barrier();
  if (node.id() == 0) {
    for (std::uint64_t tag = 0; tag < most; ++tag) out.emplace_back(node, 1, tag);
    for (int i = 0; i < 100; ++i) node.poll();
    if (am::stream_is_open(node, 1, most) != am::Status::again) return 1;
    out[2].write(7);
    out[2].end();
    out.emplace_back(node, 1, most);
    out[most].write(9);
    out[most].flush();
  } else {
    if (in[2].read(value) != am::StreamStatus::ok || value != 7) return 2;
    if (in[most].read(value) != am::StreamStatus::ok || value != 9) return 3;
  }
  node.barrier();
  return 0;
});

TEST(Emulated, ReservesPathwaysOfTheIwarpForStreams) {
  expect_end(run_job({"-n", "2"}, {"pathways"}, {{"AM_TRANSPORT=iwarp:1x2"}}), 0);
}

}  // namespace amrun_test::emulated_test
