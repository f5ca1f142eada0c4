#include "options.hpp"

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "results/command_line.hpp"
#include "results/no_such.hpp"

namespace ambench {

namespace {

constexpr int max_repetitions = 10'000;
constexpr int max_nodes = 4096;

// By its form alone: what stands behind the colon is the network's to judge.
bool is_transport(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  if (name == "shm" || name == "tcp" || name == "ncube2" || name == "cm5") return text == name;
  return (name == "t1" || name == "mmachine" || name == "iwarp" || name == "care" || name == "ofi") &&
         text.back() != ':' && text.find(',') == std::string::npos;
}

std::string list_of(std::span<const Measure* const> measures) {
  std::string text;
  for (const Measure* measure : measures) {
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(), "  %-12s %s\n", measure->name, measure->meaning);
    text += line.data();
  }
  return text;
}

const Measure* find_measure(const std::string& name, std::span<const Measure* const> measures) {
  std::vector<std::string_view> names;
  for (const Measure* measure : measures) {
    if (name == measure->name) return measure;
    names.emplace_back(measure->name);
  }
  if (name == "network" || name == "t1" || name == "papers")
    throw UsageError(name + " is simulated now by amsim: amsim " + name);
  throw UsageError(no_such("measure", name, names));
}

void check(const Options& options) {
  const Measure& measure = *options.measure;
  const std::string name = measure.name;
  if (options.nodes != 0 && measure.least_nodes == 0)
    throw UsageError(name + " has a fixed number of nodes: no -n");
  if (options.nodes != 0 && options.nodes < measure.least_nodes) {
    throw UsageError(name + " needs at least -n " + std::to_string(measure.least_nodes));
  }
  if (options.transport != "shm" && !measure.over_networks)
    throw UsageError(name + " measures shared memory: no --transport");
  if (options.compare && !measure.can_compare)
    throw UsageError(name + " has nothing to compare with: no --compare");
  if (options.outputs.want_charts() && !measure.has_charts)
    throw UsageError(name + " draws no charts: neither --plots nor --markdown");
}

void take_transport(Options& options, const std::string& text) {
  if (!is_transport(text))
    throw UsageError(
        "--transport takes shm, tcp, t1, mmachine, ncube2, cm5, iwarp, care or ofi:PROVIDER, not '" + text +
        "'");
  options.transport = text;
}

}  // namespace

Options parse_options(int argc, char** argv, std::span<const Measure* const> measures) {
  Options options;
  std::vector<results::Option> known = options.outputs.options();
  known.push_back(results::flag("compare", options.compare));
  known.push_back({"transport", true, [&](const std::string& text) { take_transport(options, text); }});
  known.push_back(results::number("reps", options.repetitions, 1, max_repetitions));
  known.push_back(results::number("nodes", options.nodes, 1, max_nodes, 'n'));
  known.push_back(results::flag("help", options.help, 'h'));
  known.push_back(results::flag("version", options.version));
  const std::vector<std::string> words = results::read_options(argc, argv, known);
  if (options.help || options.version) return options;
  if (words.empty()) throw UsageError("which measure? There are:\n" + list_of(measures));
  options.measure = find_measure(words.front(), measures);
  if (words.size() > 1) throw UsageError("one measure at a time: '" + words[1] + "' is left over");
  check(options);
  return options;
}

std::string help_text(std::span<const Measure* const> measures) {
  return "usage: ambench MEASURE [--json FILE] [--plots FOLDER] [--markdown] [--compare] [--transport NAME] "
         "[--reps N] [-n NODES]\n\n"
         "Measures libam on this machine; starts its own jobs with the amrun beside it.\n\n" +
         list_of(measures) +
         "\n"
         "  --json FILE  also write the figures to FILE\n"
         "  --plots FOLDER  draw the figures of `dispatch` and `scale` into FOLDER (SVG; needs gnuplot)\n"
         "  --markdown   print the tables of `dispatch` and `scale` as markdown\n"
         "  --compare    measure Open MPI and UCX too, where they are installed\n"
         "  --transport NAME  shm (the default), tcp, t1, mmachine, ncube2, cm5, iwarp, care or ofi:PROVIDER "
         "(of "
         "libfabric: ofi:net, "
         "'ofi:tcp;ofi_rxm'), for\n"
         "               measures of what all do; limits and neighbours are that one's\n"
         "  --reps N     repetitions (11); figures are median, min and max over them\n"
         "  -n NODES     size of the job, for measures that have a choice\n"
         "  --version    print the version\n";
}

}  // namespace ambench
