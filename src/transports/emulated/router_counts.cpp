#include "transports/emulated/router_counts.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>

#include "transports/emulated/care_transport.hpp"
#include "transports/emulated/cm5_transport.hpp"
#include "transports/emulated/iwarp_transport.hpp"
#include "transports/emulated/mmachine_transport.hpp"
#include "transports/emulated/ncube2_transport.hpp"
#include "transports/emulated/t1_transport.hpp"

namespace am::emulated {

namespace {

template <class... A>
void append(std::string& text, const char* format, A... args) {
  char line[160];
  std::snprintf(line, sizeof line, format, args...);
  text += line;
}

/// Flits that nodes have sent, and that have passed links.
struct Passed {
  std::uint64_t sent = 0;
  std::uint64_t links = 0;
};

/// Where a router's input comes from.
struct Source {
  std::string who;
  std::string channel;
  bool is_link = false;
  bool is_storage = false;  ///< of what has come by others
};

/// The network of a machine as an onlooker sees it. `source(node, input)` is a Source.
template <class Mesh, class F>
class Onlooker {
 public:
  Onlooker(const std::shared_ptr<const host::Memory>& memory, std::size_t routers, std::size_t lanes,
           F source)
      : windows_(memory, routers, lanes), source_(source) {}

  [[nodiscard]] const auto& router(NodeId node) const { return Mesh::router_in(windows_.routers(), node); }
  /// The lines of channels that have been used.
  void append_channels(std::string& text, NodeId node) const {
    for (unsigned input = 0; input < router(node).inputs.size(); ++input) {
      const auto& channel = router(node).inputs[input];
      if (channel.flits + channel.refused == 0) continue;
      const Source source = source_(node, input);
      append(text, "  %-12s %-12s %14" PRIu64 " %12" PRIu64 "\n", source.who.c_str(), source.channel.c_str(),
             std::uint64_t{channel.flits}, std::uint64_t{channel.refused});
    }
  }
  void append_whole(std::string& text, NodeId node) const {
    Passed all;
    for (NodeId each = 0; each < windows_.nodes(); ++each) {
      for (unsigned input = 0; input < router(each).inputs.size(); ++input) {
        const Source source = source_(each, input);
        if (!source.is_storage) (source.is_link ? all.links : all.sent) += router(each).inputs[input].flits;
      }
    }
    append(text, "  to this node %27" PRIu64 "\n", std::uint64_t{router(node).to_node});
    append(text, "  in the whole network %19" PRIu64 " sent, %.2f links each\n", all.sent,
           all.sent == 0 ? 0.0 : static_cast<double>(all.links) / static_cast<double>(all.sent));
  }

 private:
  const Windows windows_;
  const F source_;
};
template <class Mesh, class F>
Onlooker<Mesh, F> onlooker(const std::shared_ptr<const host::Memory>& memory, std::size_t routers,
                           std::size_t lanes, F source) {
  return {memory, routers, lanes, source};
}

std::string name_of(NodeId node) { return "node " + std::to_string(node); }

constexpr unsigned vcs = 4;  // of a grid's ports
static_assert(t1::vcs == vcs && mmachine::most_channels == vcs && iwarp::live_vcs == vcs);

/// `channel(input)` is its name.
template <class Channel>
auto sources_in(const kit::Grid& grid, Channel channel) {
  return [&grid, channel](NodeId node, unsigned input) -> Source {
    const unsigned port = input / vcs;
    return {port == 0 ? "this node" : name_of(grid.neighbour(node, port)), channel(input), port != 0};
  };
}

std::string place_in(const kit::Grid& grid, NodeId node) {
  return "row " + std::to_string(grid.at(node, 1)) + ", column " + std::to_string(grid.at(node, 0)) + " of " +
         std::to_string(grid.dimension(1).extent) + "x" + std::to_string(grid.dimension(0).extent);
}

/// Rows and columns, where that is the job's network. A page that a short memory may not have is not looked at.
template <class Mesh>
std::optional<Extents> extents_in(const std::shared_ptr<const host::Memory>& memory) {
  const auto shape = Mesh::shape_in(memory->first_word(region));
  const auto its = Extents::of_shape(shape.value_or(0));
  if (its.rows * its.columns != memory->nodes()) return std::nullopt;
  return its;
}

}  // namespace

std::string t1_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  const auto extents = extents_in<t1::LiveMesh>(memory);
  if (!extents) return {};
  const kit::Grid grid = t1::grid_of({.rows = extents->rows, .columns = extents->columns});
  const auto channel = [](unsigned input) {
    const bool is_high = t1::priority_of(input) == t1::Priority::high;
    return (is_high ? "high       " : "low        ") + std::to_string(input % t1::classes);
  };
  const auto network = onlooker<t1::LiveMesh>(memory, t1::LiveMesh::bytes(memory->nodes()), ordered_lanes,
                                              sources_in(grid, channel));
  std::string text;
  append(text, "  %-12s %-5s %6s %14s %12s   its T1 router, at %s\n", "from", "prio", "class", "flits",
         "no room", place_in(grid, node).c_str());
  network.append_channels(text, node);
  network.append_whole(text, node);
  return text;
}

