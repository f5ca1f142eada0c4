#include "amrun/gang.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "amrun/descendants.hpp"
#include "amrun/ending.hpp"
#include "amrun/environment.hpp"
#include "amrun/fault.hpp"
#include "amrun/launch.hpp"
#include "amrun/leftovers.hpp"
#include "amrun/one_job.hpp"
#include "amrun/program.hpp"
#include "amrun/say.hpp"
#include "amrun/signals.hpp"
#include "amrun/whole_job.hpp"
#include "host/clock.hpp"
#include "host/memory.hpp"

namespace amrun {
namespace {

// In which all jobs run after a signal that ends.
constexpr std::uint64_t hearing_ns = am::host::second_ns;
// Between looks whether a job whose turn is over has started all its nodes.
constexpr std::uint64_t look_at_start_ns = 1'000'000;

// What a keeper tells the head, in memory that both have.
struct State {
  std::atomic<bool> started;
  std::atomic<bool> ending;
};

struct Unmapped {
  void operator()(State* state) const { munmap(state, sizeof *state); }
};

std::unique_ptr<State, Unmapped> shared_state() {
  void* memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Fault(failed, "no memory for a gang: " + system_text(errno));
  return std::unique_ptr<State, Unmapped>(new (memory) State{});
}

struct Job {
  explicit Job(Options its) : options(std::move(its)), state(shared_state()) {}

  Options options;
  std::unique_ptr<State, Unmapped> state;
  std::shared_ptr<am::host::Memory> memory{};  // from here on while it has a keeper
  pid_t keeper = 0;
  std::optional<WholeJob> whole{};
  bool over = false;
  bool told = false;  // that a process of it does not stop

  [[nodiscard]] bool runs() const { return keeper != 0 && !over; }
};

bool ends_jobs(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

class Gang {
 public:
  Gang(std::vector<Options> jobs, std::uint64_t turn_ns) : turn_ns_(turn_ns), current_(jobs.size() - 1) {
    for (Options& options : jobs) jobs_.emplace_back(std::move(options));
  }
  // Whatever still runs when something went wrong is killed.
  ~Gang() {
    for (const Job& job : jobs_) {
      if (!job.runs()) continue;
      kill(job.keeper, Signals::notice());
      waitpid(job.keeper, nullptr, 0);
    }
    leftovers_.end();
  }
  Gang(const Gang&) = delete;
  Gang& operator=(const Gang&) = delete;

  JobEnd run() {
    take_turn();
    while (!all_over()) {
      if (const auto info = signals_.wait(time_to_wait())) {
        take(*info);
      } else if (time_to_wait() == 0) {  // else it was stopped and continued
        turn_is_over();
      }
    }
    return end_;
  }

 private:
  // -- turns -----------------------------------------------------------------------------------------------------------

  // Who takes turns.
  [[nodiscard]] static bool waits_or_runs(const Job& job) { return !job.over && !job.state->ending; }
  [[nodiscard]] bool all_over() const { return std::ranges::all_of(jobs_, &Job::over); }

  [[nodiscard]] std::optional<std::uint64_t> time_to_wait() const {
    if (!all_run_ && std::ranges::count_if(jobs_, waits_or_runs) < 2) return std::nullopt;
    const std::uint64_t now_ns = am::host::monotonic_ns();
    return turn_ends_ns_ - std::min(now_ns, turn_ends_ns_);
  }

  // A keeper would start further nodes behind our back.
  [[nodiscard]] bool any_is_starting() const {
    return std::ranges::any_of(jobs_, [](const Job& job) { return job.runs() && !job.state->started; });
  }

  void turn_is_over() {
    if (any_is_starting()) {
      turn_ends_ns_ = am::host::monotonic_ns() + look_at_start_ns;
      return;
    }
    for (Job& job : jobs_) {
      if (all_run_ || &job == &jobs_[current_]) stop(job);
    }
    all_run_ = false;
    take_turn();
  }

  // The others stand still, or run all.
  void take_turn() {
    for (std::size_t tried = 0; tried < jobs_.size(); ++tried) {
      current_ = (current_ + 1) % jobs_.size();
      if (!waits_or_runs(jobs_[current_])) continue;
      go_on(jobs_[current_], false);
      break;
    }
    turn_ends_ns_ = am::host::monotonic_ns() + turn_ns_;
  }

  void stop(Job& job) {
    if (!job.runs() || job.state->ending) return;
    if (!job.whole->stop() && !std::exchange(job.told, true))
      say_directly(name_of(job) + "one of its processes does not stop, and runs in the turns of others");
    if (job.state->ending) job.whole->go_on(false);
  }

  void go_on(Job& job, bool all) {
    if (job.over) return;
    if (job.keeper == 0) return start(job);
    job.whole->go_on(all);
  }

  // -- keepers ---------------------------------------------------------------------------------------------------------

  [[nodiscard]] unsigned number_of(const Job& job) const {
    return static_cast<unsigned>(&job - jobs_.data()) + 1;
  }
  [[nodiscard]] std::string name_of(const Job& job) const {
    return "job " + std::to_string(number_of(job)) + ": ";
  }

  void start(Job& job) {
    job.memory = am::host::Memory::create(choose_places(job.options.nodes, job.options.bind).nodes);
    const pid_t head = getpid();
    job.keeper = fork();
    if (job.keeper < 0) throw Fault(cannot_execute, name_of(job) + "cannot start it: " + system_text(errno));
    if (job.keeper == 0) keep(job, head);
    job.whole.emplace(job.keeper, job.memory->board().job());
  }

  [[noreturn]] void keep(Job& job, pid_t head) {
    begin_lines_with(name_of(job));
    for (Job& other : jobs_) {
      if (&other != &job) other.memory.reset();  // it is to go when that job ends
    }
    signals_.restore_in_node();  // so that nodes find what amrun was started with
    prctl(PR_SET_PDEATHSIG, Signals::notice());
    if (getppid() != head) std::_Exit(failed);
    const int exit_code = end_by([&] {
      set_environment(job.options);
      const GangPlace place{.number = number_of(job),
                            .memory = job.memory,
                            .started = [&] { job.state->started = true; },
                            .ending = [&] { job.state->ending = true; }};
      return run_here(job.options, &place);
    });
    std::_Exit(exit_code);
  }

  void collect() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto job =
          std::ranges::find_if(jobs_, [&](const Job& one) { return one.runs() && one.keeper == pid; });
      if (job == jobs_.end()) {
        leftovers_.collected(pid);
      } else {
        ended(*job, status);
      }
    }
  }

