// Jobs that Open MPI's mpirun starts.
#include <sys/stat.h>
#include <am/error.hpp>
#include <thread>

#include "core/job/job.hpp"
#include "core/settings/settings.hpp"
#include "process/open_mpi.hpp"
#include "process/pmix_leaks.hpp"

namespace am::core::pmix_test {

using process_test::count;
using process_test::expect_end;
using process_test::Outcome;
using namespace testing;

// The node.

/// What this process does with each signal: the business of the program, not of its libraries.
std::vector<void (*)(int)> signal_actions() {
  std::vector<void (*)(int)> handlers;
  for (int number = 1; number < NSIG; ++number) {
    if (number >= 32 && number < SIGRTMIN) continue;  // the C library's own
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    handlers.push_back(action.sa_handler);
  }
  return handlers;
}

/// How many threads besides this one would take a SIGTERM that is sent to the process.
int threads_that_take_signals() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const auto blocked = std::stoull(line.substr(7), nullptr, 16);
      if ((blocked >> (SIGTERM - 1) & 1) == 0) ++count;
    }
  }
  return count;
}

/// Every node arrives once per step; true when all have.
bool arrive(const Job& job, std::uint32_t step) {
  std::atomic<std::uint32_t>& arrived = job.memory->board().job().joined;
  arrived.fetch_add(1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (arrived.load() < job.size * step) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

/// This program as a node.
std::string node() { return process_test::this_program() + " --node pmix"; }

const process_test::Role run_node(
    "pmix", process_test::Role::told, [](const process_test::Arguments& options) {
      const auto asked = [&](std::string_view option) { return std::ranges::count(options, option) != 0; };
      const auto handlers = signal_actions();
      const Job job = join_job(read_settings(environ));
      if (signal_actions() != handlers) throw Error("test", "joining changed what signals do", "");
      if (threads_that_take_signals() != 0) throw Error("test", "a thread of PMIx takes signals", "");
      if (!job.memory || job.memory->nodes() != job.size)
        throw Error("test", "the segment is not the job's", "");

      job.memory->board().card(job.id).pid = getpid();
      if (!arrive(job, 1)) throw Error("test", "the others are not in the same memory", "");
      std::set<std::int32_t> pids;
      for (NodeId id = 0; id < job.size; ++id) pids.insert(job.memory->board().card(id).pid);
      if (pids.size() != job.size) throw Error("test", "two nodes have one card", "");
      // One write: several nodes print into one pipe.
      const std::string line =
          "node " + std::to_string(job.id) + " of " + std::to_string(job.size) + ": " + job.found + ".\n";
      if (write(STDOUT_FILENO, line.data(), line.size()) < 0) return 1;

      if (asked("stay")) {
        if (options.size() > 1 && write(open(options[1].c_str(), O_WRONLY | O_CLOEXEC), "x", 1) != 1)
          return 1;
        for (;;) pause();
      }
      if (asked("start-another") && job.id == 1 && std::system(node().c_str()) == 0)
        return 1;  // NOLINT(cert-env33-c)
      if (!arrive(job, 2)) throw Error("test", "the others did not come to the end", "");
      if (job.leave) job.leave();
      if (asked("leave-twice") && job.leave) job.leave();
      return 0;
    });

// The tests.

class Mpirun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!process_test::OpenMpi::is_there()) GTEST_SKIP() << "mpirun is not installed";
  }
  static std::string command(const std::string& arguments) { return "mpirun --oversubscribe " + arguments; }
  /// What it has written, on both streams, is in `err`.
  static Outcome run(const std::string& arguments, const std::vector<std::string>& environment = {}) {
    Outcome outcome = process_test::run({"sh", "-c", command(arguments)}, {environment});
    outcome.err.insert(0, outcome.out);
    return outcome;
  }
  /// A good end, and so many nodes that say so.
  static void expect_nodes(int nodes, const std::string& found, const std::string& arguments) {
    const Outcome outcome = expect_end(run(arguments), 0);
    EXPECT_EQ(count(outcome.err, found), nodes) << outcome.err;
  }

  const process_test::OpenMpi open_mpi_;
};

TEST_F(Mpirun, NodesShareOneSegment) {
  const Outcome outcome = expect_end(run("-n 4 " + node()), 0);
  for (int id = 0; id < 4; ++id) {
    EXPECT_THAT(outcome.err, HasSubstr("node " + std::to_string(id) + " of 4: PMIx (namespace "));
  }
}

