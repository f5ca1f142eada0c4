// `amsim iwarp`: what pathways and messages take on an iWarp (src/emulated_hw/iwarp) beside section 8 of Borkar et al. (1990), the set-up of a
// pathway by its distance beside the sum of the parts, and what the paper's programs take beside the words of their busiest bus.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "amsim/iwarp/latencies.hpp"
#include "amsim/machines.hpp"
#include "amsim/trace_file.hpp"
#include "emulated_hw/iwarp/programs/rows.hpp"
#include "emulated_hw/iwarp/programs/systolic.hpp"

namespace amsim::iwarp {

namespace {

using am::iwarp::Data;
using am::iwarp::on_grid;
using am::iwarp::Pool;
using am::kit::Grid;
using enum am::iwarp::Direction;
namespace costs = am::iwarp::costs;

constexpr unsigned most_extent = 32;             // of the paper's largest array
constexpr CellNumber most_cells_of_trace = 256;  // a picture of more cells shows nothing
constexpr unsigned words_of_trace = 16;
constexpr unsigned first_ns = 250, cell_ns = 200, corner_ns = 250, address_ns = 50;  // of section 8

double ns(Cycle cycles) { return static_cast<double>(cycles * costs::ns); }

Grid torus(const Rectangle& cells) { return Grid({{cells.width, true}, {cells.height, true}}); }

void add_latencies(Report& report) {
  const Grid array = torus({8, 8});
  const auto there = [&](const std::vector<Leg>& legs) { return set_up(array, legs).there; };
  const auto through = [&](Pool pool, bool turns) {
    const Cycle one = there({{x_right, 1, pool}});
    return (turns ? there({{x_right, 1, pool}, {y_up, 1, pool}}) : there({{x_right, 2, pool}})) - one;
  };
  const SourceTimes source = source_times();
  const SetUp example = set_up(array, on_grid(array, 0, 3 + 2 * 8, Pool::reservation));

  Row row("times of section 8, ns");
  row.key("cycle_ns", costs::ns).references("paper");
  const auto beside = [&](const std::string& name, const std::string& label, unsigned paper, Cycle here) {
    row.beside(name + "_ns", label, {.value = paper}, ns(here));
  };
  beside("request", "to ask for a logical channel", 150, source.request);
  beside("begin", "a pathway begin marker, made and sent", 100, source.begin);
  beside("address", "each further address, of a corner", 50, source.address);
  beside("end", "a pathway end marker, made and sent", 100, source.end);
  beside("forward", "a begin marker through a cell, straight on", 200, through(Pool::reservation, false));
  beside("corner", "a begin marker through a cell where it turns", 250, through(Pool::reservation, true));
  beside("join", "from a join until the first word leaves", 100, join());
  beside("message_begin", "a message begin marker", 100, source.message_begin);
  beside("message_end", "a message end marker", 100, source.message_end);
  beside("header", "a message of the open pool through a cell, straight on", 200, through(Pool::open, false));
  beside("header_corner", "a message of the open pool through a cell where it turns", 250,
         through(Pool::open, true));
  beside("header_joint", "a message's header through a joint cell", 200, header_through_joint());
  beside("example_free", "(0, 0) to (3, 2): until the source may send", 300, example.free);
  beside("example_there", "(0, 0) to (3, 2): until the begin marker is there", 1100, example.there);
  report.rows.push_back(std::move(row));
}

// Right as far as that is the shorter way, then up.
std::vector<Leg> legs_over(unsigned busses, unsigned columns) {
  const unsigned right = std::min(busses, columns / 2);
  std::vector<Leg> legs;
  if (right != 0) legs.push_back({x_right, right});
  if (busses != right) legs.push_back({y_up, busses - right});
  return legs;
}

void add_distances(const Rectangle& cells, Report& report) {
  const std::string size = cells.size(" x ");
  Row row("a pathway's set-up on a torus of " + size + " cells, ns");
  row.key("columns", cells.width).key("rows", cells.height).references("sum");
  Chart chart{.name = "iwarp_" + cells.size(),
              .title = "iWarp of " + size + " cells: the set-up of a pathway, by its busses",
              .unit = "ns",
              .exact = true,
              .columns = {"the source may send", "the begin marker is there"},
              .rows = {}};
  for (unsigned busses = 1; busses <= cells.width / 2 + cells.height / 2; ++busses) {
    const std::vector<Leg> legs = legs_over(busses, cells.width);
    const SetUp times = set_up(torus(cells), legs);
    const auto corners = static_cast<unsigned>(legs.size()) - 1;
    const std::string name = "busses_" + std::to_string(busses);
    const std::string label =
        std::to_string(busses) + (busses == 1 ? " bus" : " busses") + (corners == 0 ? "" : " and a corner");
    row.beside(name + "_free_ns", label + ", until the source may send",
               {.value = first_ns + address_ns * corners}, ns(times.free));
    row.beside(name + "_there_ns", label + ", until the begin marker is there",
               {.value = first_ns + cell_ns * (busses - 1 - corners) + corner_ns * corners}, ns(times.there));
    chart.rows.push_back({label, {exactly(ns(times.free)), exactly(ns(times.there))}});
  }
  report.rows.push_back(std::move(row));
  report.charts.push_back(std::move(chart));
}

// Two streams of 18 words, one more than queues of eight hold.
std::string circle_of_crossed_streams() {
  try {
    (void)am::iwarp::cross_streams(18, false);
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    const std::size_t circle = text.find("a circle");
    if (circle != std::string::npos) return text.substr(circle, text.find('\n', circle) - circle);
    throw;
  }
  return "none: they have ended";
}

void add_programs(Report& report) {
  Row row("programs, cycles of 50 ns; the bound is two for each word of the busiest bus");
  row.key("word_cycles", costs::bus).references("bound");
  const auto beside = [&](const char* name, const char* label, std::size_t words, Cycle here) {
    row.beside(std::string(name) + "_cycles", label, {.value = static_cast<double>(costs::bus * words)},
               static_cast<double>(here));
  };
  constexpr unsigned n = 8;
  const std::vector<Data> matrix(n * n, 3), weights(7, 2), values(200, 1);
  beside("multiply", "8 x 8 matrices multiplied on 8 x 8 cells", n,
         am::iwarp::multiply(n, matrix, matrix).cycles);
  const std::size_t results = values.size() - weights.size() + 1;
  beside("convolve", "200 values convolved with 7 weights on 7 cells", values.size() - 1 + results,
         am::iwarp::convolve(values, weights).cycles);

  constexpr unsigned columns = 48, rows = 32, workers = 3, portion = columns / workers;
  const am::iwarp::Inverted inverted =
      am::iwarp::invert(am::iwarp::draw(columns, rows), std::vector<unsigned>(workers, portion));
  beside("rows", "GetRow and PutRow: an image of 48 x 32 over 3 cells", std::size_t{columns} * rows,
         inverted.cycles);
  constexpr double word_bytes = 4;
  row.beside("portion_bytes", "  of it through the memory of the first of them",
             {.value = word_bytes * 2 * rows * portion},
             word_bytes * static_cast<double>(inverted.memory_words[1]));

  beside("streams_16", "crossed streams: 16 words each, in queues of eight", std::size_t{2} * 16,
         am::iwarp::cross_streams(16, false));
  row.note("streams_18", "  18 words each: they wait for ever", circle_of_crossed_streams());
  beside("streams_1000", "  1000 words each, a queue in memory", std::size_t{2} * 1000,
         am::iwarp::cross_streams(1000, true));
  report.rows.push_back(std::move(row));
}

void trace_to_file(const Rectangle& cells, const std::string& file, Report& report) {
  if (cells.nodes() > most_cells_of_trace)
    throw UsageError("--trace: an array of at most " + std::to_string(most_cells_of_trace) + " cells");
  const Grid array = torus(cells);
  am::kit::Trace trace{array};
  trace.names = {.title = "a pathway to the farthest cell, 16 words, and its end",
                 .messages = {"pathway"},
                 .activities = {"computes"}};
  trace_pathway(array, cells.width / 2 + cells.width * (cells.height / 2), words_of_trace, trace);
  write_trace(file, trace, report);
}

Report simulate(const Options& options) {
  const std::vector<Rectangle> arrays = rectangles(options.parameters, "columns", "rows", most_extent);
  Report report = report_of(options);
  trace_the_only(options, arrays, "each of columns and rows",
                 [&](const Rectangle& array) { trace_to_file(array, options.trace_file, report); });
  add_latencies(report);
  for_each_machine(options, arrays, [&](const Rectangle& array) { add_distances(array, report); });
  add_programs(report);
  return report;
}

}  // namespace

const Simulation simulation{
    .name = "iwarp",
    .meaning = "what pathways, messages and systolic programs take on the iWarp, beside its paper",
    .run = simulate,
    .has_trace = true,
    .parameters = {{"columns", "8", "of the torus, 1 to 32 [list]"}, {"rows", "8", "of the torus [list]"}},
};

}  // namespace amsim::iwarp