  void ended(Job& job, int status) {
    job.over = true;
    job.whole.reset();
    job.memory.reset();
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) != SIGINT;
    if (killed) say_directly(name_of(job) + "its part of amrun " + how_it_ended(status, Standing::joined));
    if (WIFSIGNALED(status) && !killed) end_.by_signal = SIGINT;
    if (end_.exit_code == 0) end_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : exit_code_for(status);
    if (&job == &jobs_[current_] && !all_run_) take_turn();
  }

  // -- signals ---------------------------------------------------------------------------------------------------------

  void take(const siginfo_t& info) {
    switch (info.si_signo) {
      case SIGCHLD:
        return collect();
      case SIGTSTP:
        return stand_still();
      case SIGCONT:
        return stop_the_others();
      default:
        return pass_on(info);
    }
  }

  // Keepers are in our process group: what the terminal sends they get themselves.
  void pass_on(const siginfo_t& info) {
    for (Job& job : jobs_) {
      if (job.runs() && info.si_code != SI_KERNEL) kill(job.keeper, info.si_signo);
    }
    if (ends_jobs(info.si_signo)) let_all_hear(info.si_signo);
  }

  void let_all_hear(int number) {
    for (Job& job : jobs_) {
      if (job.runs()) {
        job.whole->go_on(false);
      } else if (!std::exchange(job.over, true)) {
        if (end_.exit_code == 0) end_ = {signal_base + number, number};
        say_directly(name_of(job) + "not started, because of signal " + std::to_string(number) + " (" +
                     strsignal(number) + ")");
      }
    }
    all_run_ = true;
    turn_ends_ns_ = am::host::monotonic_ns() + hearing_ns;
  }

  void stand_still() {
    if (any_is_starting()) {  // SIGCHLD comes first, should it not get so far
      sched_yield();
      kill(getpid(), SIGTSTP);
      return;
    }
    for (Job& job : jobs_) stop(job);
    kill(getpid(), SIGSTOP);
    all_run_ = false;
    stop_the_others();
    go_on(jobs_[current_], true);
    turn_ends_ns_ = am::host::monotonic_ns() + turn_ns_;
  }

  void stop_the_others() {
    for (Job& job : jobs_) {
      if (&job != &jobs_[current_] && !all_run_) stop(job);
    }
  }

  const Signals signals_;
  Leftovers leftovers_;
  const std::uint64_t turn_ns_;
  std::vector<Job> jobs_;
  std::size_t current_;  // whose turn it is
  std::uint64_t turn_ends_ns_ = 0;
  bool all_run_ = false;  // until then, after a signal
  JobEnd end_{};
};

void check(const std::vector<Options>& jobs) {
  if (jobs.size() < 2)
    throw Fault(wrong_usage, "a gang has two jobs or more: amrun --gang 50ms -n 4 ./a : -n 4 ./b");
  if (!children_are_shown())
    throw Fault(failed, "--gang needs to see the children of processes: mount /proc");
  check_settings(environ);
  for (const Options& options : jobs) {
    if (options.folder.empty()) find_program(options.program[0]);
  }
}

}  // namespace

JobEnd run_gang(const Options& first) {
  std::vector<Options> jobs = parse_gang(first);
  check(jobs);
  return Gang(std::move(jobs), first.gang_ns).run();
}

}  // namespace amrun
