#include "core/reports/found.hpp"

#include <map>
#include <vector>

#include "host/job_clock.hpp"
#include "host/patience.hpp"

namespace am::core {

namespace {

std::string name_host(const host::Board& board, const std::vector<NodeId>& nodes) {
  return std::string(board.card(nodes.front()).host) + " (" + host::name_nodes(nodes) + ")";
}

std::string ways_to_other_hosts(const host::Board& board, const Transport& network) {
  std::map<std::uint32_t, std::vector<NodeId>> hosts;
  for (NodeId node = 0; node < board.nodes(); ++node) hosts[board.card(node).on_host].push_back(node);
  const std::string own = name_host(board, hosts[board.job().this_host]);
  std::string text;
  for (const auto& [host, nodes] : hosts) {
    if (host == board.job().this_host) continue;
    text += "am: " + own + " to " + name_host(board, nodes) + ": " + network.way_to(nodes.front()) + "\n";
  }
  const host::JobClock clock(board.job());
  if (clock.follows())
    text += "am: " + own + " has a clock of its own: Count is that of node 0 to within " +
            std::to_string(clock.error_ns()) + " ns\n";
  return text;
}

bool is_first_of_its_host(const host::Board& board, NodeId self) {
  for (NodeId node = 0; node < self; ++node) {
    if (board.is_here(node)) return false;
  }
  return true;
}

}  // namespace

std::string describe_found(Engine& engine) {
  const Job& job = engine.job();
  std::string text = "am: node " + std::to_string(job.id) + " of " + std::to_string(job.size) + ": found " +
                     (job.found == "alone" ? "no launcher, so it is alone" : job.found) + "; " +
                     describe(engine.networks()) +
                     (engine.oversubscribed() ? "; more nodes than processors: waits yield at once" : "") +
                     "\n";
  const host::Board& board = job.memory->board();
  if (is_first_of_its_host(board, job.id)) text += ways_to_other_hosts(board, engine.network());
  return text;
}

}  // namespace am::core
