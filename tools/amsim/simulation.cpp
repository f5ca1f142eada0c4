#include "amsim/simulation.hpp"

#include <algorithm>

namespace amsim {

Report report_of(const Options& options) {
  const Simulation& simulation = *options.simulation;
  Report report;
  report.tool = "amsim";
  report.measure = simulation.name;
  report.meaning = simulation.meaning;
  report.transport = "simulated";
  report.repetitions = std::max(options.seeds != 0 ? options.seeds : simulation.usual_seeds, 1);
  report.simulated = simulation.usual_seeds == 0;
  return report;
}

}  // namespace amsim
