// `amsim mmachine`: what an empty message and its answer take on the M-Machine and over its network (src/emulated_hw/mmachine), by how far
// it is, where nothing is in their way; beside what the sections of W. S. Lee's thesis in brackets add up to. `amsim papers` has the
// thesis's tables.

#include <algorithm>
#include <string>
#include <vector>

#include "amsim/machines.hpp"
#include "amsim/mmachine/ping.hpp"

namespace amsim::mmachine {

namespace {

using am::mmachine::Mesh;
using am::mmachine::NodeNumber;

// The node that is so far from the corner of node 0, along x first.
NodeNumber node_at(unsigned links, const Mesh::Shape& shape) {
  const unsigned x = std::min(links, shape.width - 1);
  return (links - x) * shape.width + x;
}

void add_distances(const Rectangle& mesh, unsigned channels, Report& report) {
  const Mesh::Shape shape{.width = mesh.width, .height = mesh.height, .channels = channels};
  Row row("to a node and back, on " + mesh.size(" x ") + " nodes, from a corner");
  row.key("width", shape.width).key("height", shape.height).key("channels", shape.channels).references("sum");
  Chart chart{.name = "mmachine_" + mesh.size(),
              .title = "M-Machine of " + mesh.size(" x ") + ": an empty message, by its distance in links",
              .unit = "cycles",
              .exact = true,
              .columns = {"there", "there and back"},
              .rows = {}};
  for (const unsigned links : distances_to(mesh.width + mesh.height - 2)) {
    const PingTimes times = ping(shape, 0, node_at(links, shape));
    const auto latency = static_cast<double>(times.came - times.sent);
    const auto both = static_cast<double>(times.answered);
    const std::string name = "links_" + std::to_string(links);
    const std::string label = plural(links, "link");
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

Report simulate(const Options& options) {
  const std::vector<Rectangle> meshes = rectangles(options.parameters, "width", "height", Mesh::most_extent);
  const auto channels = options.parameters["channels"].number<unsigned>();
  Report report = report_of(options);
  for_each_machine(options, meshes, [&](const Rectangle& mesh) { add_distances(mesh, channels, report); });
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
