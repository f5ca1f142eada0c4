// What a network does under a load: a point of its curve of latency against load. Names, and what they mean, are BookSim2's (sim_type
// latency, injection_process bernoulli, injection_rate_uses_flits 1).
//
// All figures are a function of the arguments, for any thread.
#pragma once

#include <am/sim/network.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace am::sim {

/// What nodes send: each makes a packet in each cycle with the same probability. Loads are in flits per flit time: a cycle, on ncube2 36, on cm5 8.
struct Traffic {
  /// uniform, transpose, neighbor, hotspot, bitcomp, bitrev, shuffle, tornado or randperm.
  std::string pattern = "uniform";
  double injection_rate = 0.1;  ///< flits per node and flit time, up to 1
  unsigned packet_size = 1;     ///< flits; t1 takes 1 to 10, mmachine 3 to 13, ncube2 2 and more, cm5 1 to 5
  std::uint64_t seed = 1;       ///< of what is drawn
  std::vector<Node> hotspots{0};  ///< of hotspot
  double hotspot_share = 0.1;     ///< of all packets, that the hot spots get together
  std::uint64_t perm_seed = 0;    ///< of randperm
};

/// How long to simulate, in periods of sample_period flit times.
struct Periods {
  Cycle sample_period = 1000;   ///< flit times
  unsigned warmup_periods = 3;  ///< before packets count
  unsigned max_samples = 10;    ///< in which they count
  double latency_thres = 500;   ///< flit times; a network with a greater mean packet latency is saturated
};

/// What came out. Latencies are of packets that counted and have come, in cycles, until the last flit is out; 0 of none.
struct Figures {
  double accepted = 0;         ///< flits per node and flit time that came out
  std::uint64_t packets = 0;   ///< that counted and have come
  double packet_latency = 0;   ///< mean, from its making
  double network_latency = 0;  ///< mean, since its first flit was sent
  Cycle p50 = 0;               ///< packet latency that 50 in 100 do not exceed
  Cycle p95 = 0;               ///< the same of 95
  Cycle p99 = 0;               ///< of 99
  Cycle longest = 0;           ///< packet latency
  double hops = 0;             ///< mean: routers on the way
  double busiest_link = 0;     ///< flits per flit time of the link that carries most
  bool saturated = false;  ///< packets that count are still under way, or their latency is over latency_thres
  Cycle cycles = 0;        ///< that were simulated
  std::uint64_t fingerprint = 0;  ///< depends on every flit that has passed a router, when and where
};

/// Simulates a new network of that shape under that traffic. Throws std::invalid_argument where there can be no such network, or no such
/// traffic on it; std::runtime_error where nothing moves any more: who waits for whom.
[[nodiscard]] Figures run(const Shape& shape, const Traffic& traffic, const Periods& periods = {});

}  // namespace am::sim
