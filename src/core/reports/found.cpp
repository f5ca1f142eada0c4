#include "core/reports/found.hpp"

#include <span>

#include "host/job_clock.hpp"
#include "host/patience.hpp"

namespace am::core {

namespace {

std::string name_host(const host::Board& board, std::span<const NodeId> nodes) {
  return std::string(board.card(nodes.front()).host) + " (" + host::name_nodes(nodes) + ")";
}

std::string ways_to_other_hosts(const host::Board& board, const Hosts& hosts, const Transport& network) {
  const std::string own = name_host(board, hosts.here());
  std::string text;
  for (std::uint32_t host = 0; host < hosts.count(); ++host) {
    if (host == hosts.own()) continue;
    const std::span<const NodeId> nodes = hosts.nodes_of(host);
    text += "am: " + own + " to " + name_host(board, nodes) + ": " + network.way_to(nodes.front()) + "\n";
  }
  const host::JobClock clock(board.job());
  if (clock.follows())
    text += "am: " + own + " has a clock of its own: Count is that of node 0 to within " +
            std::to_string(clock.error_ns()) + " ns\n";
  return text;
}

}  // namespace

std::string describe_found(Engine& engine) {
  const Job& job = engine.job();
  std::string text = "am: node " + std::to_string(job.id) + " of " + std::to_string(job.size) + ": found " +
                     (job.found == "alone" ? "no launcher, so it is alone" : job.found) + "; " +
                     describe(engine.networks()) +
                     (engine.oversubscribed() ? "; more nodes than processors: waits yield at once" : "") +
                     "\n";
  const Hosts& hosts = engine.relay().hosts();
  if (job.id == hosts.here().front()) text += ways_to_other_hosts(engine.board(), hosts, engine.network());
  return text;
}

}  // namespace am::core
