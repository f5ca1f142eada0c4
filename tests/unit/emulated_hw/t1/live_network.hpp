// Memory for the CNS-1's live network, and nodes that count what comes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated_hw/t1/live_mesh.hpp"
#include "unit/emulated_hw/kit/line.hpp"

namespace test {

using namespace am::t1;

/// Zeroed memory for a network, and the nodes' counts.
class LiveNetwork final : public LiveMesh::Nodes {
 public:
  explicit LiveNetwork(const Shape& shape)
      : nodes_(shape.rows * shape.columns),
        memory_(LiveMesh::bytes(nodes_) / sizeof(Line)),
        arrivals_(std::size_t{kinds_of_counted} * nodes_ * nodes_),
        shown_(std::size_t{kinds_of_counted} * nodes_ * nodes_),
        room_(nodes_),
        mesh_(shape, memory_.front().bytes, *this) {}

  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(NodeNumber at, NodeNumber from,
                                                     Counted what) noexcept override {
    return arrivals_[place(at, from, what)];
  }
  void arrived(NodeNumber /*at*/, NodeNumber /*from*/, Counted /*what*/) noexcept override { ++told_; }
  void show(NodeNumber at, NodeNumber from, Counted what) noexcept override {
    shown_[place(at, from, what)] = count(at, from, what);
  }
  [[nodiscard]] std::uint64_t shown(NodeNumber at, NodeNumber from, Counted what) const {
    return shown_[place(at, from, what)];
  }
  [[nodiscard]] std::uint64_t shown(NodeNumber at, NodeNumber from, Priority priority) const {
    return shown(at, from, counted(priority));
  }
  void has_room(NodeNumber at) noexcept override { ++room_[at]; }

  [[nodiscard]] std::uint64_t count(NodeNumber at, NodeNumber from, Counted what) {
    return am::kit::Entry{arrivals(at, from, what).load()}.count();
  }
  [[nodiscard]] std::uint64_t count(NodeNumber at, NodeNumber from, Priority priority) {
    return count(at, from, counted(priority));
  }
  [[nodiscard]] LiveMesh& mesh() noexcept { return mesh_; }
  /// Nothing has been let into any channel that has not left it.
  [[nodiscard]] bool is_empty() const {
    for (NodeNumber node = 0; node < nodes_; ++node) {
      for (const am::kit::LiveChannel& input : mesh_.router(node).inputs) {
        if (am::kit::Entry{input.entries.load()}.beyond(input.left.load()) != 0) return false;
      }
    }
    return true;
  }
  [[nodiscard]] NodeNumber nodes() const noexcept { return nodes_; }
  [[nodiscard]] unsigned room_told(NodeNumber at) const noexcept { return room_[at]; }
  [[nodiscard]] unsigned told() const noexcept { return told_; }

 private:
  [[nodiscard]] std::size_t place(NodeNumber at, NodeNumber from, Counted what) const noexcept {
    return (std::size_t{at} * nodes_ + from) * kinds_of_counted + static_cast<std::size_t>(what);
  }
  const NodeNumber nodes_;
  std::vector<Line> memory_;
  std::vector<std::atomic<std::uint64_t>> arrivals_;
  std::vector<std::atomic<std::uint64_t>> shown_;
  std::vector<std::atomic<unsigned>> room_;
  std::atomic<unsigned> told_ = 0;
  LiveMesh mesh_;
};

}  // namespace test
