// Simulated networks as programs have them. What a load does to one: tests/process/network_test.py.
#include <gtest/gtest.h>
#include <am/sim.hpp>

#include <array>
#include <stdexcept>

#include "support/random.hpp"

namespace am::sim::network_test {

TEST(SimNetwork, APacketAloneTakesTheSumOfTheParts) {
  Network mesh({.k = 8, .n = 2});
  mesh.step();
  mesh.inject(9, 9 + 3 + 8 * 2, 4);
  while (mesh.arrived().empty()) mesh.step();
  const Packet packet = mesh.arrived().front();
  EXPECT_TRUE(packet.made == 1 && packet.sent == 1);
  EXPECT_EQ(packet.came, 1u + 2 + 5 * (5 + 1) + 3);
  EXPECT_EQ(mesh.now(), packet.came);
  mesh.step();
  EXPECT_TRUE(mesh.arrived().empty());
}

/// More than it can take at once, of any size.
TEST(SimNetwork, BringsEachPacketOnceToItsNode) {
  test::Random random(test::seed());
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random.below(n)); };
  for (const Shape& shape :
       std::vector<Shape>{{.network = "mesh", .k = 2, .n = 4, .num_vcs = 2, .vc_buf_size = 2},
                          {.network = "torus", .k = 2, .n = 4, .num_vcs = 2, .vc_buf_size = 2},
                          {.network = "hypercube", .n = 4, .num_vcs = 1},
                          {.network = "fattree", .k = 2, .n = 4},
                          {.network = "t1", .k = 4},
                          {.network = "mmachine", .k = 4},
                          {.network = "ncube2", .n = 4},
                          {.network = "care", .k = 4}}) {
    Network network(shape);
    std::vector<Packet> sent;  // without flits when it has come
    for (int cycle = 0; cycle < 500 || network.under_way() != 0; ++cycle) {
      if (cycle < 500) {
        const Packet packet{sent.size(), below(16), below(16), 3 + below(7), network.now(), 0, 0};
        EXPECT_EQ(network.inject(packet.from, packet.to, packet.flits), packet.number);
        sent.push_back(packet);
      }
      network.step();
      for (const Packet& packet : network.arrived()) {
        Packet& known = sent.at(packet.number);
        EXPECT_TRUE(packet.from == known.from && packet.to == known.to && packet.flits == known.flits);
        EXPECT_TRUE(packet.made == known.made && packet.made <= packet.sent);
        EXPECT_GE(packet.came, packet.sent + 3 + packet.flits - 1);
        known.flits = 0;
      }
    }
    for (const Packet& packet : sent) EXPECT_EQ(packet.flits, 0u) << shape.network << packet.number;
  }
}

/// The example of am/sim.hpp.
TEST(SimNetwork, ALoadHasItsFigures) {
  const Shape shape{.network = "torus", .k = 8, .n = 2};
  const Figures figures = run(shape, {.pattern = "tornado", .injection_rate = 0.2, .packet_size = 4});
  EXPECT_GT(figures.packet_latency, 30);
  EXPECT_NEAR(figures.accepted, 0.2, 0.01);
}

TEST(SimNetwork, RefusesWhatCannotBe) {
  for (const Shape& shape : std::vector<Shape>{{.network = "ring"}, {.n = 0}, {.k = 0}, {.num_vcs = 0}})
    EXPECT_THROW(Network{shape}, std::invalid_argument);
  EXPECT_THROW(static_cast<void>(run({}, {.pattern = "none"})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(run({}, {.injection_rate = 1.1, .packet_size = 4})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(run({}, {}, {.max_samples = 0})), std::invalid_argument);
  for (const auto [from, to, flits] : {std::array{0u, 64u, 1u}, {64u, 0u, 1u}, {0u, 1u, 0u}})
    EXPECT_THROW(Network({}).inject(from, to, flits), std::invalid_argument);
}

}  // namespace am::sim::network_test
