#include "emulated_hw/across/programs.hpp"

#include <algorithm>
#include <stdexcept>

namespace am::across {

namespace {

/// Nodes that compute nothing, until all is over.
void run_others(Machine& machine, NodeNumber first, const bool& is_over) {
  for (NodeNumber node = first; node < machine.nodes(); ++node)
    machine.run(node,
                [&machine, &is_over, node] { return machine.wait(node, [&is_over] { return is_over; }); });
}

void expect_whole(const Machine::Incoming& in, unsigned words) {
  if (in.words[0] != Machine::block_sum(in.from, words))
    throw std::runtime_error("node " + std::to_string(in.here) + ": a block has come with other words");
}

}  // namespace

Cycle ping(Name name, NodeNumber nodes) {
  const auto machine = machine_of(name, nodes);
  bool is_over = false;
  Cycle took = 0;
  const unsigned pong = machine->place([&](Machine::Incoming&) -> Program {
    is_over = true;
    took = machine->cycles();
    co_return;
  });
  const unsigned ping =
      machine->place([&](Machine::Incoming& in) -> Program { co_await in.reply(pong, in.words); });
  machine->run(0, [&]() -> Program {
    co_await machine->request(0, nodes - 1, ping, {1, 2, 3});
    co_await machine->wait(0, [&] { return is_over; });
  });
  run_others(*machine, 1, is_over);
  machine->run_or_throw([&] { return is_over; });
  return took;
}

Cycle block(Name name, NodeNumber nodes, unsigned words) {
  const auto machine = machine_of(name, nodes);
  bool is_over = false;
  Cycle took = 0;
  const unsigned done = machine->place([&](Machine::Incoming&) -> Program {
    is_over = true;
    took = machine->cycles();
    co_return;
  });
  const unsigned come = machine->place([&](Machine::Incoming& in) -> Program {
    expect_whole(in, words);
    co_await in.reply(done, {});
  });
  machine->run(0, [&]() -> Program {
    co_await machine->put(0, nodes - 1, words, come);
    co_await machine->wait(0, [&] { return is_over; });
  });
  run_others(*machine, 1, is_over);
  machine->run_or_throw([&] { return is_over; });
  return took;
}

double half_round_trip(Name name, unsigned words) {
  const auto machine = machine_of(name, 2);
  constexpr unsigned trips = 2;
  std::array<unsigned, 2> come{};  // by node
  const unsigned handler = machine->place([&](Machine::Incoming& in) -> Program {
    if (words != 0) expect_whole(in, words);
    ++come[in.here];
    co_return;
  });
  const auto send = [&](NodeNumber here) {
    return words == 0 ? machine->request(here, 1 - here, handler, {})
                      : machine->put(here, 1 - here, words, handler);
  };
  Cycle first = 0;
  Cycle last = 0;
  bool is_over = false;
  machine->run(0, [&]() -> Program {
    for (unsigned trip = 1; trip <= trips; ++trip) {
      first = machine->cycles();
      co_await send(0);
      co_await machine->wait(0, [&] { return come[0] == trip; });
      last = machine->cycles();
    }
    is_over = true;
  });
  machine->run(1, [&]() -> Program {
    for (unsigned trip = 1; trip <= trips; ++trip) {
      co_await machine->wait(1, [&] { return come[1] == trip; });
      co_await send(1);
    }
  });
  machine->run_or_throw([&] { return is_over; });
  return static_cast<double>(last - first) / 2;
}

Cycle all_to_all(Name name, NodeNumber nodes) {
  const auto machine = machine_of(name, nodes);
  unsigned answers = 0;
  const unsigned all = nodes * (nodes - 1);
  const unsigned pong = machine->place([&](Machine::Incoming&) -> Program {
    ++answers;
    co_return;
  });
  const unsigned ping =
      machine->place([&](Machine::Incoming& in) -> Program { co_await in.reply(pong, in.words); });
  for (NodeNumber node = 0; node < nodes; ++node) {
    machine->run(node, [&, node]() -> Program {
      for (NodeNumber i = 1; i < nodes; ++i)
        co_await machine->request(node, (node + i) % nodes, ping, {1, 2, 3});
      co_await machine->wait(node, [&] { return answers == all; });
    });
  }
  machine->run_or_throw([&] { return answers == all; });
  return machine->cycles();
}

double stencil(Name name, NodeNumber nodes) {
  const auto machine = machine_of(name, nodes);
  constexpr unsigned steps = 4;
  constexpr unsigned edge_words = 32;
  unsigned side = 1;
  while (side * side < nodes) side *= 2;
  if (side * side != nodes) throw std::invalid_argument("a stencil's nodes form a square");
  std::vector<unsigned> edges(nodes);  // that have come
  unsigned ended = 0;
  const unsigned edge = machine->place([&](Machine::Incoming& in) -> Program {
    expect_whole(in, edge_words);
    ++edges[in.here];
    co_return;
  });
  const auto neighbours = [side](NodeNumber node) {
    std::vector<NodeNumber> all;
    const NodeNumber x = node % side;
    if (x > 0) all.push_back(node - 1);
    if (x + 1 < side) all.push_back(node + 1);
    if (node >= side) all.push_back(node - side);
    if (node + side < side * side) all.push_back(node + side);
    return all;
  };
  for (NodeNumber node = 0; node < nodes; ++node) {
    machine->run(node, [&, node]() -> Program {
      const std::vector<NodeNumber> around = neighbours(node);
      for (std::size_t step = 1; step <= steps; ++step) {
        for (const NodeNumber neighbour : around) co_await machine->put(node, neighbour, edge_words, edge);
        co_await machine->compute(node, inner_cycles);
        co_await machine->wait(node, [&, step] { return edges[node] >= step * around.size(); });
        co_await machine->compute(node, edge_cycles);
      }
      ++ended;
      co_await machine->wait(node, [&] { return ended == nodes; });
    });
  }
  machine->run_or_throw([&] { return ended == nodes; });
  return static_cast<double>(machine->cycles()) / steps;
}

Cycle burst(Name name, unsigned requests, unsigned delay) {
  const auto machine = machine_of(name, 2);
  unsigned answers = 0;
  Cycle took = 0;
  bool is_over = false;
  const unsigned pong = machine->place([&](Machine::Incoming&) -> Program {
    ++answers;
    co_return;
  });
  const unsigned ping =
      machine->place([&](Machine::Incoming& in) -> Program { co_await in.reply(pong, in.words); });
  machine->run(0, [&]() -> Program {
    for (unsigned i = 0; i < requests; ++i) {
      co_await machine->request(0, 1, ping, {1, 2, 3});
      co_await machine->compute(0, delay);
      co_await machine->poll(0);
    }
    took = machine->cycles();
    co_await machine->wait(0, [&] { return answers == requests; });
    is_over = true;
  });
  run_others(*machine, 1, is_over);
  machine->run_or_throw([&] { return is_over; });
  return took;
}

}  // namespace am::across
