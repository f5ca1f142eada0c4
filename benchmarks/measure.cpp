#include "measure.hpp"

#include "job.hpp"
#include "progress.hpp"

namespace ambench {

Report report_of(const Measure& measure, const Options& options, int nodes) {
  Report report;
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

}  // namespace ambench
