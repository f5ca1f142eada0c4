// What amsim simulates: a file each, listed in main.cpp.

#pragma once

#include <string>
#include <vector>

#include "results/outputs.hpp"
#include "results/parameters.hpp"
#include "results/report.hpp"
#include "results/usage_error.hpp"

namespace amsim {

// Simulations speak of reports, figures and charts all the time.
using namespace results;

struct Simulation;

struct Options {
  const Simulation* simulation = nullptr;
  Parameters parameters;
  Outputs outputs;
  std::string trace_file;  // empty: no trace
  int seeds = 0;           // 0: as many as usual
  bool help = false;
  bool version = false;
};

struct Simulation {
  const char* name;
  const char* meaning;  // one line
  // Throws UsageError, std::invalid_argument where there is no such machine, or std::runtime_error.
  Report (*run)(const Options& options);
  bool has_trace = false;  // for --trace
  int usual_seeds = 0;     // for --reps; 0: nothing is drawn, so it is the same in every run
  std::vector<Parameter> parameters{};
};

// Each is a file, and a namespace of the same name.
namespace network {
extern const Simulation simulation;
}
namespace t1 {
extern const Simulation simulation;
}
namespace mmachine {
extern const Simulation simulation;
}
namespace ncube2 {
extern const Simulation simulation;
}
namespace cm5 {
extern const Simulation simulation;
}
namespace iwarp {
extern const Simulation simulation;
}
namespace care {
extern const Simulation simulation;
}
namespace switching {
extern const Simulation simulation;
}
namespace papers {
extern const Simulation simulation;
}

// The head of a report.
Report report_of(const Options& options);

}  // namespace amsim
