// The nodes of one host, from their start to the end of the last one: all of a job on this machine, or a part's share of one. Main
// thread only.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "amrun/options.hpp"
#include "amrun/output.hpp"
#include "amrun/place.hpp"
#include "amrun/signals.hpp"
#include "amrun/spawn.hpp"
#include "amrun/supervise.hpp"
#include "host/memory.hpp"

namespace amrun {

// What is to be started.
struct Plan {
  Role role = Role::whole;
  Program program;
  std::vector<am::NodeId> nodes{};  // of this host
  std::vector<Core> cores{};        // where they are bound; empty: nobody is
  std::shared_ptr<am::host::Memory> memory{};
  Bind bind = Bind::automatic;
  bool report_bindings = false;
  bool label = false;
  std::string label_begins{};  // before the node's number
  std::uint64_t watchdog_ns = 0;
  int input = 0;  // node 0's standard input; -1: nothing
};

// How many nodes on this machine, and on which cores. `nodes`: nothing, one for each core.
struct Places {
  am::NodeId nodes;
  std::vector<Core> cores;  // empty: nobody is bound
};
Places choose_places(std::optional<am::NodeId> nodes, Bind bind);

// Where what nodes write goes. Both empty: they write it themselves, where amrun itself does.
struct Outlets {
  Output::Sink out{};
  Output::Sink err{};
};

class Launch {
 public:
  // `say`: a part's own lines, without "amrun: "; must not wait. Others write them themselves: empty. Throws Fault.
  Launch(const Plan& plan, const Signals& signals, Outlets outlets, Supervisor::Say say);

  // Starts the nodes; the supervisor may be asked for things from here on, on this thread. Throws Fault.
  void start();
  // Until no node is left, and all that they wrote has gone. Returns amrun's exit code.
  int run();
  [[nodiscard]] Supervisor& supervisor() { return supervisor_; }

 private:
  pid_t start(am::NodeId node, std::size_t number);
  int finish_output(int exit_code);
  void report_bindings() const;

  const Plan& plan_;
  const Signals& signals_;
  const Supervisor::Say say_;
  const am::core::Onlooker onlooker_;
  const am::host::Life life_;
  Spawner spawner_;
  Supervisor supervisor_;
  std::unique_ptr<Output> out_;
  std::unique_ptr<Output> err_;
};

}  // namespace amrun