std::string mmachine_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  const auto extents = extents_in<mmachine::LiveMesh>(memory);
  if (!extents) return {};
  const kit::Grid grid = mmachine::live_grid(extents->rows, extents->columns);
  const auto channel = [](unsigned input) { return std::to_string(input % mmachine::most_channels); };
  const auto network = onlooker<mmachine::LiveMesh>(memory, mmachine_bytes(memory->nodes()), most_lanes,
                                                    sources_in(grid, channel));
  std::string text;
  append(text, "  %-12s %-12s %14s %12s   its M-Machine router, at %s\n", "from", "channel", "flits",
         "stalls", place_in(grid, node).c_str());
  network.append_channels(text, node);
  network.append_whole(text, node);
  const mmachine::LiveRouter& router = network.router(node);
  append(text, "  sent back to this node %17" PRIu64 ", GTLB misses %" PRIu64 "\n",
         std::uint64_t{router.sent_back}, std::uint64_t{router.gtlb_misses});
  return text;
}

std::string iwarp_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  const auto extents = extents_in<iwarp::LiveTorus>(memory);
  if (!extents) return {};
  const kit::Grid grid = iwarp::LiveTorus::grid_of(*extents);
  const auto channel = [](unsigned number) {
    return (number % vcs < 2 ? "low        " : "high       ") + std::to_string(number % 2);
  };
  const auto network = onlooker<iwarp::LiveTorus>(memory, iwarp::LiveTorus::bytes(memory->nodes()),
                                                  ordered_lanes, sources_in(grid, channel));
  std::string text;
  append(text, "  %-12s %-5s %6s %14s %12s   its iWarp cell, at %s\n", "from", "prio", "class", "messages",
         "no room", place_in(grid, node).c_str());
  network.append_channels(text, node);
  network.append_whole(text, node);
  unsigned pathways = 0;
  for (const auto& port : network.router(node).decisions.owners) {
    for (const auto& owner : port) pathways += owner.load(std::memory_order_relaxed) != 0 ? 1 : 0;
  }
  append(text, "  pathways through its links now %9u\n", pathways);
  return text;
}

namespace {

/// What the routers of one of a CM-5's networks have counted.
struct TreeCounts {
  const std::byte* network;
  const std::vector<cm5::Tree::Router>& ports;

  [[nodiscard]] const kit::LiveChannel& at(const kit::InputAt& input) const {
    return cm5::LiveTree::router_in(network, input.router).inputs[input.input];
  }
  [[nodiscard]] Passed passed() const {
    Passed all;
    for_inputs([&](const kit::InputAt& input) {
      if (input.input == cm5::saved) return;
      const bool is_nodes = ports[input.router].is_lowest() && input.input < cm5::first_parent;
      (is_nodes ? all.sent : all.links) += at(input).flits;
    });
    return all;
  }
  [[nodiscard]] std::uint64_t saved() const {
    std::uint64_t all = 0;
    for_inputs([&](const kit::InputAt& input) {
      if (input.input == cm5::saved) all += at(input).flits;
    });
    return all;
  }

 private:
  template <class F>
  void for_inputs(F f) const {
    for (kit::RouterNumber router = 0; router < ports.size(); ++router) {
      for (unsigned input = 0; input < cm5::live_channels; ++input) f({router, input});
    }
  }
};

}  // namespace

