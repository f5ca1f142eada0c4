// What nodes of amrun read and write, with and without labels, and what else they inherit: environment, descriptors, limits.

#include "process/amrun_job.hpp"
#include "process/surroundings.hpp"

namespace amrun_test::amrun_streams_test {

using namespace testing;

const JoinedRole read_input("read_input", [](const Node& node) {
  std::string text;
  char buffer[256];
  for (ssize_t got = 0; (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  Node::print("node " + std::to_string(node.rank()) + " read <" + text + ">");
});

// Numbered lines of many lengths on both streams, in pieces that end anywhere.
const Role write_lines("write_lines", [](const Arguments& arguments) {
  const Node node = Node::joined();
  const int lines = std::stoi(arguments.at(0));
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    std::string text;
    for (int line = 0; line < lines; ++line) {
      text += std::to_string(line) + " " + std::string(static_cast<std::size_t>(line * 7 % 300), 'x') + "\n";
    }
    const std::size_t piece_bytes = 1000 + 37 * node.rank();
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(fd, text.data() + at, std::min(piece_bytes, text.size() - at));
      if (written < 0) return 4;
      at += static_cast<std::size_t>(written);
    }
  }
  node.leave();
  return 0;
});

const JoinedRole write_partial_line("write_partial_line",
                                    [](const Node&) { std::fputs("whole\nno end", stdout); });

constexpr std::string_view flood_line = "the quick brown fox jumps over the lazy dog\n";

// So many thousand lines; then node 0 waits for the end of its input.
const Role flood("flood", [](const Arguments& arguments) {
  const Node node = Node::joined();
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += flood_line;
  for (long left = std::stol(arguments.at(0)); left > 0; --left) {
    if (write(STDOUT_FILENO, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) return 4;
  }
  if (node.rank() == 0 && std::getchar() != EOF) return 5;
  node.leave();
  return 0;
});

// Node 1 dies as soon as it has filled its output.
const Role flood_and_die("flood_and_die", [] {
  const Node node = Node::joined();
  node.wait_for_all();
  fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
  const std::string line(1000, 'y');
  while (write(STDOUT_FILENO, line.data(), line.size()) > 0) {
  }
  if (node.rank() == 1) raise(SIGKILL);
  fcntl(STDOUT_FILENO, F_SETFL, 0);
  for (;;) (void)!write(STDOUT_FILENO, line.data(), line.size());
});

const JoinedRole show_environment("show_environment", [](const Node&) {
  std::string line = "environment:";
  for (const char* name : {"AM_RANK", "AM_SIZE", "AM_STATS", "AMRUN_TEST"}) {
    const char* value = std::getenv(name);
    line += std::string(" ") + name + "=" + (value != nullptr ? value : "");
  }
  Node::print(line);
});

// Descriptors beyond the standard ones, by what they are.
const JoinedRole show_descriptors("show_descriptors", [](const Node&) {
  std::vector<std::string> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone && std::stoi(entry.path().filename()) > 2 && !what.starts_with("/proc/")) open.push_back(what);
  }
  std::ostringstream line;
  line << "descriptors " << open.size() << ":";
  for (const std::string& what : open) line << " " << what;
  Node::print(line.str());
});

// Node 0 starts a job of its own, whose nodes show what they have.
const Role start_inner_job("start_inner_job", [](const Arguments& arguments) {
  const Node node;
  // Descriptors are inherited unless somebody minds; joining minds, this node does not.
  fcntl(std::stoi(std::getenv("AM_HOST_MEMORY_FD")), F_SETFD, 0);
  node.join();
  int status = 0;
  if (node.rank() == 0) {
    const std::string command = AM_BIN_DIR "/amrun -n 2 " + this_program() + " --node " + arguments.at(0);
    status = std::system(command.c_str());
  }
  node.leave();
  return status == 0 ? 0 : 5;
});

