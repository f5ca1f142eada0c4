// A job whose nodes are threads of one process: for tests, for ThreadSanitizer, and for programs that want it. The same
// code as between processes, over the same memory; only the mapping is shared.
#include <unistd.h>
#include <am/error.hpp>
#include <am/impl/event_lock.hpp>
#include <am/start.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/node/engine.hpp"
#include "core/node/options.hpp"
#include "core/node/threads.hpp"
#include "core/node/uncaught.hpp"
#include "core/settings/settings.hpp"
#include "host/processors.hpp"
#include "transports/faults/faults.hpp"

namespace am {

namespace {

/// The first failure of any node, in time.
class FirstFailure {
 public:
  /// The exception that is being handled.
  void keep(core::Origin origin) {
    const std::lock_guard lock(mutex_);
    if (!first_.exception) first_ = std::move(origin);
  }
  [[nodiscard]] bool there_is_one() {
    const std::lock_guard lock(mutex_);
    return first_.exception != nullptr;
  }
  void throw_again() const {
    if (first_.exception) core::throw_again(first_);
  }

 private:
  std::mutex mutex_;
  core::Origin first_;
};

/// Nodes begin together or not at all: one that joins a job of which a thread is missing would wait for it.
class Gate {
 public:
  void open(bool all_are_here) {
    state_ = all_are_here ? State::open : State::called_off;
    state_.notify_all();
  }
  /// Whether to go on.
  [[nodiscard]] bool pass() const {
    state_.wait(State::shut);
    return state_ == State::open;
  }

 private:
  enum class State { shut, open, called_off };
  std::atomic<State> state_ = State::shut;
};

void run_node(core::Job job, const core::Settings& settings, const std::function<void(Node&)>& main,
              const Gate& gate, FirstFailure& failure) {
  if (!gate.pass()) return;
  const NodeId id = job.id;
  try {
    Node node(std::make_unique<core::Engine>(std::move(job), settings));
    try {
      main(node);
    } catch (...) {
      const impl::Hold hold(node);  // an event that throws meanwhile is another matter
      failure.keep(core::origin_of_current(id));
    }
    if (failure.there_is_one()) node.engine().ends_badly();
  } catch (...) {
    failure.keep(core::origin_of_current(id));
  }
}

}  // namespace

void core::run_jobs(std::vector<Job> jobs, const Settings& settings, const std::function<void(Node&)>& main) {
  const std::size_t n = jobs.size();
  FirstFailure failure;
  Gate gate;
  std::vector<std::thread> threads;
  threads.reserve(n);
  std::string no_thread;
  try {
    for (Job& job : jobs) {
      threads.emplace_back(run_node, std::move(job), std::cref(settings), std::cref(main), std::cref(gate),
                           std::ref(failure));
    }
  } catch (const std::system_error& error) {
    no_thread = error.what();
  }
  gate.open(threads.size() == n);
  for (std::thread& thread : threads) thread.join();
  if (threads.size() != n) {
    throw Error("start a job of threads",
                "the system gives " + std::to_string(threads.size()) + " of " + std::to_string(n) +
                    " threads (" + no_thread + ")",
                "use fewer nodes, or raise ulimit -u, ulimit -v or the container's pids limit");
  }
  failure.throw_again();
}

void run_threads(NodeId n, const std::function<void(Node&)>& main, const Options& options) {
  core::tell_of_the_uncaught();
  core::Settings settings = core::read_settings(environ);
  settings.memory_fd = -1;
  check_faults_for_threads(settings.faults);
  core::apply(options, settings);
  const std::shared_ptr<host::Memory> memory = host::Memory::create(n);
  host::publish_cpus(memory->board().job());
  std::vector<core::Job> jobs;
  for (NodeId id = 0; id < n; ++id) {
    jobs.push_back(
        {.id = id, .size = n, .memory = memory, .found = "threads", .processes = false, .leave = {}});
  }
  core::run_jobs(std::move(jobs), settings, main);
}

}  // namespace am
