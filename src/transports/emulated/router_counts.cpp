#include "transports/emulated/router_counts.hpp"

#include <cinttypes>
#include <cstdio>

#include "transports/emulated/windows.hpp"

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

void append_channel(std::string& text, const std::string& from, unsigned input,
                    const kit::LiveChannel& channel) {
  if (channel.flits + channel.refused == 0) return;
  const bool is_high = t1::priority_of(input) == t1::Priority::high;
  append(text, "  %-12s %-5s %6u %14" PRIu64 " %12" PRIu64 "\n", from.c_str(), is_high ? "high" : "low",
         input % t1::classes, std::uint64_t{channel.flits}, std::uint64_t{channel.refused});
}

/// Flits that nodes have sent, and that have passed links.
struct Passed {
  std::uint64_t sent = 0;
  std::uint64_t links = 0;
};
Passed passed(const std::byte* routers, NodeId nodes) {
  Passed all;
  for (NodeId node = 0; node < nodes; ++node) {
    const t1::LiveRouter& router = t1::LiveMesh::router_in(routers, node);
    for (unsigned input = 0; input < t1::channels; ++input)
      (input < t1::vcs ? all.sent : all.links) += router.inputs[input].flits;
  }
  return all;
}

}  // namespace

std::string router_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  if (memory->first_word(region) == 0) return {};  // not looked at by a page that a short memory may not have
  const Windows windows(memory);
  const auto shape = t1::LiveMesh::extents_in(windows.routers());
  if (!shape || shape->rows * shape->columns != windows.nodes()) return {};
  const kit::Grid grid = t1::grid_of({.rows = shape->rows, .columns = shape->columns});
  const t1::LiveRouter& router = t1::LiveMesh::router_in(windows.routers(), node);
  std::string text;
  append(text, "  %-12s %-5s %6s %14s %12s   its T1 router, at row %u, column %u of %ux%u\n", "from", "prio",
         "class", "flits", "no room", grid.at(node, 1), grid.at(node, 0), shape->rows, shape->columns);
  for (unsigned input = 0; input < t1::channels; ++input)
    append_channel(text, sender(grid, node, input / t1::vcs), input, router.inputs[input]);
  const Passed all = passed(windows.routers(), windows.nodes());
  append(text, "  to this node %27" PRIu64 "\n", std::uint64_t{router.to_node});
  append(text, "  in the whole network %19" PRIu64 " sent, %.2f links each\n", all.sent,
         all.sent == 0 ? 0.0 : static_cast<double>(all.links) / static_cast<double>(all.sent));
  return text;
}

}  // namespace am::emulated
