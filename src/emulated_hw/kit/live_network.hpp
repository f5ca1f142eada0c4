// A network of routers live, on a grid of nodes: routers in memory that the processes of a job share, stepped by whoever has put a
// message in, or comes by. This is what such networks have in common; what its routers decide each says itself (t1/live_mesh.hpp,
// mmachine/live_mesh.hpp).
//
//   node: inject  ->  [channel] router [channel] router ...  ->  counted at the node
//
// A message is a word that says where it goes; what it carries lies where its sender put it. At its end it is counted (LiveNodes), which
// always succeeds, or turns back as another message, into a channel that high messages alone are in. So all that is in the network can
// always go on, whatever its nodes take, and whoever injects carries it, and whatever it sets free, until nothing is left that can move
// (carry). When a carrier is killed or stopped on the way, or gives up after many steps, the network's words tell where there is
// something left (work, waiting): look_after(), by anybody, now and then.
//
// How routers are stepped by many at a time without a lock: live_move.hpp.
//
// Who sees to it that nothing lies forgotten, while nobody is killed:
//   - who puts a packet into a channel steps the router behind it afterwards, with that channel, until it has gone on, or nobody can.
//   - who finds no room behind a packet marks it (waiting), says so at the channel (starved), and looks once more; who takes a packet
//     out looks there afterwards, and steps the router before it, with what is marked.
//   - who takes back a mark, or a bit of `work`, looks once more afterwards.
// All accesses are sequentially consistent, so of two who each write and then look, one sees the other. What a killed carrier had in
// hand may be marked nowhere: so look_after() looks at all inputs of a router that it watches every 16th time, and each time at all of
// one more router, watched or not.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/kit/live_channel.hpp"

namespace am::kit {

template <class Mesh, class Pause>
class LiveCarrier;

/// What a network knows of its nodes. Any thread, any process, several at once. `Counted`: what is counted at a node of another one.
template <class Counted>
class LiveNodes {
 public:
  LiveNodes() = default;
  LiveNodes(const LiveNodes&) = delete;
  LiveNodes& operator=(const LiveNodes&) = delete;
  virtual ~LiveNodes() = default;
  /// What counts them, an Entry: in shared memory, only ever changed by the network.
  [[nodiscard]] virtual std::atomic<std::uint64_t>& arrivals(NodeNumber at, NodeNumber from,
                                                             Counted what) noexcept = 0;
  /// One has been counted: whatever is needed for it to be found one day. May be told again.
  virtual void arrived(NodeNumber at, NodeNumber from, Counted what) noexcept = 0;
  /// The same, when the carrier has nothing else to do at once, and unless it was killed: for it to be found soon.
  virtual void show(NodeNumber at, NodeNumber from, Counted what) noexcept = 0;
  /// There is room to inject, which was found lacking and was asked for. May be told again.
  virtual void has_room(NodeNumber at) noexcept = 0;
};

/// Of what is counted at a node of another one.
template <class Counted>
struct LiveArrival {
  NodeNumber at;
  NodeNumber from;
  Counted what;
};

/// Loads a word, for whoever is not to be stopped there.
struct Look {
  [[nodiscard]] Word operator()(const std::atomic<Word>& word) const noexcept {
    return word.load(std::memory_order_seq_cst);
  }
};

/// One router's words. All zero at the beginning. Inputs are numbered port * vcs + vc; port 0 is the node's interface.
/// `Decisions`: what its machine keeps of what it has decided, read in each step, and seldom written.
template <unsigned channels, class Decisions>
struct LiveInputs {
  alignas(64) std::atomic<Requests> waiting;  ///< inputs whose packets their carriers have left
  std::atomic<Requests> starved;              ///< inputs whose sender found no room
  Tally<std::uint32_t> looks;                 ///< of look_after()
  Decisions decisions;
  std::array<LiveChannel, channels> inputs;
  alignas(64) Tally<std::uint64_t> to_node;  ///< flits. By itself: whoever brings some writes here
};

inline constexpr NodeNumber most_live_nodes = 1024;

/// Of a mesh.
struct Extents {
  unsigned rows = 1;
  unsigned columns = 1;
};

/// `Mesh` derives from this, and says how many channels a port has (`vcs`), and by which its nodes' interfaces inject themselves
/// (`interface_input`); its `Router` derives from LiveInputs. What it says besides, for whoever carries: live_carrier.hpp.
template <class Mesh, class Router>
class LiveNetwork {
 public:
  /// Of shared memory, which is zero at the beginning.
  [[nodiscard]] static constexpr std::size_t bytes(NodeNumber nodes) noexcept {
    return sizeof(Shared) + nodes * sizeof(Router);
  }
  /// Dimension 0 of the grid is along a row. `memory`: aligned to 64 bytes; outlives this.
  LiveNetwork(const Grid& grid, std::byte* memory)
      : grid_(grid),
        shared_(*reinterpret_cast<Shared*>(memory)),
        routers_(reinterpret_cast<Router*>(memory + sizeof(Shared))) {
    shared_.rows = static_cast<std::uint16_t>(grid.dimension(1).extent);
    shared_.columns = static_cast<std::uint16_t>(grid.dimension(0).extent);
    shared_.machine = Mesh::number;
  }

