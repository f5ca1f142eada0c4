// Every example, alone and under amrun, and some in every way to start a job. And what they say to bad arguments.

#include "process/open_mpi.hpp"
#include "support/random.hpp"

namespace process_test::examples_test {

using namespace testing;

const std::vector<std::string> every_mode = {"poll", "thread", "interrupt"};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

enum class Launcher { none, amrun, mpirun };

struct Way {
  Launcher launcher;
  int nodes;
};

std::string name_of(const testing::TestParamInfo<Way>& info) {
  constexpr std::array<const char*, 3> names = {"alone", "amrun", "mpirun"};
  return names.at(static_cast<std::size_t>(info.param.launcher)) + std::to_string(info.param.nodes);
}

class Examples : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (way().launcher == Launcher::mpirun && !process_test::OpenMpi::is_there())
      GTEST_SKIP() << "mpirun is not installed";
  }
  [[nodiscard]] static const Way& way() { return GetParam(); }
  [[nodiscard]] static int nodes() { return way().nodes; }

  static Outcome run_example(const std::string& name, const std::vector<std::string>& arguments = {},
                             const std::string& dispatch = "poll") {
    std::vector<std::string> command;
    const std::string n = std::to_string(nodes());
    if (way().launcher == Launcher::amrun) command = {amrun, "-n", n};
    if (way().launcher == Launcher::mpirun) command = {"mpirun", "--oversubscribe", "-n", n};
    command.push_back(example(name));
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command, {{"AM_DISPATCH=" + dispatch}});
  }
  static void expect_success(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    if (way().launcher != Launcher::mpirun) {
      EXPECT_THAT(outcome.err, IsEmpty());
    }
  }
  static Outcome run_well(const std::string& name, const std::vector<std::string>& arguments = {},
                          const std::string& dispatch = "poll") {
    Outcome outcome = run_example(name, arguments, dispatch);
    expect_success(outcome);
    return outcome;
  }
  /// One line of the program; the launcher's line, which says who failed, is its own.
  static void expect_refusal(const Outcome& outcome, int exit_code, const std::string& line) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(count(outcome.err, line), 1) << outcome.err;
    if (way().launcher == Launcher::mpirun) return;  // which says much
    EXPECT_THAT(outcome.out, IsEmpty());
    const int launcher_lines = way().launcher == Launcher::amrun ? 1 : 0;
    EXPECT_EQ(count(outcome.err, "\n"), 1 + launcher_lines) << outcome.err;
    EXPECT_EQ(count(outcome.err, "amrun: node"), launcher_lines) << outcome.err;
  }

  /// Each of these lines of arguments.
  static void expect_usage(const std::string& name, const std::string& says,
                           const std::vector<std::string>& arguments) {
    for (const std::string& line : arguments)
      expect_refusal(run_example(name, words_of(line)), 2, "usage: " + name + " " + says + "\n");
  }

  static void expect_line(const std::string& name, const std::string& arguments, const std::string& dispatch,
                          const std::string& says) {
    const Outcome outcome = run_well(name, words_of(arguments), dispatch);
    EXPECT_EQ(outcome.out, name + ": " + says + ": the same as a sequential run\n") << dispatch;
  }

  /// The three programs in C for one of the old interfaces, in every mode: each node says of round trips and of a transfer what is
  /// here, and one says how long they took.
  static void expect_programs(const std::string& interface, const std::string& of_round_trips,
                              const std::string& of_transfer) {
    for (const std::string& dispatch : every_mode) {
      const Outcome round_trips = run_well(interface + "_pingpong", {"50"}, dispatch);
      EXPECT_EQ(count(round_trips.out, of_round_trips), nodes()) << dispatch << round_trips.out;
      EXPECT_EQ(count(round_trips.out, "one takes "), 1) << round_trips.out;
      const Outcome transfer = run_well(interface + "_transfer", {"700"}, dispatch);
      EXPECT_EQ(count(transfer.out, of_transfer), nodes()) << dispatch << transfer.out;
      EXPECT_GT(count(transfer.out, " MB/s"), 0) << transfer.out;
      const Outcome queue = run_well(interface + "_work_queue", {"500"}, dispatch);
      EXPECT_THAT(queue.out,
                  MatchesRegex("500 numbers on " + std::to_string(nodes()) +
                               " nodes: 26143 steps, at most 143 for one: as one node alone finds\n"
                               "[0-9]+ numbers per second\n"));
    }
  }
  static void expect_programs_refuse(const std::string& interface, const std::string& most_kib) {
    expect_usage(interface + "_pingpong", "[round trips]; a number from 1 to 100000000", {"0", "5x"});
    expect_usage(interface + "_transfer", "[KiB]; a number from 1 to " + most_kib, {"0", "5x"});
    expect_usage(interface + "_work_queue", "[numbers]; a number from 1 to 10000000", {"0", "5x"});
  }

  static void expect_words(const std::string& text, const std::string& words, const std::string& different) {
    const TemporaryFile file(text);
    const Outcome outcome = run_well("word_count", {file.path()});
    EXPECT_THAT(outcome.out, HasSubstr(words + " words, " + different +
                                       " different: the same as one node alone counts\n"));
  }

 private:
  const process_test::OpenMpi open_mpi_;
};