std::string cm5_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  if (cm5::LiveTree::shape_in(memory->first_word(region)) != memory->nodes()) return {};
  const Windows windows(memory, cm5_bytes(memory->nodes()), most_lanes, sizeof(PieceWindow));
  const std::vector<cm5::Tree::Router> ports = cm5::live_tree(memory->nodes()).routers();
  std::string text;
  append(text, "  %-12s %-12s %14s %12s   its CM-5 routers, of %zu in each network\n", "from", "channel",
         "messages", "no room", ports.size());
  for (unsigned side = 0; side < 2; ++side) {
    const char* const name = side == 0 ? "left" : "right";
    const TreeCounts counts{windows.routers() + side * cm5_network_bytes(memory->nodes()), ports};
    for (unsigned link = 0; link < cm5::Tree::links; ++link) {
      const kit::LiveChannel& channel = counts.at(cm5::LiveTree::entrances(node)[link]);
      append(text, "  %-12s %-5s link %u %14" PRIu64 " %12" PRIu64 "\n", "this node", name, link,
             std::uint64_t{channel.flits}, std::uint64_t{channel.refused});
    }
    const Passed all = counts.passed();
    append(
        text, "  in the whole %-5s network %13" PRIu64 " sent, %.2f links each, %" PRIu64 " saved in swaps\n",
        name, all.sent, all.sent == 0 ? 0.0 : static_cast<double>(all.links) / static_cast<double>(all.sent),
        counts.saved());
  }
  return text;
}

std::string ncube2_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  const auto dimensions = ncube2::LiveCube::shape_in(memory->first_word(region));
  if (!dimensions) return {};
  const auto source = [](NodeId at, unsigned input) -> Source {
    if (input == ncube2::to_itself) return {"this node", "itself"};
    const unsigned first = input < ncube2::answers   ? 0
                           : input < ncube2::engines ? ncube2::answers
                                                     : ncube2::engines;
    const std::string dimension = std::to_string(input - first);
    if (first == ncube2::engines) return {"this node", "engine " + dimension};
    return {name_of(at ^ NodeId{1} << (input - first)), (first == 0 ? "link " : "answers ") + dimension,
            true};
  };
  const auto network =
      onlooker<ncube2::LiveCube>(memory, ncube2::LiveCube::bytes(memory->nodes()), ordered_lanes, source);
  std::string text;
  append(text, "  %-12s %-12s %14s %12s   its nCUBE/2 router, in a cube of %u dimensions\n", "from",
         "channel", "messages", "no room", *dimensions);
  network.append_channels(text, node);
  network.append_whole(text, node);
  return text;
}

std::string care_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  const auto bits = care::LiveSites::shape_in(memory->first_word(region));
  const auto shape = care::LiveShape::of(bits.value_or(0));
  if (!bits || shape.dimensions > care::most_live_dimensions || shape.nodes() != memory->nodes()) return {};
  const care::LiveWays ways(shape);
  constexpr std::array lanes = {"low", "high", "low any", "high any"};
  const auto source = [&](NodeId at, unsigned input) -> Source {
    if (input == care::storage) return {"this node", "storage", false, true};
    if (input >= care::injections) return {"this node", lanes.at(input - care::injections)};
    const unsigned kind = ways.kind_of(input);
    return {name_of(ways.feeder(at, input)), kind == 0 ? "any way" : "ordered " + std::to_string(kind - 1),
            true};
  };
  const auto network =
      onlooker<care::LiveSites>(memory, care::LiveSites::bytes(memory->nodes()), most_lanes, source);
  std::string text;
  append(text, "  %-12s %-12s %14s %12s   its CARE site, %s\n", "from", "channel", "messages", "no room",
         ways.torus() != nullptr ? ("at " + place_in(*ways.torus(), node)).c_str() : "in a cube");
  network.append_channels(text, node);
  network.append_whole(text, node);
  const care::LiveTurns& its = network.router(node).decisions;
  append(text,
         "  splits %" PRIu64 ", aborts %" PRIu64 ", retransmissions %" PRIu64 ", forced stores %" PRIu64 "\n",
         std::uint64_t{its.splits}, std::uint64_t{its.aborts}, std::uint64_t{its.retransmissions},
         std::uint64_t{its.forced_stores});
  return text;
}

}  // namespace am::emulated
