// What simulations of machines have in common: which machines their parameters name, a look at each of these, and one to be traced.

#pragma once

#include <string>
#include <vector>

#include "amsim/simulation.hpp"
#include "results/progress.hpp"

namespace amsim {

// Of a mesh or a torus.
struct Rectangle {
  unsigned width = 0;
  unsigned height = 0;

  [[nodiscard]] unsigned nodes() const { return width * height; }
  [[nodiscard]] std::string size(const std::string& times = "x") const {
    return std::to_string(width) + times + std::to_string(height);
  }
};
// Of all values of two parameters, each from 1 to `most`. Throws UsageError, also where one has a node only, and no network.
std::vector<Rectangle> rectangles(const Parameters& parameters, const std::string& width,
                                  const std::string& height, unsigned most);
// The values of a parameter, each from `least` to `most`. Throws UsageError.
std::vector<unsigned> sizes(const Parameters& parameters, const std::string& name, unsigned least,
                            unsigned most);

// Powers of two, and the farthest.
std::vector<unsigned> distances_to(unsigned farthest);

// 1 link, 2 links.
std::string plural(unsigned count, const std::string& what);

// Calls add(machine) for each, and says how far it is.
template <class Machines, class Add>
void for_each_machine(const Options& options, const Machines& machines, Add add) {
  Progress progress(options.simulation->name, static_cast<int>(machines.size()));
  for (const auto& machine : machines) {
    progress.step();
    add(machine);
  }
}

// Where --trace is given: trace(machine) of the only one. Throws UsageError where there are several: one value of `parameters`.
template <class Machines, class Trace>
void trace_the_only(const Options& options, const Machines& machines, const std::string& parameters,
                    Trace trace) {
  if (options.trace_file.empty()) return;
  if (machines.size() != 1) throw UsageError("--trace shows one machine: one value " + parameters);
  trace(machines.front());
}

}  // namespace amsim
