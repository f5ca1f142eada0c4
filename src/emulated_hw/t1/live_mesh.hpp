// The network of the CNS-1 live: T1 routers (router.hpp) in memory that the processes of a job share, stepped by whoever has put a
// message in, or comes by (T1 report, 3.2, 3.3, 3.5, 3.9).
//
//   node: inject  ->  [channel] router [channel] router ...  ->  counted at the node
//
// A message is a word that says where it goes; what it carries lies where its sender put it. At its end it is counted (Nodes), which
// always succeeds; but a fetch, which the interface handles itself, turns there into its answer, as if that were one more channel on
// its way. Answers have high priority and come to an end that always takes them, so low messages may wait for them (3.5). So a node
// that takes nothing holds up nobody but those who send to it: their windows are theirs to keep. All that is in the network can always
// go on (no message waits for another in a circle: mesh.hpp), and whoever injects carries it, and whatever it sets free, until nothing
// is left that can move (carry). When a carrier is killed or stopped on the way, or gives up after many steps, the network's words tell
// where there is something left (work, waiting): look_after(), by anybody, now and then.
//
// How routers are stepped by many at a time without a lock: kit/live_move.hpp.
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
#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulated_hw/kit/live_channel.hpp"
#include "emulated_hw/t1/router.hpp"

namespace am::t1 {

/// Who handles a message at its end (3.9).
enum class For : std::uint8_t {
  processor,
  store,   ///< the interface: its words go to memory. Low priority
  fetch,   ///< the interface, which sends what lies in memory back, as an `answer`. Low priority
  answer,  ///< the interface of the node that has fetched. High priority
};

/// What travels.
struct Carried {
  NodeNumber destination = 0;
  NodeNumber source = 0;
  unsigned flits = 1;
  bool counts = true;  ///< at its end; else only what is sent behind it does
  bool multicast = false;
  For who = For::processor;
  unsigned answer_flits = 0;  ///< of a fetch

  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    return destination | source << 10 | flits << 20 | std::uint32_t{counts} << 24 |
           std::uint32_t{multicast} << 25 | static_cast<std::uint32_t>(who) << 26 | answer_flits << 28;
  }
  static constexpr Carried of(std::uint32_t bits) noexcept {
    return {bits & 1023,
            bits >> 10 & 1023,
            bits >> 20 & 15,
            (bits >> 24 & 1) != 0,
            (bits >> 25 & 1) != 0,
            static_cast<For>(bits >> 26 & 3),
            bits >> 28};
  }
  /// What the interface of its destination sends back.
  [[nodiscard]] constexpr Carried answered() const noexcept {
    return {.destination = source,
            .source = destination,
            .flits = answer_flits,
            .counts = counts,
            .who = For::answer};
  }
};
static_assert(most_nodes <= 1024);
/// The interface's own channel into the network, for what it answers: the processor's are those of class 0.
inline constexpr unsigned answers = channel(0, Priority::high, 1);

/// What is counted at a node of each other one: its messages; and, of what its interface does without its processor, stores of the
/// other's, and answers to what was fetched from the other.
enum class Counted : std::uint8_t { low, high, stored, answered };
inline constexpr unsigned kinds_of_counted = 4;
constexpr Counted counted(Priority priority) noexcept { return static_cast<Counted>(priority); }

static_assert(default_buffers == kit::LiveChannel::places && channels <= kit::Entry::most_inputs);

/// One router's words. All zero at the beginning.
struct LiveRouter {
  alignas(64) std::atomic<kit::Requests> waiting;  ///< inputs whose packets their carriers have left
  std::atomic<kit::Requests> starved;              ///< inputs whose sender found no room
  kit::Tally<std::uint32_t> looks;                 ///< of look_after()
  kit::PacketTurns<kit::Tally<std::uint8_t>> turns;
  std::array<kit::LiveChannel, channels> inputs;
  alignas(64) kit::Tally<std::uint64_t> to_node;  ///< flits
};

class LiveMesh {
 public:
  /// What the network knows of its nodes. Any thread, any process, several at once.
  class Nodes {
   public:
    Nodes() = default;
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;
    virtual ~Nodes() = default;
    /// What counts them, a kit::Entry: in shared memory, only ever changed here.
    [[nodiscard]] virtual std::atomic<std::uint64_t>& arrivals(NodeNumber at, NodeNumber from,
                                                               Counted what) noexcept = 0;
    /// One has been counted: whatever is needed for it to be found one day. May be told again.
    virtual void arrived(NodeNumber at, NodeNumber from, Counted what) noexcept = 0;
    /// The same, when the carrier has nothing else to do at once, and unless it was killed: for it to be found soon.
    virtual void show(NodeNumber at, NodeNumber from, Counted what) noexcept = 0;
    /// There is room to inject, which was found lacking and was asked for. May be told again.
    virtual void has_room(NodeNumber at) noexcept = 0;
  };

