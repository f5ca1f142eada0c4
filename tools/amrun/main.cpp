// amrun: starts a job on this machine or on several, watches it, and ends with its exit code. On one machine a job is a piece of
// shared memory without a name and N processes that inherit it; when amrun ends, however it ends, both are gone. On several, a part
// of amrun does the same on each (part.hpp), and the head keeps them together (head.hpp).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <am/version.h>
#include <am/error.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "amrun/environment.hpp"
#include "amrun/fault.hpp"
#include "amrun/head.hpp"
#include "amrun/launch.hpp"
#include "amrun/options.hpp"
#include "amrun/part.hpp"
#include "amrun/paths.hpp"
#include "amrun/program.hpp"
#include "amrun/say.hpp"
#include "amrun/signals.hpp"
#include "host/own_descriptor.hpp"

namespace amrun {
namespace {

// In a node of an outer job, the memory of the outer job is here too; nodes of this job shall not have it.
void keep_outer_memory_from_nodes() {
  const char* text = std::getenv("AM_HOST_MEMORY_FD");
  const int fd = text != nullptr ? std::atoi(text) : -1;
  if (fd > STDERR_FILENO) fcntl(fd, F_SETFD, FD_CLOEXEC);
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

// A job on this machine. Returns amrun's exit code, and the signal that the job ended by, or 0.
JobEnd run_here(const Options& options) {
  const Signals signals;
  if (!options.folder.empty()) go_to(folders_to_start_in(options.folder));
  Plan plan{.program = {find_program(options.program[0]), options.program},
            .bind = options.bind,
            .report_bindings = options.report_bindings,
            .label = options.label,
            .watchdog_ns = options.watchdog_ns,
            .input = options.no_input ? -1 : STDIN_FILENO};
  Places places = choose_places(options.nodes, options.bind);
  plan.cores = std::move(places.cores);
  for (am::NodeId node = 0; node < places.nodes; ++node) plan.nodes.push_back(node);
  plan.memory = am::host::Memory::create(places.nodes);
  Outlets outlets;
  if (options.label) outlets = {.out = write_to(STDOUT_FILENO), .err = write_to(STDERR_FILENO)};
  Launch launch(plan, signals, std::move(outlets), {});
  launch.start();
  const int exit_code = launch.run();
  return {exit_code, launch.supervisor().ended_by()};
}

int run(int argc, char** argv) {
  const am::host::StandardPlaces
      standard;  // for the nodes as well: descriptors 0 to 2 are what everybody takes them for
  if (is_part(argc, argv)) return run_part(argc, argv);
  const Options options = parse_options(argc, argv);
  if (options.help || options.version) {
    std::fputs(options.help ? help_text() : "amrun " AM_VERSION "\n", stdout);
    return 0;
  }
  for (const std::string& variable : options.variables) set_variable(variable);
  check_settings(environ);
  keep_outer_memory_from_nodes();
  // So that the nodes record what they run; it is amrun that reports.
  if (options.watchdog_ns != 0) set_variable("AM_WATCHDOG=" + std::to_string(options.watchdog_ns) + "ns");
  const JobEnd end = options.hosts.empty() ? run_here(options) : run_head(options);
  // Shells stop a loop around a program that SIGINT has killed, not around one that ended with code 130.
  if (end.by_signal == SIGINT) die_of(SIGINT);
  return end.exit_code;
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
