// A network under a clock, packet by packet: of a textbook's routers, or of a machine's own. Textbook routers have virtual channels, wormhole
// switching and credits; these, topologies and their names are those of BookSim2 (Jiang and others, "A Detailed and Flexible Cycle-Accurate Network-on-Chip Simulator", 2013; Dally
// and Towles, "Principles and Practices of Interconnection Networks", 2004); docs/emulation.md says what each cycle is spent on.
//
// What happens is a function of the calls, the same on every machine. For one thread at a time.
#pragma once

#include <am/impl/language.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace am::sim {

/// A node, by number: in a grid x + k * y and so on.
using Node = std::uint32_t;
/// A time, or how long something takes, by the network's clock.
using Cycle = std::uint64_t;

/// Which network: k^n nodes; 2^n of a hypercube or ncube2, and 4^n of cm5, which have no k.
struct Shape {
  /// Textbook routers in a mesh, torus, hypercube or fattree; or the routers of a machine: t1 or mmachine, in two dimensions,
  /// care, a mesh, iwarp, a torus, ncube2, a hypercube, or cm5, a fat tree.
  std::string network = "mesh";
  unsigned k = 8;  ///< nodes of each dimension of a grid; links up of each router of a tree
  unsigned n = 2;  ///< dimensions of a grid or a cube; levels of a tree
  // Of textbook routers alone:
  unsigned num_vcs = 4;        ///< virtual channels of each link
  unsigned vc_buf_size = 6;    ///< flits of each
  unsigned routing_delay = 1;  ///< cycles; 0: a head comes with its route (lookahead)
};

/// A packet that has come to its node.
struct Packet {
  std::uint64_t number;  ///< what inject() gave
  Node from;
  Node to;
  unsigned flits;
  Cycle made;  ///< when it was injected
  Cycle sent;  ///< when its node gave it to the network
  Cycle came;  ///< when its last flit was out
};

/// A network, and the nodes that send its packets, in the order of inject(), as there is room. On t1 these are low messages, on mmachine ordered
/// ones of priority 0, on cm5 the left network's.
class Network {
 public:
  /// An empty one, at cycle 0. Throws std::invalid_argument where there can be none.
  explicit Network(const Shape& shape);
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  /// How many there are.
  [[nodiscard]] Node nodes() const noexcept;
  /// Cycles so far.
  [[nodiscard]] Cycle now() const noexcept;

  /// A packet that its node sends from this cycle on, and its number: 0, 1, and so on. It waits at its node as long as it has to: nodes
  /// hold as many packets as they are given. Throws std::invalid_argument where there is no such node, or no packet of so many
  /// flits: t1 takes 1 to 10, mmachine 3 to 13, ncube2 2 and more, cm5 1 to 5.
  std::uint64_t inject(Node from, Node to, unsigned flits = 1);
  /// One cycle. Throws std::runtime_error where nothing has moved for 1000 cycles though packets are under way: who waits for whom.
  void step();
  /// The packets that came in the last step(): until the next one.
  [[nodiscard]] std::span<const Packet> arrived() const noexcept;

  /// Packets that were injected and have not come.
  [[nodiscard]] std::uint64_t under_way() const noexcept;
  /// A number that depends on every flit that has passed a router, when and where.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace am::sim
