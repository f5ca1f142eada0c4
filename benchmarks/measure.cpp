#include "measure.hpp"

namespace ambench {

Report report_of(const Measure& measure, const Options& options, int nodes) {
  Report report;
  report.measure = measure.name;
  report.meaning = measure.meaning;
  report.transport = "shm";
  report.nodes = nodes;
  report.repetitions = options.repetitions;
  return report;
}

}  // namespace ambench