  /// Of shared memory, which is zero at the beginning.
  [[nodiscard]] static constexpr std::size_t bytes(NodeNumber nodes) noexcept {
    return sizeof(Shared) + nodes * sizeof(LiveRouter);
  }
  /// Its channels hold default_buffers messages. Throws std::invalid_argument. `memory`: aligned to 64 bytes; as `nodes`, it outlives this.
  LiveMesh(const Shape& shape, std::byte* memory, Nodes& nodes)
      : grid_(grid_of(shape)),
        patience_(shape.patience),
        shared_(*reinterpret_cast<Shared*>(memory)),
        routers_(reinterpret_cast<LiveRouter*>(memory + sizeof(Shared))),
        nodes_(nodes) {
    shared_.rows = shape.rows;
    shared_.columns = shape.columns;
  }

  [[nodiscard]] const kit::Grid& grid() const noexcept { return grid_.plain(); }
  [[nodiscard]] const LiveRouter& router(NodeNumber node) const noexcept { return routers_[node]; }

  // For onlookers, who may only read that memory.

  /// That of the network that was made there; empty: none was. The first word there is not 0 when one was.
  [[nodiscard]] static std::optional<Shape> shape_in(const std::byte* memory) noexcept {
    const Shared& shared = *reinterpret_cast<const Shared*>(memory);
    const Shape shape{.rows = shared.rows, .columns = shared.columns};
    return shape.rows == 0 || shape.columns == 0 ? std::nullopt : std::optional(shape);
  }
  [[nodiscard]] static const LiveRouter& router_in(const std::byte* memory, NodeNumber node) noexcept {
    return reinterpret_cast<const LiveRouter*>(memory + sizeof(Shared))[node];
  }

  // By the node itself, one thread at a time.

  /// Puts a message into the network: false, and nothing has happened, where there is no room. carry(node) is to follow.
  [[nodiscard]] bool inject(NodeNumber node, Priority priority, const Carried& message) noexcept;
  /// Whether inject() would find room.
  [[nodiscard]] bool accepts(NodeNumber node, Priority priority) const noexcept;
  /// Asks for Nodes::has_room when there is. True: there is by now.
  [[nodiscard]] bool ask_for_room(NodeNumber node, Priority priority) noexcept;

  /// Whether all that the node has injected has left its router.
  [[nodiscard]] bool has_gone(NodeNumber node) const noexcept;

  // By anybody.

  /// Moves what can move, beginning with what this node has injected: until nothing can, or for many steps.
  void carry(NodeNumber node, Priority priority) noexcept;
  /// Carries on what others have left: marked, at once; and what is not, within as many calls as there are nodes, or 16.
  /// Whether there was anything.
  bool look_after() noexcept;
  /// Whether look_after() looks at this router: something has come there lately.
  [[nodiscard]] bool is_watched(NodeNumber node) const noexcept {
    const Bit its = work(node);
    return (its.word.load(std::memory_order_relaxed) & its.bit) != 0;
  }

 private:
  template <class Pause>
  friend class Carrier;

  struct alignas(64) Shared {
    kit::Tally<std::uint32_t> rows;
    kit::Tally<std::uint32_t> columns;
    alignas(
        64) std::array<std::atomic<std::uint64_t>, most_nodes / 64> work;  // routers with something waiting
  };
  /// The input at which an output's channel ends. Port 0: what the interface sends back.
  struct Behind {
    NodeNumber node;
    unsigned input;
  };
  [[nodiscard]] Behind behind(NodeNumber node, unsigned output) const noexcept {
    const unsigned port = output / vcs;
    if (port == 0) return {node, output};
    return {grid_.neighbour(node, port), kit::Grid::opposite(port) * vcs + output % vcs};
  }
  [[nodiscard]] kit::LiveChannel& channel_behind(NodeNumber node, unsigned output) const noexcept {
    const Behind its = behind(node, output);
    return routers_[its.node].inputs[its.input];
  }
  /// A router's bit of `work`.
  struct Bit {
    std::atomic<std::uint64_t>& word;
    std::uint64_t bit;
  };
  [[nodiscard]] Bit work(NodeNumber node) const noexcept {
    return {shared_.work[node / 64], std::uint64_t{1} << node % 64};
  }

  const kit::MappedGrid grid_;
  const unsigned patience_;
  Shared& shared_;
  LiveRouter* const routers_;
  Nodes& nodes_;
  kit::Tally<NodeNumber> next_{};  // to be looked after, watched or not
};

}  // namespace am::t1
