// Latency against load, simulated: packets of four flits on 8 x 8 routers of a textbook, a mesh and a torus, point by point. No job: it is
// linked with am::machines.
//
//   build/bin/examples/sim_latency
#include <am/sim.hpp>
#include <cstdio>

int main() {
  bool grows = true;
  for (const char* topology : {"mesh", "torus"}) {
    double before = 0;
    for (const double rate : {0.1, 0.2, 0.3}) {
      const am::sim::Figures figures =
          am::sim::run({.network = topology, .k = 8, .n = 2}, {.injection_rate = rate, .packet_size = 4});
      std::printf("%s, %.1f flits per node and cycle: %.1f cycles, 99 in 100 at most %llu\n", topology, rate,
                  figures.packet_latency, static_cast<unsigned long long>(figures.p99));
      grows = grows && !figures.saturated && figures.packet_latency > before;
      before = figures.packet_latency;
    }
  }

  am::sim::Network mesh({.network = "mesh", .k = 8, .n = 2});
  mesh.inject(0, 63, 4);
  while (mesh.under_way() != 0) mesh.step();
  const am::sim::Packet& packet = mesh.arrived().front();
  const auto alone = static_cast<unsigned long long>(packet.came - packet.made);
  const bool right = grows && alone == 2 + 5 * (14 + 1) + 3;  // docs/emulation.md has the parts
  std::printf("one packet from corner to corner, alone: %llu cycles: %s\n", alone, right ? "right" : "wrong");
  return right ? 0 : 1;
}
