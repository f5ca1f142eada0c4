// Jobs of a gang take turns on the same cores: none ever runs in another's turn, nor does it notice that it stood still.
#include <sys/mman.h>

#include <thread>

#include "core/node/engine.hpp"
#include "host/standstill.hpp"
#include "process/amrun_job.hpp"

namespace amrun_test::amrun_gang_test {

using process_test::TemporaryFile;
using namespace testing;

constexpr std::size_t most_jobs = 3;
constexpr std::chrono::milliseconds turn{20};
constexpr int turns_to_see = 5;

/// What processes of all jobs of a gang see: a file that the test makes.
struct Meeting {
  struct alignas(64) {
    std::atomic<std::uint64_t> beats;  // of whoever runs
    std::atomic<int> nodes_done;
  } jobs[most_jobs];
  std::atomic<bool> together;  // two jobs ran at once

  static Meeting& at(const std::string& file) {
    const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
    void* memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no meeting");
    close(fd);
    return *static_cast<Meeting*>(memory);
  }
};

/// In the eyes of one thread of a job.
class Turns {
 public:
  Turns(Meeting& meeting, std::size_t job) : meeting_(meeting), job_(job) {}

  /// Beats, and looks at the others: who beats between two looks runs beside us, unless a whole turn lay between them, or one that
  /// ended early with its job.
  void look() {
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    const auto before = others();
    for (int i = 0; i < 100; ++i) meeting_.jobs[job_].beats.fetch_add(1);
    const auto after = others();
    if (after != before && Clock::now() - began < turn && !others_end()) meeting_.together = true;
    if (after != seen_) ++seen_turns_;
    seen_ = after;
  }
  /// Times that others have beaten, or ended.
  [[nodiscard]] int seen() const { return seen_turns_; }

 private:
  [[nodiscard]] std::array<std::uint64_t, most_jobs> others() const {
    std::array<std::uint64_t, most_jobs> all{};
    for (std::size_t job = 0; job < most_jobs; ++job) {
      if (job != job_) all[job] = meeting_.jobs[job].beats.load();
    }
    return all;
  }
  [[nodiscard]] bool others_end() const {
    for (std::size_t job = 0; job < most_jobs; ++job) {
      if (job != job_ && meeting_.jobs[job].nodes_done > 0) return true;
    }
    return false;
  }

