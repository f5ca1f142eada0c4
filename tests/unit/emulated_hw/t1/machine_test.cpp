// Programs on T1s and their mesh, under one clock: what a message costs from SEND to its handler, over every number of hops (T1
// report, 2.2.1, 3.3, 3.10), and that a deadlock is told.
#include "emulated_hw/t1/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace t1_machine_test {

using namespace am::t1;

constexpr Address ping = 0x4000;
constexpr Address pong = 0x4100;

/// Of a message of n flits that is alone: mesh.hpp.
constexpr Cycle in_network(unsigned hops, unsigned flits) {
  return Mesh::link_cycles + (hops + 1) * (Mesh::router_cycles + Mesh::link_cycles) + flits - 1;
}

struct RoundTrip {
  Cycle took = 0;
  unsigned hops = 0;
};

/// From before the request's SEND until the answer's handler has its first instruction, in the middle of `rounds`.
RoundTrip round_trip(NodeNumber from, NodeNumber to, const Send& what, const Mesh::Shape& shape) {
  Machine machine(shape);
  constexpr int rounds = 3;
  int answers = 0;
  std::vector<Cycle> began;
  Cycle ended = 0;
  machine.node(to).place(ping, [&](Processor& cpu) -> Program {
    EXPECT_TRUE(co_await cpu.send({.scalars = 1, .priority = Priority::high}, from, pong));
  });
  machine.node(from).place(pong, [&](Processor& cpu) -> Program {
    ended = machine.now();
    ++answers;
    co_await cpu.cycles(1);
  });
  machine.node(from).run([&](Processor& cpu) -> Program {
    for (int i = 0; i < rounds; ++i) {
      began.push_back(machine.now());
      EXPECT_TRUE(co_await cpu.send(what, to, ping));
      while (answers == i) co_await cpu.cycles(1);
    }
  });
  EXPECT_TRUE(machine.run_until([&] { return machine.node(from).has_ended(); })) << machine.who_waits();
  return {ended - began.back(), am::kit::distance(machine.mesh().grid(), from, to)};
}

// SEND 5, the way there, dispatch 4, SEND 5, the way back, dispatch 4.
TEST(T1Machine, TakesTheSumOfThePartsOverEveryNumberOfHops) {
  const Mesh::Shape shape{.rows = 4, .columns = 6};
  std::vector<bool> seen(6);
  for (NodeNumber to = 1; to < 24; ++to) {
    for (const Send& what : {Send{.scalars = 1}, Send{.scalars = 5, .vector = true}}) {
      const RoundTrip trip = round_trip(0, to, what, shape);
      const unsigned flits = what.vector ? 10 : 1;
      EXPECT_EQ(trip.took,
                2 * (costs::send + costs::dispatch) + in_network(trip.hops, flits) + in_network(trip.hops, 1))
          << trip.hops << " hops, " << flits << " flits";
      seen.at(trip.hops - 1) = true;
    }
  }
  EXPECT_EQ(std::ranges::count(seen, true), 6) << "three round the ring, three up";
}

// A link carries a flit per cycle: long messages fill it whatever the distance, and short ones come as fast as SEND takes them.
TEST(T1Machine, IsAsFastAsItsSlowestPartOverEveryNumberOfHops) {
  for (NodeNumber to = 1; to < 5; ++to) {
    for (const bool vector : {false, true}) {
      Machine machine({.rows = 1, .columns = 5, .wraps = false});
      std::vector<Cycle> came;
      machine.node(to).place(ping, [&](Processor& cpu) -> Program {
        came.push_back(machine.now());
        co_await cpu.cycles(0);
      });
      machine.node(0).run([&](Processor& cpu) -> Program {
        for (int sent = 0; sent < 200;)
          if (co_await cpu.send({.vector = vector}, to, ping)) ++sent;
      });
      ASSERT_TRUE(machine.run_until([&] { return came.size() == 200; })) << machine.who_waits();
      const double gap = static_cast<double>(came[150] - came[50]) / 100;
      if (vector)
        EXPECT_NEAR(gap, 9, 0.5) << to;
      else
        EXPECT_NEAR(gap, costs::dispatch + costs::hret, 0.5) << to;
    }
  }
}

TEST(T1Machine, LooksTheSameInWhateverOrderItIsStepped) {
  test::Random random(test::seed());
  const auto trace = [&](bool shuffled) {
    Machine machine({.rows = 3, .columns = 4});
    std::vector<unsigned> handled(machine.nodes());
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      Processor& cpu = machine.node(node);
      cpu.place(pong, [&handled, node](Processor& here) -> Program {
        ++handled[node];
        co_await here.cycles(2);
      });
      cpu.place(ping, [](Processor& here) -> Program {
        const NodeNumber from = here.registers().data[0];
        while (!co_await here.send({.scalars = 1, .priority = Priority::high}, from, pong)) {
        }
      });
      cpu.run([node, nodes = machine.nodes()](Processor& here) -> Program {
        for (NodeNumber i = 1; i < 20; ++i) {
          here.registers().data[0] = node;
          while (
              !co_await here.send({.scalars = 1 + i % 5, .vector = i % 3 == 0}, (node + i) % nodes, ping)) {
          }
        }
      });
    }
    std::vector<NodeNumber> order(shuffled ? machine.nodes() : 0);
    std::iota(order.begin(), order.end(), NodeNumber{0});
    for (int i = 0; i < 3'000; ++i) {
      for (std::size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[random.below(left)]);
      machine.step(order);
    }
    EXPECT_EQ(std::accumulate(handled.begin(), handled.end(), 0u), 19 * machine.nodes());
    return machine.mesh().fingerprint();
  };
  const auto in_order = trace(false);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(trace(true), in_order);
}