TEST_F(Mpirun, ManyNodes) { expect_nodes(24, " of 24: PMIx", "-n 24 " + node()); }

TEST_F(Mpirun, OneNodeIsAlone) { expect_nodes(1, "node 0 of 1: alone.", "-n 1 " + node()); }

TEST_F(Mpirun, DifferentProgramsMakeOneJob) {
  expect_nodes(3, " of 3: PMIx", "-n 1 " + node() + " : -n 2 " + node() + " leave-twice");
}

TEST_F(Mpirun, OneJobAfterTheOtherInTheSameNamespace) {
  expect_nodes(6, " of 3: PMIx", "-n 3 sh -c \"" + node() + " && " + node() + "\"");
}

TEST_F(Mpirun, TwoProgramsInOnePlaceAreAnError) {
  const Outcome outcome = run("-n 2 sh -c \"" + node() + " & " + node() + "; wait\"", {"AM_TIMEOUT=2s"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("of this job already"), HasSubstr("started twice")));
}

TEST_F(Mpirun, AProgramThatANodeStartsIsNotInItsPlace) {
  const Outcome outcome =
      expect_end(run("-n 2 " + node() + " start-another"), 0, HasSubstr("is node 1 of this job already"));
  EXPECT_EQ(count(outcome.err, " of 2: PMIx"), 2) << outcome.err;
}

TEST_F(Mpirun, NamesTheNodeThatDoesNotCome) {
  expect_end(run("-n 2 " + node() + " : -n 1 sleep 60", {"AM_TIMEOUT=2s"}), Ne(0),
             ContainsRegex("node(s 1 and)? 2 of 3 did not come within 2 s"));  // node 1 may be late
}

TEST_F(Mpirun, SaysThatTheFirstNodeDoesNotCome) {
  expect_end(run("-n 1 sleep 60 : -n 1 " + node(), {"AM_TIMEOUT=3s", "AM_REPORT_AFTER=1s"}), Ne(0),
             AllOf(HasSubstr("am: node 1 waits for node 0 to join since "),
                   HasSubstr("node 0 did not come within ")));
}

TEST_F(Mpirun, SingletonsAreAnError) {
  expect_end(run("-n 2 env -u PMIX_NAMESPACE -u PMIX_RANK " + node()), Ne(0),
             AllOf(HasSubstr("mpirun (OMPI_COMM_WORLD_SIZE=2) started 2 processes together"),
                   Not(HasSubstr("node 0 of 1"))));
}

TEST_F(Mpirun, AServerThatCannotBeReachedIsAnError) {
  expect_end(run("-n 2 env PMIX_SERVER_URI2=x PMIX_SERVER_URI21=x PMIX_SERVER_URI3=x "
                 "PMIX_SERVER_URI4=x PMIX_SERVER_URI41=x " +
                 node()),
             Ne(0), AllOf(HasSubstr("OMPI_COMM_WORLD_SIZE=2"), HasSubstr("PMIx server cannot be reached")));
}

/// The nodes hold this open for as long as they live, whatever mpirun does with their other files.
class Fifo : test::Pinned {
 public:
  Fifo() {
    EXPECT_EQ(mkfifo(path().c_str(), 0600), 0);
    fd_ = open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~Fifo() { close(fd_); }

  [[nodiscard]] std::string path() const { return folder_.in("fifo"); }
  /// What a node wrote, or 0 when all have ended, or '?' when nothing comes for a long time.
  [[nodiscard]] char next() const {
    pollfd polled{fd_, POLLIN, 0};
    char c = 0;
    if (poll(&polled, 1, 60'000) != 1) return '?';
    return read(fd_, &c, 1) == 1 ? c : '\0';
  }

 private:
  const process_test::TemporaryFolder folder_;
  int fd_ = -1;
};

TEST_F(Mpirun, NodesDoNotOutliveIt) {
  const Fifo fifo;
  const std::string arguments = "-n 2 " + node() + " stay " + fifo.path();
  const process_test::Running launcher({"sh", "-c", "exec " + command(arguments)});
  EXPECT_EQ(fifo.next(), 'x');
  EXPECT_EQ(fifo.next(), 'x');
  launcher.signal(SIGKILL);
  EXPECT_EQ(fifo.next(), '\0');
}

}  // namespace am::core::pmix_test
