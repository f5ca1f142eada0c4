// `ambench startup`: from starting amrun to its exit, of a program that joins, passes one barrier and leaves.

#include "clock.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "results/pinning.hpp"
#include "results/progress.hpp"

namespace ambench::startup {

namespace {

Report measure_startup(const Options& options) {
  std::vector<int> job_sizes{2, 8, 32};
  if (options.nodes != 0) job_sizes = {options.nodes};
  Report report = report_of(measure, options, job_sizes.back());
  report.cpus = core_cpus();  // amrun --bind core: nodes take turns on them
  const Wire wire = wire_of(options.transport);
  const bool beside_tcp = wire.kind == Wire::Kind::libfabric;
  Peers peers(options.compare ? Peers::Who::openmpi : Peers::Who::nobody, wire);
  Series series;
  Progress progress("startup", options.repetitions);
  const std::string program = own_program("do_nothing");
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    for (const int nodes : job_sizes) {
      const std::string prefix = std::to_string(nodes) + "/";
      series.add(prefix + "startup_ms", run_under_amrun(program, nodes, {}).wall_ns / 1e6);
      if (beside_tcp)
        series.add(prefix + "tcp_startup_ms",
                   run_under_amrun(program, nodes, {}, {.environment = {"AM_TRANSPORT=tcp"}}).wall_ns / 1e6);
      peers.with_openmpi([&](const OpenMpi& openmpi) {
        series.add(prefix + "openmpi_startup_ms", openmpi.run("startup", nodes).wall_ns / 1e6);
      });
    }
  }
  peers.describe(report);
  for (const int nodes : job_sizes) {
    const std::string prefix = std::to_string(nodes) + "/";
    Row& row = report.rows.emplace_back(std::to_string(nodes) + " nodes, start to first barrier to exit");
    row.key("nodes", nodes).figure("startup_ms", "libam, amrun", series.at(prefix + "startup_ms"));
    if (beside_tcp) compare(row, series, prefix, "startup_ms", "tcp", "libam over TCP");
    peers.compare(row, series, prefix, "startup_ms", "openmpi", "Open MPI, mpirun");
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "startup",
    .meaning = "start of a job to its first barrier and its exit, launcher included",
    .least_nodes = 1,
    .can_compare = true,
    .measure = measure_startup,
    .over_networks = true,
};

}  // namespace ambench::startup