  [[nodiscard]] const Grid& grid() const noexcept { return grid_.plain(); }
  [[nodiscard]] const Router& router(NodeNumber node) const noexcept { return routers_[node]; }

  // For onlookers, who may only read that memory.

  /// Those of the network of this kind of which that is the first word in its memory; none: there is none.
  [[nodiscard]] static std::optional<Extents> extents_in(std::uint64_t first_word) noexcept {
    const auto shared = std::bit_cast<std::array<std::uint32_t, 2>>(first_word);
    const auto extents = std::bit_cast<std::array<std::uint16_t, 2>>(shared[1]);
    if (shared[0] != Mesh::number || extents[0] == 0 || extents[1] == 0) return std::nullopt;
    return Extents{extents[0], extents[1]};
  }
  [[nodiscard]] static const Router& router_in(const std::byte* memory, NodeNumber node) noexcept {
    return reinterpret_cast<const Router*>(memory + sizeof(Shared))[node];
  }

  // By the node itself, one thread at a time.

  /// Whether all that the node has injected has left its router.
  [[nodiscard]] bool has_gone(NodeNumber node) const noexcept;

  // By anybody.

  /// Carries on what others have left: marked, at once; and what is not, within as many calls as there are nodes, or 16;
  /// a few more where killed carriers have left a network full. Whether there was anything.
  bool look_after() noexcept;
  /// Whether look_after() looks at this router: something has come there lately.
  [[nodiscard]] bool is_watched(NodeNumber node) const noexcept {
    const Bit its = work(node);
    return (its.word.load(std::memory_order_relaxed) & its.bit) != 0;
  }

 protected:
  template <class, class>
  friend class LiveCarrier;
  ~LiveNetwork() = default;

  // Of the channel by which the processor of a node injects, and nobody else; which holds `most`.

  [[nodiscard]] bool put(NodeNumber node, unsigned input, std::uint32_t packet, unsigned flits,
                         unsigned most) noexcept;
  [[nodiscard]] bool has_room_at(NodeNumber node, unsigned input, unsigned most) const noexcept {
    const LiveChannel& channel = routers_[node].inputs[input];
    return channel.has_room(Entry{Look()(channel.entries)}, Look(), most);
  }
  [[nodiscard]] bool ask_for_room_at(NodeNumber node, unsigned input, unsigned most) noexcept {
    routers_[node].starved.fetch_or(request(input), std::memory_order_seq_cst);
    return has_room_at(node, input, most);
  }
  /// Moves what can move, beginning with what has been put in there: until nothing can, or for many steps.
  void carry_from(NodeNumber node, unsigned input) noexcept;

  /// A router's bit of `work`.
  struct Bit {
    std::atomic<std::uint64_t>& word;
    std::uint64_t bit;
  };
  [[nodiscard]] Bit work(NodeNumber node) const noexcept {
    return {shared_.work[node / 64], std::uint64_t{1} << node % 64};
  }
  [[nodiscard]] Router& router_at(NodeNumber node) const noexcept { return routers_[node]; }
  [[nodiscard]] const MappedGrid& map() const noexcept { return grid_; }

  /// The input at which an output's channel ends. Port 0: what the interface sends back.
  struct Behind {
    NodeNumber node;
    unsigned input;
  };
  [[nodiscard]] Behind behind(NodeNumber at, unsigned output) const noexcept {
    const unsigned port = output / Mesh::vcs;
    if (port == 0) return {at, output};
    return {grid_.neighbour(at, port), Grid::opposite(port) * Mesh::vcs + output % Mesh::vcs};
  }
  /// The node whose router, or interface, lets packets in there; nowhere: the processor, or nobody.
  [[nodiscard]] NodeNumber feeder(NodeNumber at, unsigned input) const noexcept {
    return input == Mesh::interface_input ? at : grid_.neighbour(at, input / Mesh::vcs);
  }

 private:
  struct alignas(64) Shared {
    Tally<std::uint32_t> machine;
    Tally<std::uint16_t> rows;
    Tally<std::uint16_t> columns;
    alignas(64)
        std::array<std::atomic<std::uint64_t>, most_live_nodes / 64> work;  // routers with something waiting
  };

  const MappedGrid grid_;
  Shared& shared_;
  Router* const routers_;
  Tally<NodeNumber> next_{};  // to be looked after, watched or not
};

}  // namespace am::kit