// Nodes that have nothing to do are left out: nobody can tell, by what they counted or by when an event comes to them.
TEST(T1Machine, LooksTheSameWhereNodesAreLeftOut) {
  const auto run = [](bool all) {
    Machine machine({.rows = 2, .columns = 3});
    std::vector<NodeNumber> order;
    for (NodeNumber node = 0; all && node < machine.nodes(); ++node) order.push_back(node);
    std::vector<Cycle> seen;
    const auto note = [&](Processor& cpu) -> Program {
      seen.push_back(machine.now());
      seen.push_back(cpu.ni().cfc2(Register::count));
      co_await cpu.cycles(2);
    };
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      machine.node(node).place(ping, note);
      machine.node(node).place(pong, note);
      machine.node(node).ni().ctc2(Register::timeh, pong);
      machine.node(node).ni().ctc2(Register::timec, 100 + 40 * node);
    }
    NetworkInterface& kept = machine.node(4).ni();
    machine.node(5).run([](Processor& cpu) -> Program {
      co_await cpu.cycles(150);
      co_await cpu.send({.scalars = 1}, 0, ping);
    });
    for (int i = 0; i < 1'000; ++i) {
      machine.step(order);
      if (i == 400) machine.node(3).ni().ctc2(Register::timec, 700);
      if (i == 600) kept.deliver({.handler = ping});
    }
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      const Processor::Spent& spent = machine.node(node).spent();
      for (const std::uint64_t one :
           {spent.all, spent.computing, spent.dispatching, spent.handling, spent.idle})
        seen.push_back(one);
      seen.push_back(machine.node(node).ni().cfc2(Register::count));
    }
    return seen;
  };
  const std::vector<Cycle> seen = run(true);
  EXPECT_EQ(seen.size(), (6u + 1 + 1 + 1) * 2 + 6 * 6);
  EXPECT_EQ(run(false), seen);
}

// The report's own warning (3.5): a handler that sends requests of its own priority may wait for ever.
TEST(T1Machine, SaysWhoWaitsWhenHandlersSendRequestsToEachOther) {
  Machine machine({.rows = 1, .columns = 2, .wraps = false, .buffers = 1});
  for (NodeNumber node = 0; node < 2; ++node) {
    machine.node(node).place(ping, [node](Processor& cpu) -> Program {
      for (int i = 0; i < 2; ++i)
        while (!co_await cpu.send({}, 1 - node, ping)) {
        }
    });
    machine.node(node).run([node](Processor& cpu) -> Program {
      while (!co_await cpu.send({}, 1 - node, ping)) {
      }
    });
  }
  try {
    machine.run_or_throw([] { return false; }, 1'000);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "t1: nothing has moved for 1001 cycles:\n"
                 "node 0: a low message to node 1 in its interface waits behind that to node 1\n"
                 "node 0: a low message from node 0 to node 1 at port 0 waits for port 1, no room at node 1 "
                 "behind that from node 0 to node 1\n"
                 "node 0: a low message from node 1 to node 0 at port 1 waits for port 0, where node 0 takes "
                 "none of that priority\n"
                 "node 1: a low message to node 0 in its interface waits behind that to node 0\n"
                 "node 1: a low message from node 1 to node 0 at port 0 waits for port 2, no room at node 0 "
                 "behind that from node 1 to node 0\n"
                 "node 1: a low message from node 0 to node 1 at port 2 waits for port 0, where node 1 takes "
                 "none of that priority\n");
  }
}

TEST(T1Machine, EndsWithWhatAProgramThrows) {
  Machine machine({.rows = 1, .columns = 2});
  machine.node(0).run([](Processor& cpu) -> Program { co_await cpu.send({}, 7, ping); });
  try {
    machine.run_until([] { return false; });
    FAIL();
  } catch (const Exception& error) {
    EXPECT_STREQ(error.what(), "node 0: a message to node 7, outside the mesh of 2");
  }
}

TEST(T1Machine, RefusesWhatIsNoMesh) {
  EXPECT_THROW(Machine({.rows = 0, .columns = 4}), std::invalid_argument);
  EXPECT_THROW(Machine({.rows = 33, .columns = 32}), std::invalid_argument);
  EXPECT_THROW(Machine({.rows = 1u << 31, .columns = 2}), std::invalid_argument);
}

}  // namespace t1_machine_test
