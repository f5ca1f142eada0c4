// amrun: starts a job on this machine, watches it, and ends with its exit code. A job is a piece of shared
// memory without a name and N processes that inherit it; when amrun ends, however it ends, both are gone.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <am/error.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amrun/cores.hpp"
#include "amrun/environment.hpp"
#include "amrun/fault.hpp"
#include "amrun/options.hpp"
#include "amrun/output.hpp"
#include "amrun/place.hpp"
#include "amrun/program.hpp"
#include "amrun/signals.hpp"
#include "amrun/spawn.hpp"
#include "amrun/supervise.hpp"
#include "host/control_group.hpp"
#include "host/memory.hpp"
#include "host/own_descriptor.hpp"
#include "host/pid_namespace.hpp"
#include "host/processors.hpp"

namespace amrun {
namespace {

std::string whole_line(const std::string& text) { return "amrun: " + text + "\n"; }

// In pieces of whole lines that mix with nothing that nodes write. What nobody reads is given up: amrun has signals to
// answer.
void say_directly(const std::string& text) {
  constexpr std::size_t piece = 4096;  // what a pipe takes at once, when it says that it takes something
  constexpr int patience_ms = 200;
  const std::string whole = whole_line(text);
  for (std::string_view left = whole; !left.empty();) {
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (poll(&ready, 1, patience_ms) <= 0) return;
    const std::size_t end = left.size() <= piece ? std::string_view::npos : left.rfind('\n', piece - 1);
    const std::string_view next = left.substr(0, end == std::string_view::npos ? piece : end + 1);
    const ssize_t written = write(STDERR_FILENO, next.data(), next.size());
    if (written <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Takes the launcher's life lock; throws where that is not possible.
am::host::LifeLock& launcher_life(const am::host::Board& board) {
  if (!board.launcher_life().take()) throw Fault(failed, "cannot hold the lock that tells nodes of its end");
  board.job().launcher_pid_namespace = am::host::own_pid_namespace();
  board.job().launcher = getpid();
  return board.launcher_life();
}

// In a node of an outer job, the memory of the outer job is here too; nodes of this job shall not have it.
void keep_outer_memory_from_nodes() {
  const char* text = std::getenv("AM_HOST_MEMORY_FD");
  const int fd = text != nullptr ? std::atoi(text) : -1;
  if (fd > STDERR_FILENO) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Pipes take descriptors: more than the usual soft limit with many nodes. Nodes get the old limit back
// (Spawner).
void allow_files(std::uint64_t files) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files) return;
  limit.rlim_cur = std::min<rlim_t>(files, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

[[noreturn]] void die_of(int number) {
  signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  std::_Exit(signal_base + number);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

struct Places {
  am::NodeId nodes;
  std::vector<Core> cores;  // empty: nobody is bound
};

Places choose_places(const Options& options) {
  const bool crowded = options.nodes && *options.nodes > usable_processors();
  if (options.nodes && (options.bind == Bind::none || (options.bind == Bind::automatic && crowded))) {
    return {*options.nodes, {}};
  }
  Places places{1, usable_cores()};
  if (places.cores.empty() && options.bind == Bind::core) {
    throw Fault(failed, "--bind core: hwloc does not see the cores of this machine (is /sys mounted?)");
  }
  const auto quota =
      options.bind == Bind::automatic ? am::host::read_control_group().processors : std::nullopt;
  places.nodes = options.nodes.value_or(static_cast<am::NodeId>(std::min<std::size_t>(
      places.cores.empty() ? usable_processors() : places.cores.size(), am::host::max_nodes)));
  if (!shall_bind(options.bind, places.nodes, places.cores.size(), quota)) places.cores.clear();
  return places;
}

class Launch {
 public:
  explicit Launch(const Options& options)
      : options_(options),
        program_{find_program(options.program[0]), options.program},
        places_(choose_places(options)),
        memory_(am::host::Memory::create(places_.nodes)),
        onlooker_(memory_),
        life_(launcher_life(memory_->board())),
        spawner_(program_, places_.nodes, memory_->fd(),
                 options.bind == Bind::core || options.report_bindings, signals_) {
    am::host::JobHeader& job = memory_->board().job();
    am::host::publish_cpus(job);
    job.launcher_watches = options.watchdog_ns != 0 ? 1 : 0;
  }

  // Returns amrun's exit code.
  int run() {
    if (options_.report_bindings) report_bindings();
    if (options_.label) {
      allow_files(2 * std::uint64_t{places_.nodes} + 64);
      out_ = std::make_unique<Output>(STDOUT_FILENO);
      err_ = std::make_unique<Output>(STDERR_FILENO);
    }
    Supervisor supervisor(
        onlooker_, spawner_, signals_, [this](const std::string& text) { say(text); }, options_.watchdog_ns);
    for (am::NodeId node = 0; node < places_.nodes; ++node) supervisor.add(node, start(node));
    if (options_.label) {
      out_->run();
      err_->run();
    }
    const int exit_code = supervisor.run();
    ended_by_ = supervisor.ended_by();
    return options_.label ? finish_output(exit_code) : exit_code;
  }

  // The signal that amrun got and the job ended by, or 0.
  [[nodiscard]] int ended_by() const { return ended_by_; }

 private:
  pid_t start(am::NodeId node) {
    const Core* core = places_.cores.empty() ? nullptr : &places_.cores[core_of(node, places_.cores.size())];
    if (!options_.label) return spawner_.start(node, core, STDOUT_FILENO, STDERR_FILENO);
    const Descriptor out(out_->open_pipe(node));
    const Descriptor err(err_->open_pipe(node));
    return spawner_.start(node, core, out.get(), err.get());
  }

  int finish_output(int exit_code) {
    signals_.let_end_amrun();  // should nobody read our output
    if (const int error = out_->finish(); error != 0) {
      say("cannot write standard output: " + std::string(std::strerror(error)));
      if (exit_code == 0) exit_code = failed;
    }
    err_->finish();
    return exit_code;
  }

  void say(const std::string& text) {
    if (options_.label) {
      err_->say(whole_line(text));
    } else {
      say_directly(text);
    }
  }

  void report_bindings() const {
    if (places_.cores.empty()) say_directly("nodes are not bound to cores");
    for (am::NodeId node = 0; node < places_.nodes && !places_.cores.empty(); ++node) {
      say_directly("node " + std::to_string(node) + ": " +
                   places_.cores[core_of(node, places_.cores.size())].name);
    }
  }

  const Options& options_;
  Signals signals_;
  Program program_;
  Places places_;
  std::shared_ptr<am::host::Memory> memory_;
  const am::core::Onlooker onlooker_;
  const am::host::Life life_;
  Spawner spawner_;
  std::unique_ptr<Output> out_;  // with -l
  std::unique_ptr<Output> err_;
  int ended_by_ = 0;
};

int run(int argc, char** argv) {
  const am::host::StandardPlaces
      standard;  // for the nodes as well: descriptors 0 to 2 are what everybody takes them for
  const Options options = parse_options(argc, argv);
  if (options.help || options.version) {
    std::fputs(options.help ? help_text() : "amrun " AM_VERSION "\n", stdout);
    return 0;
  }
  check_settings(environ);
  keep_outer_memory_from_nodes();
  // So that the nodes record what they run; it is amrun that reports.
  if (options.watchdog_ns != 0)
    setenv("AM_WATCHDOG", (std::to_string(options.watchdog_ns) + "ns").c_str(),
           1);  // NOLINT(concurrency-mt-unsafe)
  Launch launch(options);
  const int exit_code = launch.run();
  // Shells stop a loop around a program that SIGINT has killed, not around one that ended with code 130.
  if (launch.ended_by() == SIGINT) die_of(SIGINT);
  return exit_code;
}

}  // namespace
}  // namespace amrun

int main(int argc, char** argv) {
  try {
    return amrun::run(argc, argv);
  } catch (const amrun::Fault& fault) {
    amrun::say_directly(fault.what());
    return fault.exit_code();
  } catch (const am::Error& error) {
    amrun::say_directly("cannot " + error.what_failed() + ": " + error.why() + " (" + error.remedy() + ")");
  } catch (const std::exception& error) {
    amrun::say_directly(error.what());
  }
  return amrun::failed;
}
