// Sites that send to random lists of targets, each with so many packets under way: saturation without an end, and no backlog. It counts what comes.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "emulated_hw/care/machine.hpp"
#include "support/random.hpp"

namespace am::care {

class RandomLists {
 public:
  struct Load {
    std::uint64_t seed = 1;
    unsigned most_targets = 16;
    unsigned most_words = 8;
    unsigned one_in = 1;  ///< of a site that may send: the cycles in which it does
    unsigned window = 2;  ///< packets of a site that are under way
  };
  RandomLists(const kit::Topology& topology, const Options& options, const Load& load,
              const Preferences::Strategy& strategy = Preferences::closest_first)
      : machine_(topology, options, strategy),
        load_(load),
        random_(load.seed),
        expected_(machine_.nodes()),
        under_way_(machine_.nodes()) {}

  [[nodiscard]] Machine& machine() noexcept { return machine_; }

  void cycle(std::span<const NodeNumber> order = {}) {
    for (NodeNumber node = 0; node < machine_.nodes(); ++node) {
      if (under_way_[node] < load_.window && random_.one_in(load_.one_in)) send(node);
    }
    machine_.step(order);
    if (machine_.now() % 16 == 0) take();
  }
  void finish() {
    const Cycle end = machine_.now() + 100'000;
    machine_.run_or_throw([&] { return machine_.is_empty() || machine_.now() > end; });
    take();
  }
  /// Targets that have not been reached; and deliveries that nobody asked for, or a second time, or not intact.
  [[nodiscard]] std::size_t lost() const {
    std::size_t all = 0;
    for (const auto& site : expected_) all += site.size();
    return all;
  }
  [[nodiscard]] std::size_t unexpected() const noexcept { return unexpected_; }
  /// When each packet has come to each site.
  using Times = std::map<std::pair<PacketNumber, NodeNumber>, Cycle>;
  [[nodiscard]] const Times& times() const noexcept { return times_; }

 private:
  void send(NodeNumber from) {
    const NodeNumber nodes = machine_.nodes();
    std::vector<Target> targets(1 + random_.below(std::min<std::uint64_t>(load_.most_targets, nodes)));
    const auto first = static_cast<NodeNumber>(random_.below(nodes));
    const auto stride =
        static_cast<NodeNumber>(1 + 2 * random_.below(nodes / 2));  // nodes are a power of two
    for (NodeNumber i = 0; i < targets.size(); ++i) targets[i] = {(first + i * stride) % nodes, i};
    std::vector<std::uint32_t> data(random_.below(load_.most_words + 1));
    for (std::uint32_t& word : data) word = static_cast<std::uint32_t>(random_());
    const PacketNumber packet = machine_.send(from, targets, data);
    ++under_way_[from];
    packets_[packet] = {from, targets.size()};
    for (const Target& target : targets) expected_[target.site].insert({packet, {target.data_at, data}});
  }
  void take() {
    for (NodeNumber node = 0; node < machine_.nodes(); ++node) {
      for (const Operator::Delivery& each : machine_.delivered(node)) {
        times_[{each.packet, node}] = each.at;
        const auto found = expected_[node].find(each.packet);
        const bool good = found != expected_[node].end() && found->second.first == each.target.data_at &&
                          found->second.second.size() == each.words &&
                          (each.data.empty() || found->second.second == each.data);
        if (!good) ++unexpected_;
        if (found == expected_[node].end()) continue;
        expected_[node].erase(found);
        auto& [from, left] = packets_[each.packet];
        if (--left == 0) {
          --under_way_[from];
          packets_.erase(each.packet);
        }
      }
      machine_.delivered(node).clear();
    }
    if (times_.size() > 100'000) times_.clear();  // of long runs nobody asks for them
  }

  Machine machine_;
  const Load load_;
  test::Random random_;
  std::vector<std::map<PacketNumber, std::pair<std::uint32_t, std::vector<std::uint32_t>>>> expected_;
  std::map<PacketNumber, std::pair<NodeNumber, std::size_t>> packets_;  // from where, targets left
  std::vector<unsigned> under_way_;
  std::size_t unexpected_ = 0;
  Times times_;
};

}  // namespace am::care
