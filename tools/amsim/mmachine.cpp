// `amsim mmachine`: what an empty message and its answer take on the M-Machine and over its network (src/emulated_hw/mmachine), by how far
// it is, where nothing is in their way; beside what the sections of W. S. Lee's thesis in brackets add up to. `amsim papers` has the
// thesis's tables.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "amsim/simulation.hpp"
#include "emulated_hw/mmachine/programs/ping.hpp"
#include "results/progress.hpp"

namespace amsim::mmachine {

namespace {

using am::mmachine::Mesh;
using am::mmachine::NodeNumber;
using am::mmachine::ping;
using am::mmachine::PingTimes;

// 1, 2, 4 and so on, and the farthest.
std::vector<unsigned> distances_in(const Mesh::Shape& shape) {
  const unsigned farthest = shape.width + shape.height - 2;
  std::vector<unsigned> all;
  for (unsigned links = 1; links < farthest; links *= 2) all.push_back(links);
  all.push_back(farthest);
  return all;
}

// The node that is so far from the corner of node 0, along x first.
NodeNumber node_at(unsigned links, const Mesh::Shape& shape) {
  const unsigned x = std::min(links, shape.width - 1);
  return (links - x) * shape.width + x;
}

std::string size_of(const Mesh::Shape& shape, const std::string& times) {
  return std::to_string(shape.width) + times + std::to_string(shape.height);
}

void add_distances(const Mesh::Shape& shape, Report& report) {
  Row row("to a node and back, on " + size_of(shape, " x ") + " nodes, from a corner");
  row.key("width", shape.width).key("height", shape.height).key("channels", shape.channels).references("sum");
  Chart chart{
      .name = "mmachine_" + size_of(shape, "x"),
      .title = "M-Machine of " + size_of(shape, " x ") + ": an empty message, by its distance in links",
      .unit = "cycles",
      .exact = true,
      .columns = {"there", "there and back"},
      .rows = {}};
  for (const unsigned links : distances_in(shape)) {
    const PingTimes times = ping(shape, 0, node_at(links, shape));
    const auto latency = static_cast<double>(times.came - times.sent);
    const auto both = static_cast<double>(times.answered);
    const std::string name = "links_" + std::to_string(links);
    const std::string label = std::to_string(links) + (links == 1 ? " link" : " links");
    constexpr double to_neighbour = 11;
    row.beside(name + "_latency_cycles", label + ", SEND to MsgHead (7.2.2; a link a cycle, 4.4.1)",
               {.value = to_neighbour + links - 1}, latency);
    constexpr double ends = 2 * (5 + 3);  // k_o and dispatch (7.2.2, 3.2), there and back
    row.beside(name + "_round_trip_cycles", label + ", and an answer back",
               {.value = ends + 2 * (to_neighbour + links - 1)}, both);
    chart.rows.push_back({label, {exactly(latency), exactly(both)}});
  }
  report.rows.push_back(std::move(row));
  report.charts.push_back(std::move(chart));
}

std::vector<Mesh::Shape> shapes_of(const Parameters& parameters) {
  const auto channels = parameters["channels"].number<unsigned>();
  std::vector<Mesh::Shape> shapes;
  for (const unsigned width : parameters["width"].numbers<unsigned>()) {
    for (const unsigned height : parameters["height"].numbers<unsigned>()) {
      if (width == 0 || height == 0 || width > Mesh::most_extent || height > Mesh::most_extent)
        throw UsageError("width and height have to be from 1 to " + std::to_string(Mesh::most_extent));
      if (width * height == 1) throw UsageError("width=1 height=1 has no network");
      shapes.push_back({.width = width, .height = height, .channels = channels});
    }
  }
  return shapes;
}

Report simulate(const Options& options) {
  const std::vector<Mesh::Shape> shapes = shapes_of(options.parameters);
  Report report = report_of(options);
  Progress progress("mmachine", static_cast<int>(shapes.size()));
  for (const Mesh::Shape& shape : shapes) {
    progress.step();
    add_distances(shape, report);
  }
  return report;
}

}  // namespace

const Simulation simulation{
    .name = "mmachine",
    .meaning = "what a message and its answer take on the M-Machine, in cycles, by distance",
    .run = simulate,
    .parameters = {{"width", "8", "nodes [list]"},
                   {"height", "8", "nodes [list]"},
                   {"channels", "4", "virtual channels of a link: 4, or the prototype's 2"}},
};

}  // namespace amsim::mmachine