  Meeting& meeting_;
  const std::size_t job_;
  std::array<std::uint64_t, most_jobs> seen_{};
  int seen_turns_ = 0;
};

std::size_t number(const std::string& text) { return std::stoul(text); }

// FILE JOB JOBS: until each job has seen so many turns of others, this node and what it has started: a thread, and a daemon in a
// session of its own, which always has a child.
const Role take_turns("take_turns", [](const Arguments& arguments) {
  Meeting& meeting = Meeting::at(arguments.at(0));
  const std::size_t own = number(arguments.at(1));
  const std::size_t jobs = number(arguments.at(2));
  const Node node = Node::joined();
  node.wait_for_all();
  const auto others_go_on = [&] {
    for (std::size_t job = 0; job < jobs; ++job) {
      if (meeting.jobs[job].nodes_done.load() < static_cast<int>(node.size())) return true;
    }
    return false;
  };
  const auto run = [&] {
    Turns turns(meeting, own);
    while (turns.seen() < turns_to_see) turns.look();
    return turns;
  };
  if (fork() == 0) {
    setsid();
    Turns turns(meeting, own);
    for (;;) {  // amrun ends it
      if (fork() == 0) {
        turns.look();
        _exit(0);
      }
      waitpid(-1, nullptr, 0);
    }
  }
  std::thread beside([&] { run(); });
  Turns turns = run();
  beside.join();
  meeting.jobs[own].nodes_done.fetch_add(1);
  while (others_go_on()) turns.look();
  node.leave();
  return meeting.together ? 3 : 0;
});

// FILE JOB: until two jobs have run at once.
const Role run_together("run_together", [](const Arguments& arguments) {
  Meeting& meeting = Meeting::at(arguments.at(0));
  const Node node = Node::joined();
  Turns turns(meeting, number(arguments.at(1)));
  while (!meeting.together) turns.look();
  node.leave();
});

// FILE JOB: beats until the first job is done.
const Role beat("beat", [](const Arguments& arguments) {
  Meeting& meeting = Meeting::at(arguments.at(0));
  const Node node = Node::joined();
  while (meeting.jobs[0].nodes_done == 0) meeting.jobs[number(arguments.at(1))].beats.fetch_add(1);
  node.leave();
});

// FILE: node 0 waits for a message for 750 ms of its job's time.
const Role wait_for_long("wait_for_long", [](am::Node& node, const Arguments& arguments) {
  const am::host::JobHeader& header = node.engine().board().job();
  const std::uint64_t end_ns = am::host::running_ns(header) + 750'000'000;
  while (node.id() == 1 && am::host::running_ns(header) < end_ns) sched_yield();
  node.barrier();
  Meeting::at(arguments.at(0)).jobs[0].nodes_done = 1;
});

// FILE JOB: a child that the program has stopped stays stopped.
const Role keep_a_child_stopped("keep_a_child_stopped", [](const Arguments& arguments) {
  Meeting& meeting = Meeting::at(arguments.at(0));
  const Node node = Node::joined();
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  Turns turns(meeting, number(arguments.at(1)));
  while (turns.seen() < turns_to_see) turns.look();
  const bool went_on = waitpid(child, &status, WNOHANG | WCONTINUED) != 0;
  kill(child, SIGKILL);
  meeting.jobs[0].nodes_done = 1;
  node.leave();
  return went_on ? 4 : 0;
});

const JoinedRole wait_for_input("wait_for_input", [](const Node&) { (void)std::getchar(); });

/// 'R', 'S', 'T' and so on.
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  return text.at(text.rfind(") ") + 2);
}

class AmrunGang : public Test {
 protected:
  AmrunGang() { std::filesystem::resize_file(path_, sizeof(Meeting)); }

  /// A gang of this program's roles.
  static std::vector<std::string> gang(const std::string& turns,
                                       const std::vector<std::vector<std::string>>& jobs) {
    std::vector<std::string> all{"--gang", turns};
    for (const auto& job : jobs) {
      if (&job != jobs.data()) all.emplace_back(":");
      all.insert(all.end(), job.begin(), job.end());
    }
    return all;
  }
  [[nodiscard]] const std::string& file() const { return path_; }
  [[nodiscard]] Meeting& meeting() const { return Meeting::at(path_); }

 private:
  TemporaryFile file_{""};
  const std::string path_ = file_.path();
};

TEST_F(AmrunGang, NeverRunsTwoJobsAtOnce) {
  const auto one = [&](const char* number) { return job({"-n", "3"}, {"take_turns", file(), number, "2"}); };
  expect_end(Amrun(gang("20ms", {one("0"), one("1")})).outcome(), 0, IsEmpty());
}

TEST_F(AmrunGang, WithoutItJobsRunAtOnce) {
  Amrun one(job({"-n", "1", "--bind", "none"}, {"run_together", file(), "0"}));
  Amrun other(job({"-n", "1", "--bind", "none"}, {"run_together", file(), "1"}));
  EXPECT_EQ(one.exit_code(), 0);
  EXPECT_EQ(other.exit_code(), 0);
}

// Of the time a third is its own; all of it would be too long.
TEST_F(AmrunGang, DeadlinesDoNotCountWhileAJobStandsStill) {
  Amrun amrun(
      gang("50ms", {job({"-n", "2", "--watchdog=1500ms"}, {"wait_for_long", file()}),
                    job({"-n", "2"}, {"beat", file(), "1"}), job({"-n", "2"}, {"beat", file(), "2"})}),
      {{"AM_TIMEOUT=1500ms", "AM_REPORT_AFTER=1500ms"}});
  expect_end(amrun.outcome(), 0, IsEmpty());
}

