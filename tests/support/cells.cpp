#include "support/cells.hpp"

namespace test {

std::vector<Substrate> cells(const Suite& suite, std::span<const Network> of, Build how) {
  using enum am::Dispatch;
  std::vector<Substrate> all;
  for (const Network& network : of) {
    const bool interrupts = network.interrupts && how != Build::tsan;  // as in every_mode
    for (const am::Dispatch mode : {poll, thread, interrupt}) {
      if (!suite.takes(mode) || (mode == interrupt && !interrupts)) continue;
      for (const Nodes nodes : {Nodes::threads, Nodes::threads_with_faults, Nodes::processes}) {
        if (!suite.takes(nodes) || !(nodes == Nodes::processes ? network.processes : network.threads))
          continue;
        Substrate cell{nodes, mode, &network};
        cell.night = !runs_by_day(cell, suite, how, &network == &of.front());
        all.push_back(cell);
      }
    }
  }
  return all;
}

std::string to_string(const Substrate& substrate) {
  std::string name;
  if (substrate.network->name != networks.front().name) (name += substrate.network->name) += '_';
  constexpr const char* kinds_of_nodes[] = {"threads", "threads_with_faults", "processes"};
  name += kinds_of_nodes[static_cast<std::size_t>(substrate.nodes)];
  if (substrate.dispatch != am::Dispatch::poll) (name += '_') += am::to_string(substrate.dispatch);
  if (substrate.night) name += "_night";
  return name;
}

}  // namespace test
