#include "amsim/options.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "results/command_line.hpp"
#include "results/no_such.hpp"

namespace amsim {

namespace {

constexpr int most_seeds = 10'000;

// Two columns, with two spaces between them at least: so help2man tells them apart.
std::string columns(const std::string& first, std::size_t width, const std::string& second) {
  return first + std::string(std::max(width, first.size() + 2) - first.size(), ' ') + second + "\n";
}

std::vector<std::string_view> names_of(std::span<const Simulation* const> simulations) {
  std::vector<std::string_view> names;
  for (const Simulation* one : simulations) names.emplace_back(one->name);
  return names;
}

const Simulation* find_simulation(const std::string& name, std::span<const Simulation* const> simulations) {
  for (const Simulation* one : simulations) {
    if (name == one->name) return one;
  }
  throw UsageError(no_such("simulation", name, names_of(simulations)));
}

void check(const Options& options) {
  const Simulation& simulation = *options.simulation;
  const std::string name = simulation.name;
  if (!options.trace_file.empty() && !simulation.has_trace)
    throw UsageError(name + " has no trace: no --trace");
  if (options.seeds != 0 && simulation.usual_seeds == 0)
    throw UsageError(name + " gives the same figures each time: no --reps");
}

}  // namespace

Options parse_options(int argc, char** argv, std::span<const Simulation* const> simulations) {
  Options options;
  std::vector<Option> known = options.outputs.options();
  known.push_back(file("trace", options.trace_file));
  known.push_back(number("reps", options.seeds, 1, most_seeds));
  known.push_back(flag("help", options.help, 'h'));
  known.push_back(flag("version", options.version));
  const std::vector<std::string> words = read_options(argc, argv, known);
  if (options.help || options.version) return options;
  if (words.empty()) {
    std::string names;
    for (const std::string_view one : names_of(simulations))
      names.append(names.empty() ? "" : ", ").append(one);
    throw UsageError("what is to be simulated? There are " + names);
  }
  options.simulation = find_simulation(words.front(), simulations);
  options.parameters = Parameters(options.simulation->parameters, std::span(words).subspan(1));
  check(options);
  return options;
}

std::string help_text(std::span<const Simulation* const> simulations) {
  std::ostringstream text;
  text
      << "usage: amsim SIMULATION [NAME=VALUE]... [--json FILE] [--plots FOLDER] [--markdown] [--trace FILE] "
         "[--reps N]\n\n"
         "Simulates networks and machines cycle by cycle. A parameter with [list] takes several values, "
         "with\n"
         "commas: every combination is simulated.\n";
  for (const Simulation* one : simulations) {
    text << "\n" << columns("  " + std::string(one->name), 12, one->meaning);
    for (const Parameter& parameter : one->parameters)
      text << columns("    " + std::string(parameter.name) + "=" + parameter.usual, 31, parameter.meaning);
  }
  text << "\n"
          "  --json FILE     also write the figures to FILE\n"
          "  --plots FOLDER  draw the figures into FOLDER (SVG; needs gnuplot)\n"
          "  --markdown      print the tables as markdown\n"
          "  --trace FILE    also show a run of network, t1, ncube2, cm5 or iwarp: FILE.html is a page for "
          "browsers,\n"
          "                  FILE.json is for ui.perfetto.dev, FILE.svg a still; of one network, or one "
          "machine\n"
          "  --reps N        seeds of `network` (11); figures are median, min and max over them\n"
          "  --version       print the version\n";
  return text.str();
}

}  // namespace amsim