TEST_F(AmrunGang, WhatTheProgramHasStoppedStaysSo) {
  expect_end(Amrun(gang("20ms", {job({"-n", "1"}, {"keep_a_child_stopped", file(), "0"}),
                                 job({"-n", "1"}, {"beat", file(), "1"})}))
                 .outcome(),
             0, IsEmpty());
}

TEST_F(AmrunGang, AJobThatEndsLeavesItsTurnsToTheOthers) {
  const auto failing = job({"-n", "2"}, {"fail", "1", "exit", "7"});
  const auto successful = job({"-n", "2"}, {"succeed"});
  const auto line = [](const std::string& job) {
    return MatchesRegex("amrun: job " + job + ": node 1 .* exited with code 7\n");
  };
  expect_end(Amrun(gang("1h", {failing, successful})).outcome(), 7, line("1"));
  expect_end(Amrun(gang("1h", {successful, successful, failing})).outcome(), 7, line("3"));
}

TEST_F(AmrunGang, ANodeThatIsKilledWhileItStandsStillEndsItsJobAlone) {
  Amrun amrun(gang("20ms", {job({"-n", "1"}, {"wait_for_input"}), job({"-n", "2"}, {"hang"})}));
  ASSERT_TRUE(amrun.prints("pid ", 2) && amrun.prints("\n", 2));
  const pid_t node = pids_in(amrun.out()).at(0);
  while (state_of(node) != 'T') sched_yield();
  kill(node, SIGKILL);
  EXPECT_TRUE(amrun.complains("was killed by signal 9"));
  amrun.write_input("\n");
  EXPECT_EQ(amrun.exit_code(), 128 + SIGKILL);
  EXPECT_THAT(amrun.err(), MatchesRegex("amrun: job 2: node [01] .* was killed by signal 9 \\(Killed\\)\n"));
}

TEST_F(AmrunGang, AnInterruptReachesAll) {
  Amrun amrun(gang("20ms", {job({"-n", "2"}, {"hang"}), job({"-n", "2"}, {"hang"})}));
  ASSERT_TRUE(amrun.prints("pid ", 4));
  amrun.signal(SIGINT);
  EXPECT_EQ(amrun.status(), SIGINT);
  EXPECT_THAT(lines_of(amrun.err()),
              UnorderedElementsAre("amrun: job 1: the job was ended by signal 2 (Interrupt)",
                                   "amrun: job 2: the job was ended by signal 2 (Interrupt)"));
}

TEST_F(AmrunGang, AnInterruptKeepsJobsFromStarting) {
  Amrun amrun(gang("1h", {job({"-n", "2"}, {"hang"}), job({"-n", "2"}, {"hang"})}));
  ASSERT_TRUE(amrun.prints("pid ", 2));
  amrun.signal(SIGINT);
  EXPECT_EQ(amrun.status(), SIGINT);
  EXPECT_THAT(amrun.err(), HasSubstr("amrun: job 2: not started, because of signal 2 (Interrupt)\n"));
}

TEST_F(AmrunGang, AKeyOfTheTerminalComesOnceAndASecondInterruptKills) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  Amrun amrun(
      gang("20ms", {job({"-n", "2"}, {"name_signals", "stay"}), job({"-n", "2"}, {"name_signals", "stay"})}),
      {.in_child = [terminal] {
        setsid();
        dup2(open(ptsname(terminal), O_RDWR), STDIN_FILENO);  // becomes the controlling terminal
      }});
  ASSERT_TRUE(amrun.prints("ready", 4));
  ASSERT_EQ(write(terminal, "\x03", 1), 1);  // Ctrl-C
  EXPECT_TRUE(amrun.prints("signal 2.", 4));
  amrun.signal(SIGUSR1);
  EXPECT_TRUE(amrun.prints("signal 10.", 4));
  amrun.signal(SIGINT);
  EXPECT_EQ(amrun.status(), SIGINT);
  EXPECT_EQ(process_test::count(amrun.out(), "signal 2."), 4);
  close(terminal);
}