const JoinedRole show_limits_and_signals("show_limits_and_signals", [](const Node&) {
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  int blocked = 0;
  for (int number = 1; number < SIGRTMIN; ++number) blocked += sigismember(&mask, number) == 1 ? 1 : 0;
  struct sigaction pipe;
  sigaction(SIGPIPE, nullptr, &pipe);
  Node::print("files " + std::to_string(sysconf(_SC_OPEN_MAX)) + " blocked " + std::to_string(blocked) +
              " pipe " + (pipe.sa_handler == SIG_DFL ? "default" : "changed"));
});

// What the shell or ctest left open.
void close_inherited() { closefrom(3); }

TEST(AmrunStreams, InputGoesToNodeZero) {
  Amrun amrun(job({"-n", "3"}, {"read_input"}));
  amrun.write_input("two\nlines");
  amrun.close_input();
  EXPECT_EQ(amrun.exit_code(), 0);
  EXPECT_THAT(amrun.out(), AllOf(HasSubstr("node 0 read <two\nlines>\n"), HasSubstr("node 1 read <>\n"),
                                 HasSubstr("node 2 read <>\n")));
}

TEST(AmrunStreams, OutputIsAsItWasWithoutLabels) {
  expect_end(run_job({"-n", "1"}, {"write_partial_line"}), 0, IsEmpty(), "whole\nno end");
}

TEST(AmrunStreams, LabelsNameTheNode) {
  const process_test::Outcome outcome = run_job({"-n", "3", "-l"}, {"write_partial_line"});
  expect_end(outcome, 0, IsEmpty());
  EXPECT_THAT(process_test::sorted_lines(outcome.out),
              ElementsAre("[0] no end", "[0] whole", "[1] no end", "[1] whole", "[2] no end", "[2] whole"));
}

// Every line whole, none lost, each node's in order, each stream for itself.
TEST(AmrunStreams, LabelledLinesAreWholeUnderLoad) {
  constexpr int nodes = 16;
  constexpr int lines = 3000;
  const Outcome amrun =
      expect_end(run_job({"-n", std::to_string(nodes), "-l"}, {"write_lines", std::to_string(lines)}), 0);
  for (const std::string& text : {amrun.out, amrun.err}) {
    std::vector<int> next(nodes, 0);
    for (const std::string& line : lines_of(text)) {
      int node = -1;
      int number = -1;
      ASSERT_EQ(std::sscanf(line.c_str(), "[%d] %d ", &node, &number), 2) << line;
      ASSERT_TRUE(node >= 0 && node < nodes) << line;
      const std::string rest(static_cast<std::size_t>(number * 7 % 300), 'x');
      std::ostringstream expected;
      expected << "[" << node << "] " << number << " " << rest;
      ASSERT_EQ(line, expected.str());
      ASSERT_EQ(number, next[static_cast<std::size_t>(node)]++) << line;
    }
    EXPECT_EQ(next, std::vector<int>(nodes, lines));
  }
}

TEST(AmrunStreams, LabelledOutputTakesBoundedMemory) {
  constexpr std::size_t thousands = 2300;  // of lines from each node: 100 MB
  Amrun amrun(job({"-n", "2", "-l"}, {"flood", std::to_string(thousands)}));
  constexpr std::size_t total = 2 * thousands * 1000 * (flood_line.size() + std::string_view("[0] ").size());
  for (std::size_t got = 0; got < total; got += amrun.take_out().size()) ASSERT_TRUE(amrun.prints("\n"));
  // Node 0 is still there, and so is amrun.
  std::ifstream status("/proc/" + std::to_string(amrun.pid()) + "/status");
  long peak_kib = -1;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) peak_kib = std::stol(line.substr(6));
  }
  EXPECT_GT(peak_kib, 0);
  EXPECT_LT(peak_kib, 32 * 1024);
  amrun.close_input();
  EXPECT_EQ(amrun.exit_code(), 0);
}

