// What `amsim network` is asked for: its parameters, the curves that they name, and how these are called.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "amsim/simulation.hpp"
#include "emulated_hw/kit/load_point.hpp"
#include "emulated_hw/networks.hpp"

namespace amsim::network {

// What all curves have in common.
struct Common {
  std::vector<double> rates;
  unsigned vc_buf_size;
  unsigned routing_delay;
  am::kit::Traffic traffic;  // of no pattern and no rate yet
  am::kit::Periods periods;
  bool details;       // percentiles, hops, loads
  bool links;         // the load of each
  double resolution;  // of the saturation; 0: it is not looked for
  unsigned threads;

  // Throws UsageError.
  explicit Common(const Parameters& parameters);
};

struct Curve {
  unsigned k;
  unsigned n;
  std::string machine;  // or the topology of textbook routers
  std::string traffic;
  unsigned num_vcs;       // of textbook routers
  std::string channel{};  // of others
  unsigned channel_number = 0;
  am::kit::Cycle flit_cycles = 1;

  [[nodiscard]] bool has_own_routers() const { return am::networks::has_own_routers(machine); }
  [[nodiscard]] bool is_cube() const { return machine == "hypercube" || machine == "ncube2"; }
  // Of what takes no k: 2 nodes in each dimension, or 4 links down from each router. Else 0.
  [[nodiscard]] unsigned own_k() const { return is_cube() ? 2 : machine == "cm5" ? 4 : 0; }
  [[nodiscard]] bool is_grid() const { return own_k() == 0 && machine != "fattree"; }
  // Throws std::invalid_argument.
  [[nodiscard]] am::kit::Topology wiring() const { return am::kit::topology_named(machine, k, n); }
  // A torus with one virtual channel is none: packets could wait for each other in a ring.
  [[nodiscard]] bool needs_more() const {
    return !has_own_routers() && num_vcs == 1 && vc_classes(wiring()) > 1;
  }
  [[nodiscard]] unsigned vcs() const { return needs_more() ? vc_classes(wiring()) : num_vcs; }
};

// The machines with routers of their own, with `last` before the last one.
std::string names_of_own(std::string_view last);

// Throws UsageError or std::invalid_argument.
std::vector<Curve> curves_of(const Parameters& parameters);

am::kit::Load load_of(const Curve& curve, const Common& common, double rate);

// With two digits, and more where they tell it from others: 0.40, 0.401.
std::string written(double rate);
// What tells it from the others of its chart: its virtual channels, or the channel that its packets take.
std::string channels_of(const Curve& curve);
// 8x8; of what is no grid, k^n. In names of files, k_n.
std::string size_of(const Curve& curve, const std::string& times = "x", const std::string& to_the = "^");
// In what its loads are: for people behind "flits per node and ", 36 cycles; in names of figures flits_per_flit_time.
std::string flit_time_of(const Curve& curve);
std::string load_unit_of(const Curve& curve);
std::string title_of(const Curve& curve, const Common& common);

}  // namespace amsim::network
