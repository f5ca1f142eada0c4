// A network of routers live: routers in memory that the processes of a job share, stepped by whoever has put a message in, or comes by.
// This is what such networks have in common. Where channels lead, and what routers decide, each says itself (live_grid.hpp;
// t1/live_mesh.hpp, mmachine/live_mesh.hpp, ncube2/live_cube.hpp, cm5/live_tree.hpp).
//
//   node: inject  ->  [channel] router [channel] router ...  ->  counted at the node
//
// A message is a word that says where it goes; what it carries lies where its sender put it. At its end it is counted (LiveNodes), which
// always succeeds, or turns back as another message, into a channel that high messages alone are in. So all that is in the network can
// always go on, whatever its nodes take, and whoever injects carries it, and whatever it sets free, until nothing is left that can move
// (carry). When a carrier is killed or stopped on the way, or gives up after many steps, the network's words tell where there is
// something left (work, waiting): look_after(), by anybody, now and then.
//
// How routers are stepped by many at a time without a lock: live_move.hpp, and for packets with several channels among their ends
// live_ends.hpp.
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

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/live_channel.hpp"
#include "emulated_hw/kit/ports.hpp"

namespace am::kit {

template <class Mesh, class Pause, class Self>
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
  /// The same, next, unless the carrier was killed: for it to be found soon. A multicast's first nodes take it while it is on its way to others.
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

/// One router's words. All zero at the beginning. `Decisions`: what its machine keeps of what it has decided, read in each step, and
/// seldom written.
template <unsigned channels, class Decisions, class Channel = LiveChannel>
struct LiveInputs {
  alignas(64) std::atomic<Requests> waiting;  ///< inputs whose packets their carriers have left
  std::atomic<Requests> starved;              ///< inputs whose sender found no room
  Tally<std::uint32_t> looks;                 ///< of look_after()
  Decisions decisions;
  std::array<Channel, channels> inputs;
  alignas(64) Tally<std::uint64_t> to_node;  ///< flits. By itself: whoever brings some writes here
};

inline constexpr NodeNumber most_live_nodes = 1024;
/// More than nodes, where these have routers in common: in a tree.
inline constexpr RouterNumber most_live_routers = 1536;

/// An input of a router.
struct InputAt {
  RouterNumber router;
  unsigned input;
};

/// `Mesh` derives from this; its `Router` derives from LiveInputs. It names its `number` in shared memory, and its carriers, as
/// Carrier<Pause>: what it says to these, live_carrier.hpp.
template <class Mesh, class Router>
class LiveNetwork {
 public:
  /// Of shared memory, which is zero at the beginning.
  [[nodiscard]] static constexpr std::size_t bytes(RouterNumber routers) noexcept {
    return sizeof(Shared) + routers * sizeof(Router);
  }
  /// `shape`: what onlookers are told. `memory`: aligned to 64 bytes; outlives this.
  LiveNetwork(RouterNumber routers, std::uint32_t shape, std::byte* memory)
      : count_(routers),
        shared_(*reinterpret_cast<Shared*>(memory)),
        routers_(reinterpret_cast<Router*>(memory + sizeof(Shared))) {
    shared_.shape = shape;
    shared_.machine = Mesh::number;
  }

  [[nodiscard]] const Router& router(RouterNumber router) const noexcept { return routers_[router]; }

  // For onlookers, who may only read that memory.

  /// The shape of the network of this kind of which that is the first word in its memory; none: there is none.
  [[nodiscard]] static std::optional<std::uint32_t> shape_in(std::uint64_t first_word) noexcept {
    const auto shared = std::bit_cast<std::array<std::uint32_t, 2>>(first_word);
    if (shared[0] != Mesh::number) return std::nullopt;
    return shared[1];
  }
  [[nodiscard]] static const Router& router_in(const std::byte* memory, RouterNumber router) noexcept {
    return reinterpret_cast<const Router*>(memory + sizeof(Shared))[router];
  }

  // By the node itself, one thread at a time.

  /// Whether all that a node has injected has left its router.
  [[nodiscard]] bool has_gone(RouterNumber router) const noexcept;

  // By anybody.

  /// Carries on what others have left: marked, at once; and what is not, within as many calls as there are routers, or 16;
  /// a few more where killed carriers have left a network full. Whether there was anything.
  bool look_after() noexcept;
  /// Whether look_after() looks at this router: something has come there lately.
  [[nodiscard]] bool is_watched(RouterNumber router) const noexcept {
    const Bit its = work(router);
    return (its.word.load(std::memory_order_relaxed) & its.bit) != 0;
  }

 protected:
  template <class, class, class>
  friend class LiveCarrier;
  ~LiveNetwork() = default;

  // Of the channel by which the processor of a node injects, and nobody else; which holds `most`.

  [[nodiscard]] bool put(RouterNumber router, unsigned input, std::uint32_t packet, unsigned flits,
                         unsigned most) noexcept;
  [[nodiscard]] bool has_room_at(RouterNumber router, unsigned input, unsigned most) const noexcept {
    return routers_[router].inputs[input].has_room(most);
  }
  [[nodiscard]] bool ask_for_room_at(RouterNumber router, unsigned input, unsigned most) noexcept {
    routers_[router].starved.fetch_or(request(input), std::memory_order_seq_cst);
    return has_room_at(router, input, most);
  }
  /// Moves what can move, beginning with what has been put in there: until nothing can, or for many steps.
  void carry_from(RouterNumber router, unsigned input) noexcept;

  /// A router's bit of `work`.
  struct Bit {
    std::atomic<std::uint64_t>& word;
    std::uint64_t bit;
  };
  [[nodiscard]] Bit work(RouterNumber router) const noexcept {
    return {shared_.work[router / 64], std::uint64_t{1} << router % 64};
  }
  [[nodiscard]] Router& router_at(RouterNumber router) const noexcept { return routers_[router]; }

  // For carriers. A network of which it is not so has these itself.

  /// The node whose processor lets packets in there; nowhere: none does. Here a router is a node's own.
  [[nodiscard]] static constexpr NodeNumber injector(RouterNumber router, unsigned input) noexcept {
    const bool is_its = std::ranges::find(Mesh::injected, input) != Mesh::injected.end();
    return is_its ? router : nowhere;
  }
  /// What lies in an input: here in its own places.
  template <class See>
  [[nodiscard]] auto first(RouterNumber router, unsigned input, See see) const {
    return routers_[router].inputs[input].first(see);
  }
  template <class See>
  [[nodiscard]] auto numbered(RouterNumber router, unsigned input, Word number, See see) const {
    return routers_[router].inputs[input].at(number, see);
  }
  [[nodiscard]] RouterNumber routers() const noexcept { return count_; }

 private:
  struct alignas(64) Shared {
    Tally<std::uint32_t> machine;
    Tally<std::uint32_t> shape;
    alignas(64) std::array<std::atomic<std::uint64_t>,
                           most_live_routers / 64> work;  // routers with something waiting
  };

  const RouterNumber count_;
  Shared& shared_;
  Router* const routers_;
  Tally<RouterNumber> next_{};  // to be looked after, watched or not
};

}  // namespace am::kit
