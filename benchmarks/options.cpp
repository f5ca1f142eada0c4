#include "options.hpp"

#include <getopt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "measure.hpp"

namespace ambench {

namespace {

constexpr int max_repetitions = 10'000;
constexpr int max_nodes = 4096;

// What getopt gives for a long option: no character, so that what was typed can be told.
enum LongOption : int { json = 256, plots, trace, markdown, compare, transport, reps, nodes, help, version };

std::string name_of_file(const std::string& option, const std::string& text) {
  if (text.empty()) throw UsageError(option + " takes a name, which is empty here");
  return text;
}

int number(const std::string& option, std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw UsageError(option + " takes a number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not '" + std::string(text) + "'");
  }
  return value;
}

// By its form alone: what stands behind the colon is the network's to judge.
bool is_transport(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  if (name == "shm" || name == "tcp") return text == name;
  return (name == "t1" || name == "mmachine" || name == "ofi") && text.back() != ':' &&
         text.find(',') == std::string::npos;
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
  for (const Measure* measure : measures) {
    if (name == measure->name) return measure;
  }
  throw UsageError("no measure is called '" + name + "'; there are:\n" + list_of(measures));
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
  if (!options.trace_file.empty() && !measure.has_trace)
    throw UsageError(name + " simulates nothing: no --trace");
  if (options.has_repetitions && measure.is_exact)
    throw UsageError(name + " gives the same figures each time: no --reps");
  if (options.compare && !measure.can_compare)
    throw UsageError(name + " has nothing to compare with: no --compare");
  if ((options.markdown || !options.plots_folder.empty()) && !measure.has_charts)
    throw UsageError(name + " draws no charts: neither --plots nor --markdown");
}

// NAME=VALUE behind the measure.
void add_parameter(Options& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::vector<std::string_view>& known = options.measure->parameters;
  if (equals == std::string::npos || known.empty())
    throw UsageError("one measure at a time: '" + text + "' is left over");
  const std::string name = text.substr(0, equals);
  if (std::ranges::find(known, name) == known.end()) {
    std::string names;
    for (const std::string_view one : known) names += (names.empty() ? "" : ", ") + std::string(one);
    throw UsageError(std::string(options.measure->name) + " has no parameter '" + name + "'; there are " +
                     names);
  }
  if (!options.parameters.emplace(name, text.substr(equals + 1)).second)
    throw UsageError(name + " is there twice");
}

// `option` is what getopt found wrong, `argument` the last that it took.
std::string complaint(int option, const std::string& argument) {
  if (option >= LongOption::json)
    return "'" + argument + "': " + argument.substr(0, argument.find('=')) + " takes no value";
  return "unknown option '" + (option != 0 ? std::string{'-', static_cast<char>(option)} : argument) + "'";
}

}  // namespace

Options parse_options(int argc, char** argv, std::span<const Measure* const> measures) {
  const std::array<option, 11> known{{{"json", required_argument, nullptr, LongOption::json},
                                      {"plots", required_argument, nullptr, LongOption::plots},
                                      {"trace", required_argument, nullptr, LongOption::trace},
                                      {"markdown", no_argument, nullptr, LongOption::markdown},
                                      {"compare", no_argument, nullptr, LongOption::compare},
                                      {"transport", required_argument, nullptr, LongOption::transport},
                                      {"reps", required_argument, nullptr, LongOption::reps},
                                      {"nodes", required_argument, nullptr, LongOption::nodes},
                                      {"help", no_argument, nullptr, LongOption::help},
                                      {"version", no_argument, nullptr, LongOption::version},
                                      {nullptr, 0, nullptr, 0}}};
  Options options;
  opterr = 0;
  for (;;) {
    switch (getopt_long(argc, argv, ":n:h", known.data(), nullptr)) {
      case LongOption::json:
        options.json_file = name_of_file("--json", optarg);
        break;
      case LongOption::plots:
        options.plots_folder = name_of_file("--plots", optarg);
        break;
      case LongOption::trace:
        options.trace_file = name_of_file("--trace", optarg);
        break;
      case LongOption::markdown:
        options.markdown = true;
        break;
      case LongOption::compare:
        options.compare = true;
        break;
      case LongOption::transport:
        options.transport = optarg;
        if (!is_transport(options.transport))
          throw UsageError("--transport takes shm, tcp, t1, mmachine or ofi:PROVIDER, not '" +
                           options.transport + "'");
        break;
      case LongOption::reps:
        options.repetitions = number("--reps", optarg, 1, max_repetitions);
        options.has_repetitions = true;
        break;
      case 'n':
      case LongOption::nodes:
        options.nodes = number("-n", optarg, 1, max_nodes);
        break;
      case 'h':
      case LongOption::version:
        options.version = true;
        return options;
      case LongOption::help:
        options.help = true;
        return options;
      case ':':
        throw UsageError(std::string(argv[optind - 1]) + " needs a value");
      case '?':
        throw UsageError(complaint(optopt, argv[optind - 1]));
      default:
        if (optind >= argc) throw UsageError("which measure? There are:\n" + list_of(measures));
        options.measure = find_measure(argv[optind], measures);
        for (int i = optind + 1; i < argc; ++i) add_parameter(options, argv[i]);
        check(options);
        return options;
    }
  }
}

std::string help_text(std::span<const Measure* const> measures) {
  return "usage: ambench MEASURE [NAME=VALUE]... [--json FILE] [--plots FOLDER] [--trace FILE] [--markdown] "
         "[--compare] [--transport NAME] "
         "[--reps N] [-n NODES]\n\n"
         "Measures libam on this machine; starts its own jobs with the amrun beside it.\n\n" +
         list_of(measures) +
         "\n"
         "  NAME=VALUE   a parameter of `network`, as BookSim2 calls it, or of `t1`; one of several values, "
         "with "
         "commas: each is measured; section=NAME, a part of `papers`\n"
         "  --json FILE  also write the figures to FILE\n"
         "  --plots FOLDER  draw the figures of `dispatch`, `network`, `papers`, `scale` and `t1` into "
         "FOLDER (SVG; "
         "needs gnuplot)\n"
         "  --trace FILE  also show a run of `network` or `t1` cycle by cycle: FILE.html is a page for "
         "browsers, "
         "FILE.json\n"
         "               is for ui.perfetto.dev, FILE.svg a still; of one network: one value of "
         "each parameter that says which\n"
         "  --markdown   print the tables of `dispatch`, `network`, `papers`, `scale` and `t1` as markdown\n"
         "  --compare    measure Open MPI and UCX too, where they are installed\n"
         "  --transport NAME  shm (the default), tcp, t1 or ofi:PROVIDER (of libfabric: ofi:net, "
         "'ofi:tcp;ofi_rxm'), for\n"
         "               measures of what all do; limits and neighbours are that one's\n"
         "  --reps N     repetitions (11); figures are median, min and max over them\n"
         "  -n NODES     size of the job, for measures that have a choice\n"
         "  --version    print the version\n";
}

}  // namespace ambench
