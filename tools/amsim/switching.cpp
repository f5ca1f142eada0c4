// `amsim switching`: messages in CARE's network cut through, stored at each site and over circuits, by path length, load and size
// (src/emulated_hw/care; the claim of reference [5] of Byrd, Nakano and Delagi 1987, 1).

#include "amsim/care/switching.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "amsim/machines.hpp"
#include "amsim/network/curves.hpp"

namespace amsim::switching {

namespace {

using am::care::Switching;
using care::Messages;
using network::written;

constexpr unsigned most_extent = 16;
constexpr std::uint32_t most_words = 1024;
constexpr double least_load = 0.001;
constexpr am::care::Cycle longest_service = 1000;

struct Way {
  std::string name;
  std::string label;
  am::care::Options options;
};

// The others stand beside the first.
std::vector<Way> ways_of(const Parameters& parameters) {
  const auto service = parameters["service"].number<am::care::Cycle>();
  if (service < 1 || service > longest_service) throw UsageError("service has to be from 1 to 1000");
  std::vector<Way> ways;
  for (const unsigned attempts : parameters["seek_threshold"].numbers<unsigned>()) {
    const std::string many = std::to_string(attempts);
    ways.push_back({"cut_through_" + many,
                    "cut through, " + many + " attempts",
                    {.seek_threshold = attempts, .service = service}});
  }
  ways.push_back({"stored", "stored at each site", {.service = service, .switching = Switching::stored}});
  ways.push_back({"circuits",
                  "circuits",
                  {.seek_threshold = std::numeric_limits<unsigned>::max(),
                   .service = service,
                   .switching = Switching::circuits}});
  return ways;
}

std::vector<double> loads_of(const Parameters& parameters) {
  std::vector<double> loads = parameters["load"].numbers<double>();
  for (const double load : loads) {
    if (!(load >= least_load && load <= 1)) throw UsageError("load has to be from 0.001 to 1");
  }
  return loads;
}

// Each way at each load, by it.
void add_messages(const Rectangle& mesh, Messages messages, const std::vector<Way>& ways,
                  const std::vector<double>& loads, Report& report) {
  const std::string what = plural(messages.hops, "hop") + " for " + plural(messages.words, "word");
  Row row(what + " on " + mesh.size() + " sites, cycles");
  row.key("columns", mesh.width)
      .key("rows", mesh.height)
      .key("hops", messages.hops)
      .key("words", messages.words);
  row.references("first");
  Chart::Row line{what, {}};
  std::vector<Row::Reference> first(loads.size());
  for (const Way& way : ways) {
    for (std::size_t i = 0; i < loads.size(); ++i) {
      const std::string load = written(messages.load = loads[i]);
      const std::string name = way.name + "_" + load + "_cycles";
      const std::string label = way.label + ", load " + load;
      const auto cycles = latency(am::kit::Grid{{mesh.width}, {mesh.height}}, messages, way.options);
      line.cells.push_back(cycles ? std::optional(exactly(*cycles)) : std::nullopt);
      if (cycles) {
        row.beside(name, label, first[i], *cycles);
      } else {
        row.note(name, label, "saturated");
      }
      if (&way == &ways.front()) first[i].value = cycles;
    }
  }
  report.rows.push_back(std::move(row));
  report.charts.back().rows.push_back(std::move(line));
}

Chart chart_of(const Rectangle& mesh, const std::vector<Way>& ways, const std::vector<double>& loads) {
  Chart chart{
      .name = "switching_" + mesh.size(),
      .title = "CARE of " + mesh.size() + " sites: a message by hops and words, and the load of links",
      .unit = "cycles",
      .logarithmic = true,
      .exact = true,
      .columns = {},
      .rows = {}};
  for (const Way& way : ways) {
    for (const double load : loads) chart.columns.push_back(way.label + ", load " + written(load));
  }
  return chart;
}

Report simulate(const Options& options) {
  const Parameters& parameters = options.parameters;
  const std::vector<Rectangle> meshes = rectangles(parameters, "columns", "rows", most_extent);
  const std::vector<unsigned> distances = parameters["hops"].numbers<unsigned>();
  const std::vector<std::uint32_t> lengths = sizes(parameters, "words", 1, most_words);
  const std::vector<double> loads = loads_of(parameters);
  const std::vector<Way> ways = ways_of(parameters);
  const auto seed = parameters["seed"].number<std::uint64_t>();
  Report report = report_of(options);
  for_each_machine(options, meshes, [&](const Rectangle& mesh) {
    report.charts.push_back(chart_of(mesh, ways, loads));
    for (const unsigned hops : distances) {
      for (const std::uint32_t words : lengths)
        add_messages(mesh, {.hops = hops, .words = words, .seed = seed}, ways, loads, report);
    }
  });
  return report;
}

}  // namespace

const Simulation simulation{
    .name = "switching",
    .meaning = "cut-through in CARE's network beside store-and-forward and circuits, by path, load and size",
    .run = simulate,
    .parameters =
        {{"columns", "8", "of the mesh, 1 to 16 [list]"},
         {"rows", "8", "of the mesh [list]"},
         {"hops", "1,2,8", "of each message [list]"},
         {"words", "2,16,256", "of data in it, 1 to 1024 [list]"},
         {"load", "0.02,0.1", "of all links together, the share that messages take, 0.001 to 1 [list]"},
         {"seek_threshold", "16,1000000",
          "of cut-through: attempts of a front that finds no link, until its site stores it [list]"},
         {"service", "1", "cycles that an operator takes for a packet, 1 to 1000"},
         {"seed", "1", "of the messages that are drawn"}},
};

}  // namespace amsim::switching
