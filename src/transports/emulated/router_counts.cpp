#include "transports/emulated/router_counts.hpp"

#include <cinttypes>
#include <cstdio>
#include <optional>

#include "transports/emulated/mmachine_transport.hpp"
#include "transports/emulated/t1_transport.hpp"

namespace am::emulated {

namespace {

template <class... A>
void append(std::string& text, const char* format, A... args) {
  char line[160];
  std::snprintf(line, sizeof line, format, args...);
  text += line;
}

std::string sender(const kit::Grid& grid, NodeId node, unsigned port) {
  return port == 0 ? "this node" : "node " + std::to_string(grid.neighbour(node, port));
}

/// Flits that nodes have sent, and that have passed links.
struct Passed {
  std::uint64_t sent = 0;
  std::uint64_t links = 0;
};

/// The network of a machine as an onlooker sees it.
template <class Mesh>
class Onlooker {
 public:
  Onlooker(const std::shared_ptr<const host::Memory>& memory, std::size_t routers, std::size_t lanes,
           const kit::Grid& grid)
      : windows_(memory, routers, lanes), grid_(grid) {}

  [[nodiscard]] const auto& router(NodeId node) const { return Mesh::router_in(windows_.routers(), node); }
  /// The lines of channels that have been used; `name(input)` is what stands before its numbers.
  template <class Name>
  void append_channels(std::string& text, NodeId node, Name name) const {
    for (unsigned input = 0; input < router(node).inputs.size(); ++input) {
      const kit::LiveChannel& channel = router(node).inputs[input];
      if (channel.flits + channel.refused == 0) continue;
      append(text, "  %-12s %-12s %14" PRIu64 " %12" PRIu64 "\n", sender(grid_, node, input / vcs).c_str(),
             name(input).c_str(), std::uint64_t{channel.flits}, std::uint64_t{channel.refused});
    }
  }
  void append_whole(std::string& text, NodeId node) const {
    Passed all;
    for (NodeId each = 0; each < windows_.nodes(); ++each) {
      for (unsigned input = 0; input < router(each).inputs.size(); ++input)
        (input < vcs ? all.sent : all.links) += router(each).inputs[input].flits;
    }
    append(text, "  to this node %27" PRIu64 "\n", std::uint64_t{router(node).to_node});
    append(text, "  in the whole network %19" PRIu64 " sent, %.2f links each\n", all.sent,
           all.sent == 0 ? 0.0 : static_cast<double>(all.links) / static_cast<double>(all.sent));
  }
  [[nodiscard]] std::string place(NodeId node) const {
    return "row " + std::to_string(grid_.at(node, 1)) + ", column " + std::to_string(grid_.at(node, 0)) +
           " of " + std::to_string(grid_.dimension(1).extent) + "x" +
           std::to_string(grid_.dimension(0).extent);
  }

 private:
  static constexpr unsigned vcs = 4;
  static_assert(t1::vcs == vcs && mmachine::most_channels == vcs);

  const Windows windows_;
  const kit::Grid grid_;
};

/// Rows and columns, where that is the job's network. A page that a short memory may not have is not looked at.
template <class Mesh>
std::optional<Extents> extents_in(const std::shared_ptr<const host::Memory>& memory) {
  const auto its = Mesh::extents_in(memory->first_word(region));
  if (!its || its->rows * its->columns != memory->nodes()) return std::nullopt;
  return its;
}

}  // namespace

std::string t1_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  const auto extents = extents_in<t1::LiveMesh>(memory);
  if (!extents) return {};
  const Onlooker<t1::LiveMesh> network(memory, t1::LiveMesh::bytes(memory->nodes()), ordered_lanes,
                                       t1::grid_of({.rows = extents->rows, .columns = extents->columns}));
  std::string text;
  append(text, "  %-12s %-5s %6s %14s %12s   its T1 router, at %s\n", "from", "prio", "class", "flits",
         "no room", network.place(node).c_str());
  network.append_channels(text, node, [](unsigned input) {
    const bool is_high = t1::priority_of(input) == t1::Priority::high;
    return (is_high ? "high       " : "low        ") + std::to_string(input % t1::classes);
  });
  network.append_whole(text, node);
  return text;
}

std::string mmachine_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  const auto extents = extents_in<mmachine::LiveMesh>(memory);
  if (!extents) return {};
  const Onlooker<mmachine::LiveMesh> network(memory, mmachine_bytes(memory->nodes()), most_lanes,
                                             mmachine::live_grid(extents->rows, extents->columns));
  std::string text;
  append(text, "  %-12s %-12s %14s %12s   its M-Machine router, at %s\n", "from", "channel", "flits",
         "stalls", network.place(node).c_str());
  network.append_channels(text, node,
                          [](unsigned input) { return std::to_string(input % mmachine::most_channels); });
  network.append_whole(text, node);
  const mmachine::LiveRouter& router = network.router(node);
  append(text, "  sent back to this node %17" PRIu64 ", GTLB misses %" PRIu64 "\n",
         std::uint64_t{router.sent_back}, std::uint64_t{router.gtlb_misses});
  return text;
}

}  // namespace am::emulated