TEST_F(AmrunGang, StandsStillAsAWholeAndGoesOn) {
  const auto one = [&](const char* number) { return job({"-n", "2"}, {"take_turns", file(), number, "2"}); };
  Amrun amrun(gang("20ms", {one("0"), one("1")}));
  while (meeting().jobs[1].beats == 0) sched_yield();
  amrun.signal(SIGTSTP);
  int status = 0;
  ASSERT_EQ(waitpid(amrun.pid(), &status, WUNTRACED), amrun.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto beats = [&] { return meeting().jobs[0].beats + meeting().jobs[1].beats; };
  const std::uint64_t before = beats();
  for (int i = 0; i < 10000; ++i) sched_yield();
  EXPECT_EQ(beats(), before);
  amrun.signal(SIGCONT);
  expect_end(amrun.outcome(), 0, IsEmpty());
}

TEST_F(AmrunGang, KillingAmrunLeavesNothingThatStandsStill) {
  const std::string wrapped = this_program() + " --node hang & " + this_program() + " --node hang; true";
  Amrun amrun(gang("20ms", {{"-n", "2", "sh", "-c", wrapped}, {"-n", "2", "sh", "-c", wrapped}}));
  ASSERT_TRUE(amrun.prints("pid ", 8) && amrun.prints("\n", 8));
  std::vector<std::unique_ptr<Watched>> nodes;
  for (const pid_t pid : pids_in(amrun.out())) nodes.push_back(std::make_unique<Watched>(pid));
  amrun.signal(SIGKILL);
  EXPECT_EQ(amrun.status(), SIGKILL);
  for (const auto& node : nodes) EXPECT_TRUE(node->ends());
}

TEST_F(AmrunGang, LinesNameTheirJobAndTheFirstHasTheInput) {
  Amrun amrun(
      gang("1h", {{"-n", "2", "-l", "cat"}, {"-n", "1", "-l", "cat"}, {"-l", "-n", "1", "echo", "three"}}));
  amrun.write_input("one\n");
  amrun.close_input();
  const std::string line = "amrun: job [123]: nobody joined the job: .* ended without a call of am::start\n";
  expect_end(amrun.outcome(), 0, MatchesRegex(line + line + line), "[1:0] one\n[3:0] three\n");
}

TEST_F(AmrunGang, RefusesWhatIsNone) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& line) {
    process_test::expect_refusal(Amrun(arguments).outcome(), 2,
                                 AllOf(StartsWith("amrun: "), HasSubstr(line)));
  };
  refused({"--gang", "50ms", "true"}, "a gang has two jobs or more");
  for (const std::string length : {"0", "50", "-1ms", "1us", "2h", "99999999999999999999s", ""})
    refused({"--gang", length, "true", ":", "true"},
            "the length of a turn, from 1ms to 1h, for example 50ms, not \"");
  refused({"--gang", "50ms", "--hosts", "a", "true", ":", "true"}, "--gang is for jobs on this machine");
  refused({"--gang", "50ms", "true", ":", "--hosts", "a", "true"},
          "job 2 of the gang: --gang is for jobs on");
  refused({"--gang", "50ms", "true", ":"}, "job 2 of the gang: no program to start");
  refused({"--gang", "50ms", ":", "true"}, "no program to start");
  refused({"--gang", "50ms", "true", ":", ":", "true"}, "job 2 of the gang: no program to start");
  refused({"--gang", "50ms", "true", ":", "--gang", "1s", "true"}, "job 2 of the gang: --gang, --help and");
  process_test::expect_refusal(Amrun({"--gang", "50ms", "true", ":", "./no"}).outcome(), 127,
                               HasSubstr("./no"));
}

}  // namespace amrun_test::amrun_gang_test
