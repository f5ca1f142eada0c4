#include "amrun/one_job.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include "amrun/environment.hpp"
#include "amrun/launch.hpp"
#include "amrun/paths.hpp"
#include "amrun/program.hpp"
#include "amrun/signals.hpp"

namespace amrun {

void set_environment(const Options& options) {
  for (const std::string& variable : options.variables) set_variable(variable);
  check_settings(environ);
  // So that the nodes record what they run; it is amrun that reports.
  if (options.watchdog_ns != 0) set_variable("AM_WATCHDOG=" + std::to_string(options.watchdog_ns) + "ns");
}

JobEnd run_here(const Options& options, const GangPlace* gang) {
  const Signals signals;
  if (!options.folder.empty()) go_to(folders_to_start_in(options.folder));
  // Of the jobs of a gang the first one has the input.
  const bool has_input = !options.no_input && (gang == nullptr || gang->number == 1);
  Plan plan{.role = gang != nullptr ? Role::in_gang : Role::whole,
            .program = {find_program(options.program[0]), options.program},
            .bind = options.bind,
            .report_bindings = options.report_bindings,
            .label = options.label,
            .label_begins = gang != nullptr ? std::to_string(gang->number) + ":" : "",
            .watchdog_ns = options.watchdog_ns,
            .input = has_input ? STDIN_FILENO : -1};
  Places places = choose_places(options.nodes, options.bind);
  plan.cores = std::move(places.cores);
  for (am::NodeId node = 0; node < places.nodes; ++node) plan.nodes.push_back(node);
  plan.memory = gang != nullptr ? gang->memory : am::host::Memory::create(places.nodes);
  Outlets outlets;
  if (options.label) outlets = {.out = write_to(STDOUT_FILENO), .err = write_to(STDERR_FILENO)};
  Launch launch(plan, signals, std::move(outlets), {});
  Supervisor& supervisor = launch.supervisor();
  if (gang != nullptr) {
    supervisor.on_failure([&](int /*exit_code*/) { gang->ending(); });
    supervisor.on_notice([&] { supervisor.abandon(); });
  }
  launch.start();
  if (gang != nullptr) gang->started();
  const int exit_code = launch.run();
  return {exit_code, supervisor.ended_by()};
}

}  // namespace amrun
