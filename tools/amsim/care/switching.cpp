#include "amsim/care/switching.hpp"

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated_hw/care/machine.hpp"

namespace amsim::care {

namespace {

using am::care::Cycle;
using am::care::Machine;
using am::care::NodeNumber;
using am::kit::Grid;

// Messages: those that count, and those before and behind them, which keep the load up.
constexpr std::size_t warm_up = 500, counted = 1000, behind = 500;
// More messages are under way at the end of the counted ones than at their begin by this share of them: the network is saturated.
constexpr double most_growth = 0.1;

struct Asked {
  Cycle at = 0;
  NodeNumber from = 0;
  NodeNumber to = 0;
};

std::vector<std::vector<NodeNumber>> sites_away(const Grid& mesh, unsigned hops) {
  std::vector<std::vector<NodeNumber>> all(mesh.nodes());
  if (hops == 0) throw std::invalid_argument("a message to the own site takes no links");
  for (NodeNumber from = 0; from < mesh.nodes(); ++from) {
    for (NodeNumber to = 0; to < mesh.nodes(); ++to) {
      if (am::kit::distance(mesh, from, to) == hops) all[from].push_back(to);
    }
    if (all[from].empty())
      throw std::invalid_argument("site " + std::to_string(from) + " has no other " + std::to_string(hops) +
                                  " links away");
  }
  return all;
}

unsigned links_of(const Grid& mesh) {
  unsigned links = 0;
  for (NodeNumber site = 0; site < mesh.nodes(); ++site) {
    for (unsigned port = 1; port < am::kit::ports_of(mesh); ++port)
      links += am::kit::neighbour(mesh, site, port) != am::kit::nowhere;
  }
  return links;
}

std::vector<Asked> drawn(const Grid& mesh, const Messages& messages) {
  const auto away = sites_away(mesh, messages.hops);
  const double link_words = messages.hops * (messages.words + 2.0);
  std::mt19937_64 random(messages.seed);
  std::exponential_distribution<double> gap(messages.load * links_of(mesh) / link_words);
  std::vector<Asked> all;
  double at = 0;
  while (all.size() < warm_up + counted + behind) {
    at += gap(random);
    const auto from = static_cast<NodeNumber>(random() % mesh.nodes());
    all.push_back({static_cast<Cycle>(at), from, away[from][random() % away[from].size()]});
  }
  return all;
}

// Who asks for messages, and hears that they have been served.
class Evaluators {
 public:
  Evaluators(Machine& machine, const std::vector<Asked>& asked, std::uint32_t words)
      : machine_(machine), asked_(asked), data_(words) {}

  // Until so many have been asked for.
  void ask(std::size_t count) {
    for (; asked_for_ < count; machine_.step()) {
      listen();
      for (; asked_for_ < count && asked_[asked_for_].at <= machine_.now(); ++asked_for_)
        machine_.send(asked_[asked_for_].from, {{asked_[asked_for_].to}}, data_);
    }
  }
  void listen() {
    for (NodeNumber site = 0; site < machine_.nodes(); ++site) {
      for (const auto& delivery : machine_.delivered(site)) {
        const std::size_t number = delivery.packet - 1;
        ++served_;
        if (number < warm_up || number >= warm_up + counted) continue;
        cycles_ += static_cast<double>(delivery.at - asked_[number].at) / counted;
      }
      machine_.delivered(site).clear();
    }
  }
  [[nodiscard]] double under_way() const { return static_cast<double>(asked_for_ - served_); }
  // A mean over those that count, when all have been served.
  [[nodiscard]] double cycles() const { return cycles_; }

 private:
  Machine& machine_;
  const std::vector<Asked>& asked_;
  const std::vector<std::uint32_t> data_;
  std::size_t asked_for_ = 0;
  std::size_t served_ = 0;
  double cycles_ = 0;
};

}  // namespace

std::optional<double> latency(const Grid& mesh, const Messages& messages, am::care::Options options) {
  options.timeouts.kind = am::care::Timeouts::Kind::off;
  const std::vector<Asked> asked = drawn(mesh, messages);
  Machine machine(mesh, options, am::care::Preferences::one_only);
  Evaluators evaluators(machine, asked, messages.words);
  evaluators.ask(warm_up);
  const double before = evaluators.under_way();
  evaluators.ask(warm_up + counted);
  if (evaluators.under_way() - before > most_growth * counted) return std::nullopt;
  evaluators.ask(asked.size());
  machine.run_or_throw([&] { return machine.is_empty(); });
  evaluators.listen();
  return evaluators.cycles();
}

}  // namespace amsim::care