/// In every way to start a job: one example of each kind of start. Others are run by mpirun on several hosts (several_hosts_test.cpp).
class Starts : public Examples {};
/// Arguments that are refused: alone, and by the launcher that says least itself.
class Refusals : public Examples {};

TEST_P(Starts, Hello) {
  const Outcome outcome = run_well("hello");
  const std::string n = std::to_string(nodes());
  for (int id = 0; id < nodes(); ++id) {
    const std::string node = "node " + std::to_string(id);
    EXPECT_EQ(count(outcome.out, "node 0 hears from " + node + ": hello, I am one of " + n + "\n"), 1)
        << outcome.out;
    EXPECT_EQ(count(outcome.out, node + " hears from node 0: welcome, " + node + "\n"), 1) << outcome.out;
  }
  EXPECT_EQ(count(outcome.out, "\n"), 2 * nodes()) << outcome.out;
}

TEST_P(Starts, HelloToNobody) { expect_refusal(run_example("hello", {"zzz"}), 2, "usage: hello\n"); }

TEST_P(Examples, FetchAdd) {
  constexpr int additions = 1500;
  const Outcome outcome = run_well("fetch_add", {std::to_string(additions)});
  const std::string sum = std::to_string(additions * nodes());
  for (int id = 0; id < nodes(); ++id) {
    EXPECT_THAT(outcome.out, HasSubstr("node " + std::to_string(id) + ": counter " + sum + ", expected " +
                                       sum + ": right; "));
  }
  EXPECT_EQ(count(outcome.out, "\n"), nodes()) << outcome.out;
}

TEST_P(Refusals, FetchAddOfNothing) {
  const std::string says = "[additions per counter]; a number above 0";
  expect_usage("fetch_add", says, {"0", "many", "-1", "5x", "99999999999999999999", "5 6"});
  expect_refusal(run_example("fetch_add", {""}), 2, "usage: fetch_add " + says + "\n");
}

TEST_P(Starts, BackgroundTransfer) {
  for (const std::string& dispatch : every_mode) {
    const Outcome outcome = run_well("background_transfer", {"1"}, dispatch);
    EXPECT_EQ(count(outcome.out, "pi is 3.141593; "), nodes()) << dispatch << outcome.out;
    EXPECT_EQ(count(outcome.out, " of 1024 blocks went while it computed, 0 values came wrong\n"), nodes())
        << dispatch << outcome.out;
    if (dispatch == "poll") {
      EXPECT_EQ(count(outcome.out, "; 0 of "), nodes()) << "nothing goes by itself";
    }
  }
}

TEST_P(Starts, OldInterfaces) {
  for (const std::string interface : {"cmam", "gam", "am2"}) {
    const Outcome outcome = run_well(interface + "_pingpong", {"50"});
    EXPECT_EQ(count(outcome.out, ": right\n"), nodes()) << outcome.out;
  }
}

