#include "amrun/launch.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "amrun/cores.hpp"
#include "amrun/fault.hpp"
#include "amrun/say.hpp"
#include "host/control_group.hpp"
#include "host/descriptor.hpp"
#include "host/pid_namespace.hpp"
#include "host/processors.hpp"

namespace amrun {
namespace {

using am::host::Descriptor;

// Takes the launcher's life lock; throws where that is not possible.
am::host::LifeLock& launcher_life(const am::host::Board& board) {
  if (!board.launcher_life().take()) throw Fault(failed, "cannot hold the lock that tells nodes of its end");
  board.job().launcher_pid_namespace = am::host::own_pid_namespace();
  board.job().launcher = getpid();
  return board.launcher_life();
}

// Pipes take descriptors: more than the usual soft limit with many nodes. Nodes get the old limit back
// (Spawner).
void allow_files(std::uint64_t files) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files) return;
  limit.rlim_cur = std::min<rlim_t>(files, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Places choose_places(std::optional<am::NodeId> nodes, Bind bind) {
  const bool crowded = nodes && *nodes > usable_processors();
  if (nodes && (bind == Bind::none || (bind == Bind::automatic && crowded))) return {*nodes, {}};
  Places places{1, usable_cores()};
  if (places.cores.empty() && bind == Bind::core) {
    throw Fault(failed, "--bind core: hwloc does not see the cores of this machine (is /sys mounted?)");
  }
  const auto quota = bind == Bind::automatic ? am::host::read_control_group().processors : std::nullopt;
  places.nodes = nodes.value_or(static_cast<am::NodeId>(std::min<std::size_t>(
      places.cores.empty() ? usable_processors() : places.cores.size(), am::host::max_nodes)));
  if (!shall_bind(bind, places.nodes, places.cores.size(), quota)) places.cores.clear();
  return places;
}

Launch::Launch(const Plan& plan, const Signals& signals, Outlets outlets, Supervisor::Say say)
    : plan_(plan),
      signals_(signals),
      say_(say ? std::move(say) : Supervisor::Say([this](const std::string& text) {
        if (err_ != nullptr) {
          err_->say(whole_line(text));
        } else {
          say_directly(text);
        }
      })),
      onlooker_(plan.memory),
      life_(launcher_life(plan.memory->board())),
      spawner_(plan.program, plan.memory->nodes(), plan.memory->fd(),
               plan.bind == Bind::core || plan.report_bindings, plan.input, signals_),
      supervisor_(plan.role, onlooker_, spawner_, signals_, say_, plan.watchdog_ns) {
  am::host::JobHeader& job = plan.memory->board().job();
  am::host::publish_cpus(job);
  job.launcher_watches = plan.watchdog_ns != 0 ? 1 : 0;
  if (!outlets.out) return;
  allow_files(2 * std::uint64_t{plan.nodes.size()} + 64);
  out_ = std::make_unique<Output>(std::move(outlets.out));
  err_ = std::make_unique<Output>(std::move(outlets.err));
}

void Launch::start() {
  if (plan_.report_bindings) report_bindings();
  for (std::size_t i = 0; i < plan_.nodes.size(); ++i)
    supervisor_.add(plan_.nodes[i], start(plan_.nodes[i], i));
  if (out_ == nullptr) return;
  out_->run();
  err_->run();
}

int Launch::run() {
  const int exit_code = supervisor_.run();
  return out_ != nullptr ? finish_output(exit_code) : exit_code;
}

pid_t Launch::start(am::NodeId node, std::size_t number) {
  const Core* core = plan_.cores.empty()
                         ? nullptr
                         : &plan_.cores[core_of(static_cast<am::NodeId>(number), plan_.cores.size())];
  if (out_ == nullptr) return spawner_.start(node, core, STDOUT_FILENO, STDERR_FILENO);
  const std::string label = plan_.label ? "[" + plan_.label_begins + std::to_string(node) + "] " : "";
  const Descriptor out(out_->open_pipe(label));
  const Descriptor err(err_->open_pipe(label));
  return spawner_.start(node, core, out.get(), err.get());
}

int Launch::finish_output(int exit_code) {
  if (plan_.role != Role::part)
    signals_.let_end_amrun();  // should nobody read our output; a part's head sees to that
  if (const int error = out_->finish(); error != 0) {
    say_("cannot write standard output: " + std::string(std::strerror(error)));
    if (exit_code == 0) exit_code = failed;
  }
  err_->finish();
  return exit_code;
}

void Launch::report_bindings() const {
  if (plan_.cores.empty()) say_("nodes are not bound to cores");
  for (std::size_t i = 0; i < plan_.nodes.size() && !plan_.cores.empty(); ++i) {
    say_("node " + std::to_string(plan_.nodes[i]) + ": " +
         plan_.cores[core_of(static_cast<am::NodeId>(i), plan_.cores.size())].name);
  }
}

}  // namespace amrun
