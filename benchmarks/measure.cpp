#include "measure.hpp"

#include "job.hpp"
#include "results/progress.hpp"

namespace ambench {

Report report_of(const Measure& measure, const Options& options, int nodes) {
  Report report;
  report.tool = "ambench";
  report.measure = measure.name;
  report.meaning = measure.meaning;
  report.transport = options.transport;
  report.nodes = nodes;
  report.repetitions = options.repetitions;
  return report;
}

Series measure_pairs(const Measure& measure, const Options& options, Report& report,
                     const std::function<void(CorePair, Series&)>& beside) {
  Series series;
  Progress progress(measure.name, options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    const Finished job = run_job(measure.name, 2);
    report.cpus = job.cpus();
    series.add(job.figures());
    const std::optional<CorePair> cores = cores_of(job);
    if (beside && cores) beside(*cores, series);
  }
  return series;
}

bool is_emulated(const Options& options) {
  const std::string name = options.transport.substr(0, options.transport.find(':'));
  return name == "t1" || name == "mmachine" || name == "ncube2" || name == "cm5" || name == "iwarp" ||
         name == "care";
}

void ask_shared_memory(const Measure& measure, Series& series, int nodes) {
  const Finished job = run_job(measure.name, nodes, {}, {.environment = {"AM_TRANSPORT=shm"}});
  for (const auto& [name, value] : job.figures()) {
    const std::size_t at = name.rfind('/') + 1;  // 0 where there is none
    series.add(name.substr(0, at) + "shm_" + name.substr(at), value);
  }
}

}  // namespace ambench