TEST(AmrunStreams, AReaderThatStandsStillDoesNotHideADeath) {
  Amrun amrun(job({"-n", "2", "-l"}, {"flood_and_die"}));
  EXPECT_TRUE(amrun.complains_unread("was killed by signal 9 (Killed)\n"));
  EXPECT_EQ(amrun.exit_code(), 128 + SIGKILL);
}

TEST(AmrunStreams, AReaderThatGoesAwayEndsTheJob) {
  Amrun amrun(job({"-n", "2", "-l"}, {"flood", "1000000000"}));
  ASSERT_TRUE(amrun.prints("dog\n"));
  amrun.close_output();
  EXPECT_EQ(amrun.exit_code(), 128 + SIGPIPE);
  EXPECT_THAT(amrun.err(), HasSubstr("was killed by signal 13 (Broken pipe)\n"));
}

TEST(AmrunStreams, AFullDeviceIsNotSuccess) {
  Amrun amrun(job({"-n", "2", "-l"}, {"write_partial_line"}),
              {.in_child = [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); }});
  expect_end(amrun.outcome(), Ne(0),
             HasSubstr("amrun: cannot write standard output: No space left on device\n"));
}

TEST(AmrunStreams, MoreNodesThanDescriptors) {
  const Outcome amrun = expect_end(run_job({"-n", "64", "-l"}, {"write_partial_line"},
                                           {.in_child = [] { process_test::limit(RLIMIT_NOFILE, 32); }}),
                                   0);
  EXPECT_EQ(lines_of(amrun.out).size(), 128u);
}

TEST(AmrunStreams, WorksWithoutStandardDescriptors) {
  expect_end(run_job({"-n", "2"}, {"read_input"},
                     {.in_child =
                          [] {
                            close(STDIN_FILENO);
                            close(STDOUT_FILENO);
                          }}),
             0, IsEmpty());
}

TEST(AmrunStreams, TheEnvironmentIsPassedOnButForThePlaceInAnOuterJob) {
  Amrun amrun(job({"-n", "2"}, {"show_environment"}),
              {{"AMRUN_TEST=passed on", "AM_STATS=0", "AM_RANK=17", "AM_SIZE=18"}});
  expect_end(amrun.outcome(), 0, _,
             AllOf(HasSubstr("environment: AM_RANK=0 AM_SIZE=2 AM_STATS=0 AMRUN_TEST=passed on\n"),
                   HasSubstr("environment: AM_RANK=1 AM_SIZE=2 AM_STATS=0 AMRUN_TEST=passed on\n")));
}

TEST(AmrunStreams, NodesGetNoDescriptorsOfAmrun) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"-n", "3"}, {"-n", "3", "-l"}}) {
    const Outcome amrun =
        expect_end(run_job(options, {"show_descriptors"}, {.in_child = close_inherited}), 0);
    EXPECT_THAT(lines_of(amrun.out), Each(HasSubstr("descriptors 1: /memfd:libam")));
  }
}

TEST(AmrunStreams, AJobMayRunInsideAJob) {
  expect_end(run_job({"-n", "3"}, {"start_inner_job", "show_environment"}), 0, _,
             AllOf(HasSubstr("AM_RANK=0 AM_SIZE=2"), HasSubstr("AM_RANK=1 AM_SIZE=2")));
  const Outcome descriptors = expect_end(
      run_job({"-n", "3"}, {"start_inner_job", "show_descriptors"}, {.in_child = close_inherited}), 0);
  EXPECT_THAT(lines_of(descriptors.out), Each(HasSubstr("descriptors 1: ")));
}

TEST(AmrunStreams, NodesGetLimitsAndSignalsAsAmrunGotThem) {
  const Outcome amrun = expect_end(run_job({"-n", "64", "-l"}, {"show_limits_and_signals"},
                                           {.in_child = [] { process_test::limit(RLIMIT_NOFILE, 50); }}),
                                   0);
  EXPECT_THAT(lines_of(amrun.out), Each(HasSubstr("files 50 blocked 0 pipe default")));
}

}  // namespace amrun_test::amrun_streams_test
