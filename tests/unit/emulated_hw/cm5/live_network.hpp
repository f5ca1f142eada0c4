// A data network of the CM-5 live, and nodes that count what comes: by their links, and, so that one that comes twice shows, by packet.
#pragma once

#include "emulated_hw/cm5/live_tree.hpp"
#include "unit/emulated_hw/kit/live_network.hpp"

namespace test {

using namespace am::cm5;

class LiveNetwork final : public LiveTree::Nodes {
 public:
  explicit LiveNetwork(NodeNumber nodes)
      : nodes_(nodes),
        ports_(live_tree(nodes).routers()),
        memory_(LiveTree::bytes(nodes) / sizeof(Line)),
        counts_(std::size_t{nodes} * nodes),
        room_(nodes),
        tree_(nodes, memory_.front().bytes, *this) {}

  std::atomic<std::uint64_t>& arrivals(NodeNumber at, NodeNumber from, Counted what) noexcept override {
    return counts_[std::size_t{at} * nodes_ + from][what.packet % packets][what.link];
  }
  void arrived(NodeNumber /*at*/, NodeNumber /*from*/, Counted /*what*/) noexcept override {}
  void show(NodeNumber /*at*/, NodeNumber /*from*/, Counted /*what*/) noexcept override {}
  void has_room(NodeNumber at) noexcept override { ++room_[at]; }

  /// Puts it in where it comes from, and carries it.
  [[nodiscard]] bool send(const LiveMessage& message) {
    if (!tree_.inject(message.source, message)) return false;
    tree_.carry(message.source);
    return true;
  }
  [[nodiscard]] std::uint64_t count(const LiveMessage& message) {
    std::uint64_t all = 0;
    for (unsigned link = 0; link < Tree::links; ++link)
      all += am::kit::Entry{arrivals(message.destination, message.source, {0, message.packet, link}).load()}
                 .count();
    return all;
  }
  [[nodiscard]] std::uint64_t count(NodeNumber to, NodeNumber from, std::uint32_t packet) {
    return count({.destination = to, .source = from, .packet = packet});
  }
  [[nodiscard]] std::uint64_t count_of_all() {
    std::uint64_t all = 0;
    for (NodeNumber to = 0; to < nodes_; ++to) {
      for (NodeNumber from = 0; from < nodes_; ++from) {
        for (std::uint32_t packet = 0; packet < packets; ++packet) all += count(to, from, packet);
      }
    }
    return all;
  }
  [[nodiscard]] unsigned room_told(NodeNumber at) const noexcept { return room_[at]; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return nodes_; }
  [[nodiscard]] const std::vector<Tree::Router>& ports() const noexcept { return ports_; }
  [[nodiscard]] LiveTree& tree() noexcept { return tree_; }
  [[nodiscard]] const am::kit::LiveChannel& input(am::kit::InputAt its) const {
    return tree_.router(its.router).inputs[its.input];
  }

  /// What lies in inputs, but for what is saved; and that.
  [[nodiscard]] std::uint64_t under_way() const { return lying(0, saved); }
  [[nodiscard]] std::uint64_t in_memory() const { return lying(saved, live_channels); }
  [[nodiscard]] bool is_empty() const { return under_way() + in_memory() == 0; }
  void look_after(unsigned times) {
    for (unsigned i = 0; i < times * ports_.size(); ++i) tree_.look_after();
  }
  /// Lets all fall, and puts it in again.
  void swap() {
    if (!tree_.freeze(1)) return;
    for (int i = 0; i < 4 && !tree_.fall(); ++i) {
    }
    tree_.thaw(1);
  }
  /// Thaws it, and does no more: as one who is killed then.
  void thaw_and_die() {
    const auto routers = static_cast<am::kit::RouterNumber>(ports_.size());
    std::byte* const at = memory_.front().bytes + am::kit::LiveNetwork<LiveTree, LiveRouter>::bytes(routers);
    reinterpret_cast<std::atomic<std::uint64_t>*>(at)->store(0);
  }
  /// Messages that have come by links between routers.
  [[nodiscard]] std::uint64_t links() const {
    std::uint64_t all = 0;
    for (am::kit::RouterNumber router = 0; router < ports_.size(); ++router) {
      for (unsigned i = ports_[router].is_lowest() ? first_parent : 0; i < saved; ++i)
        all += input({router, i}).flits;
    }
    return all;
  }
  void scribble(Random& random) { test::scribble(memory_, random); }

  static constexpr unsigned packets = 4;

 private:
  [[nodiscard]] std::uint64_t lying(unsigned first, unsigned end) const {
    std::uint64_t all = 0;
    for (am::kit::RouterNumber router = 0; router < ports_.size(); ++router) {
      for (unsigned i = first; i < end; ++i) {
        const am::kit::LiveChannel& its = input({router, i});
        const unsigned parent = ports_[router].port[i % saved] - first_parent;
        const bool is_up = i < first_parent && !ports_[router].is_lowest() && ports_[router].has(i);
        const std::uint64_t entered =
            is_up ? am::kit::LinkEntry(tree_.router(ports_[router].router[i]).climbed.load()).count(parent)
                  : am::kit::Entry{its.entries.load()}.count();
        all += (entered - its.left.load()) % (i == saved ? 1 << 20 : am::kit::LinkEntry::counts);
      }
    }
    return all;
  }

  const NodeNumber nodes_;
  const std::vector<Tree::Router> ports_;
  std::vector<Line> memory_;
  std::vector<std::array<std::array<std::atomic<std::uint64_t>, Tree::links>, packets>> counts_;
  std::vector<std::atomic<unsigned>> room_;
  LiveTree tree_;
};

}  // namespace test