TEST_P(Refusals, BackgroundTransferOfNothing) {
  expect_usage("background_transfer", "[MiB]; a number from 1 to 1024", {"0", "x", "1025"});
}

TEST_P(Examples, WordCount) {
  expect_words("The cat and the dog; AND the end.\n", "8", "5");
  const TemporaryFile file("two One two one TWO");
  EXPECT_THAT(run_example("word_count", {file.path()}).out,
              HasSubstr("       3  two\n       2  one\n5 words"));
}

TEST_P(Examples, WordCountOfOddFiles) {
  expect_words("", "0", "0");
  expect_words("\n \t!", "0", "0");
  expect_words("word", "1", "1");
  expect_words(std::string(100'000, 'a'), "1", "1");  // longer than a packet, and in every node's part
}

TEST_P(Examples, WordCountOfGarbage) {
  test::Random random(test::seed());
  std::string garbage(200'000, '\0');
  for (char& c : garbage) c = static_cast<char>(random());
  const TemporaryFile file(garbage);
  const Outcome outcome = run_well("word_count", {file.path()});
  EXPECT_THAT(outcome.out, HasSubstr(": the same as one node alone counts\n"));
}

TEST_P(Refusals, WordCountOfNoFile) {
  for (const char* path : {"/no/such/file", "/"}) {
    expect_end(run_example("word_count", {path}), 1,
               AllOf(HasSubstr("word_count: node "), HasSubstr(std::string("cannot read ") + path + "\n")));
  }
  expect_usage("word_count", "FILE", {"", "/etc/passwd /etc/passwd"});
}

TEST_P(Examples, Life) {
  for (const char* rows : {"4", "37"}) {
    const Outcome outcome = run_well("life", {rows, "41", "23"});
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("life: " + std::string(rows) + " x 41 torus on " +
                                             std::to_string(nodes()) + " nodes, 23 generations: "),
                                   HasSubstr(" generations per second; the same as a sequential run\n")));
    EXPECT_EQ(count(outcome.out, "\n"), 1) << outcome.out;
  }
}

TEST_P(Refusals, LifeOfNothing) {
  expect_usage("life",
               "[rows] [columns] [generations]; at least one row per node (" + std::to_string(nodes()) +
                   "), at most 2^30 cells",
               {std::to_string(nodes() - 1) + " 8 8", "8 0 8", "8 8 0", "8 8 8 8", "many", "8x", "-8 8 8",
                "8 99999999999999999999", "4611686018427387904 8"});
}

TEST_P(Examples, ProgramsForOldInterfaces) {
  expect_programs("cmam", ": right\n", " by a segment and by a port, 0 bytes wrong: right\n");
  expect_programs("gam", "50 round trips, 50 requests of the neighbour: right\n",
                  " there, back and fetched, 0 values came wrong\n");
  expect_programs("am2", "50 round trips, sum 39200: right\n",
                  "700 KiB there, back, and fetched again, 0 values came wrong\n");
}
TEST_P(Refusals, ProgramsForOldInterfacesOfNothing) {
  expect_programs_refuse("cmam", "1048576");
  expect_programs_refuse("gam", "262144");
  expect_programs_refuse("am2", "262144");
}

TEST_P(Examples, Em3d) {
  const std::string n = std::to_string(nodes());
  for (const std::string version : {"plain", "ghost", "bundled"}) {
    for (const std::string& places : {n, std::string("97")}) {
      for (const std::string& dispatch : every_mode) {
        expect_line("em3d", places + " " + version + " 3", dispatch,
                    "2 x " + places + " places of degree 20 on " + n + " nodes, 3 steps, " + version);
      }
    }
  }
}

TEST_P(Refusals, Em3dOfNothing) {
  expect_usage("em3d",
               "[places] [plain|ghost|bundled] [steps] [--time]; at least one place per node (" +
                   std::to_string(nodes()) + "), at most 131072, and at most 1000 steps",
               {std::to_string(nodes() - 1), "-8", "8x", "131073", "8 bundle", "8 plain 0", "8 plain 1001",
                "8 plain 2 2", "--fast"});
}

TEST_P(Examples, Sorts) {
  const std::string n = std::to_string(nodes());
  for (const std::string name : {"sample_sort", "radix_sort"}) {
    for (const std::string& keys : {n, std::to_string(nodes() + 1), std::string("3001")}) {
      for (const std::string& dispatch : every_mode) {
        expect_line(name, keys, dispatch, keys + " keys on " + n + " nodes");
      }
    }
  }
}

TEST_P(Refusals, SortsOfNothing) {
  for (const std::string name : {"sample_sort", "radix_sort"})
    expect_usage(
        name, "[keys] [--time]; at least one key per node (" + std::to_string(nodes()) + "), at most 4194304",
        {std::to_string(nodes() - 1), "many", "-8", "4194305", "8 8", "--fast"});
}

// The values were computed by another program, which has nothing in common with these but how the problem is made.
TEST_P(Examples, ProgramsWithKnownValues) {
  for (const std::string& dispatch : every_mode) {
    expect_line("matrix_multiply", "1", dispatch, "1 x 1, the values' sum is 15");
    expect_line("matrix_multiply", "7", dispatch, "7 x 7, the values' sum is 801");
    expect_line("matrix_multiply", "67", dispatch, "67 x 67, the values' sum is 59233");
    expect_line("components", "1", dispatch, "mesh 1 x 1, components 1, vertices of the largest 1");
    expect_line("components", "5", dispatch, "mesh 5 x 5, components 3, vertices of the largest 13");
    expect_line("components", "33", dispatch, "mesh 33 x 33, components 108, vertices of the largest 755");
    expect_line("dataflow", "1", dispatch, "queens 1, solutions 1");
    expect_line("dataflow", "3", dispatch, "queens 3, solutions 0");
    expect_line("dataflow", "9", dispatch, "queens 9, solutions 352");
  }
}

TEST_P(Refusals, SizesThatAreNone) {
  const std::vector<std::pair<std::string, std::string>> programs = {
      {"matrix_multiply", "[size] [--time]; a number from 1 to 1024"},
      {"components", "[side] [--time]; a number from 1 to 2048"},
      {"dataflow", "[queens] [--time]; a number from 1 to 14"}};
  for (const auto& [name, says] : programs) {
    expect_usage(
        name, says,
        {"0", "-1", "many", "5x", "2049", "99999999999999999999", "5 6", "--time 5 --time", "--times"});
    expect_refusal(run_example(name, {""}), 2, "usage: " + name + " " + says + "\n");
  }
}

TEST_P(Examples, TimesGoToStandardError) {
  for (const std::string name : {"em3d", "sample_sort", "radix_sort"}) {
    const Outcome outcome = expect_end(run_example(name, {"64", "--time"}), 0);
    EXPECT_EQ(count(outcome.err, name + ": sequential "), 1) << outcome.err;
    EXPECT_EQ(count(outcome.err, " times as fast\n"), 1) << outcome.err;
    EXPECT_EQ(count(outcome.out, ": the same as a sequential run\n"), 1) << outcome.out;
    EXPECT_EQ(count(outcome.out, "\n"), 1) << outcome.out;
  }
}

TEST_P(Examples, TimesOnlyWhenAsked) {
  for (const std::string name : {"matrix_multiply", "components", "dataflow"}) {
    const Outcome plain = run_well(name, {"8"});
    expect_end(run_example(name, {"--time", "8"}), 0,
               AllOf(HasSubstr(name + ": "), HasSubstr(" times as fast (")), plain.out);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Starts,
                         testing::Values(Way{Launcher::none, 1}, Way{Launcher::amrun, 1},
                                         Way{Launcher::amrun, 2}, Way{Launcher::amrun, 4},
                                         Way{Launcher::mpirun, 4}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Ways, Examples,
                         testing::Values(Way{Launcher::none, 1}, Way{Launcher::amrun, 2},
                                         Way{Launcher::amrun, 4}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Ways, Refusals, testing::Values(Way{Launcher::none, 1}, Way{Launcher::amrun, 4}),
                         name_of);

}  // namespace process_test::examples_test
