#include "amsim/t1/stencil_step.hpp"

#include <vector>

#include "emulated_hw/t1/programs/sending.hpp"

namespace amsim::t1 {

namespace {

constexpr Address start_in_column = 0x7000;
constexpr Address start_in_row = 0x7100;
constexpr Address edge = 0x7200;
constexpr Address done = 0x7300;

constexpr unsigned inner_points = 40;  // cycles that they take, which need no edges
constexpr unsigned edge_points = 24;

class Step {
 public:
  Step(Machine& machine, const Shape& shape) : machine_(machine), shape_(shape), nodes_(machine.nodes()) {
    place_handlers();
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      for (unsigned port = 1; port < ports; ++port) {
        const NodeNumber neighbour = machine.mesh().grid().neighbour(node, port);
        if (neighbour != am::kit::Grid::nowhere) nodes_[node].neighbours.push_back(neighbour);
      }
      machine.node(node).run([this](Processor& cpu) { return compute(cpu, nodes_[node_of(cpu)]); });
    }
  }
  [[nodiscard]] bool is_over() const { return done_ == nodes_.size() && machine_.mesh().under_way() == 0; }

 private:
  struct Node {
    std::vector<NodeNumber> neighbours;
    bool started = false;
    std::size_t edges = 0;  // that have come
  };

  void place_handlers() {
    machine_.place(start_in_row, [this](Processor& cpu) -> Program {
      nodes_[node_of(cpu)].started = true;
      co_await cpu.cycles(1);
    });
    machine_.place(start_in_column, [this](Processor& cpu) -> Program {
      nodes_[node_of(cpu)].started = true;
      co_await start_the_row(cpu);
    });
    machine_.place(edge, [this](Processor& cpu) -> Program {
      ++nodes_[node_of(cpu)].edges;
      co_await cpu.cycles(8);  // the vector into memory
    });
    machine_.place(done, [this](Processor& cpu) -> Program {
      ++done_;
      co_await cpu.cycles(2);
    });
  }
  Program compute(Processor& cpu, Node& here) {
    if (node_of(cpu) == 0) co_await start_all(cpu);
    while (!here.started) co_await cpu.cycles(2);
    co_await cpu.cycles(inner_points);
    for (const NodeNumber neighbour : here.neighbours)
      co_await send_until_accepted(cpu, {.scalars = 5, .vector = true}, neighbour, edge);
    while (here.edges < here.neighbours.size()) co_await cpu.cycles(2);
    co_await cpu.cycles(edge_points);
    co_await send_until_accepted(cpu, {.scalars = 1}, 0, done);
  }
  Program start_the_row(Processor& cpu) {
    co_await multicast_along_row(cpu, shape_, shape_.columns, {.scalars = 5, .priority = Priority::high},
                                 start_in_row);
  }
  Program start_all(Processor& cpu) {
    nodes_[0].started = true;
    if (shape_.rows > 1)
      co_await send_until_accepted(cpu, {.scalars = 5, .multicast = true}, (shape_.rows - 1) * shape_.columns,
                                   start_in_column);
    co_await start_the_row(cpu);
  }

  Machine& machine_;
  const Shape shape_;
  std::vector<Node> nodes_;
  std::size_t done_ = 0;
};

}  // namespace

void run_stencil_step(Machine& machine, const Shape& shape) {
  const Step step(machine, shape);
  machine.run_or_throw([&] { return step.is_over(); });
}

}  // namespace amsim::t1
