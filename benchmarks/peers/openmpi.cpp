#include "peers/openmpi.hpp"

#include <unistd.h>

#include <stdexcept>

#include "job.hpp"
#include "results/pinning.hpp"

namespace ambench {

OpenMpi::OpenMpi(const Wire& wire) : program_(own_program("openmpi_peer")) {
  std::string by = "transport left at its default";
  if (wire.kind == Wire::Kind::sockets) {
    by = "pml ob1, btl tcp over lo";
    transport_options_ = {"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include",
                          "lo"};
  } else if (wire.kind == Wire::Kind::libfabric) {
    by = "pml cm, mtl ofi over " + wire.provider;  // btl ofi is for one-sided access alone
    transport_options_ = {
        "--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", wire.provider};
    environment_ = {"FI_TCP_IFACE=lo", "FI_NET_IFACE=lo", "FI_UDP_IFACE=lo"};
  }
  if (find_program("mpirun").empty()) {
    unavailable_ = "not installed";
    return;
  }
  const Finished version = results::run({"mpirun", "--version"}, {}, Errors::collected);
  const std::string first_line = version.output.substr(0, version.output.find('\n'));
  if (first_line.find("Open MPI") == std::string::npos) {
    unavailable_ = "not installed (mpirun is of another MPI)";
  } else if (access(program_.c_str(), X_OK) != 0) {
    unavailable_ = "installed, but ambench was built without MPI's headers";
  }
  const std::size_t bracket = first_line.find(") ");
  name_ = "Open MPI " + (bracket == std::string::npos ? first_line : first_line.substr(bracket + 2)) +
          ", mpirun --bind-to core, " + by;
}

Finished OpenMpi::run(const std::string& measure, int nodes,
                      const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{"mpirun", "-n", std::to_string(nodes)};
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  if (nodes > static_cast<int>(core_cpus().size())) {
    command.insert(command.end(), {"--oversubscribe", "--bind-to", "none"});
  } else {
    command.insert(command.end(), {"--bind-to", "core"});
  }
  command.insert(command.end(), transport_options_.begin(), transport_options_.end());
  command.insert(command.end(), {program_, measure});
  command.insert(command.end(), arguments.begin(), arguments.end());
  Finished finished = results::run(command, environment_, Errors::collected);
  if (!finished.ok()) throw std::runtime_error("Open MPI's " + measure + ": " + finished.how_it_ended());
  return finished;
}

}  // namespace ambench
