// Nodes without chips on the M-Machine's mesh, which a test fills and empties by hand: queues of messages, and what came.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emulated_hw/mmachine/mesh.hpp"

namespace test {

using namespace am::mmachine;

class MeshNode final : public NetworkUnits {
 public:
  const Flit* outgoing(Priority priority) override {
    auto& queue = out_[index(priority)];
    if (queue.empty()) return nullptr;
    Sending& first = queue.front();
    first.flit = first.message.flit(first.at);
    return &first.flit;
  }
  void gone(Priority priority) override {
    auto& queue = out_[index(priority)];
    if (++queue.front().at == queue.front().message.flits()) queue.pop_front();
  }
  bool has_outgoing() const override { return !out_[0].empty() || !out_[1].empty(); }
  bool has_room(Priority priority) override { return takes[index(priority)]; }
  void deliver(Priority priority, const Flit& flit) override { came(priority, flit); }

  void send(const Message& message) {
    out_[index(message.header.priority)].push_back({message, 0, {}});
    bell.ring();
  }
  [[nodiscard]] std::size_t queued(Priority priority) const { return out_[index(priority)].size(); }

  std::array<bool, 2> takes{true, true};
  std::function<void(Priority, const Flit&)> came;
  am::kit::NodeBell bell;

 private:
  struct Sending {
    Message message;
    unsigned at;
    Flit flit;
  };
  std::array<std::deque<Sending>, 2> out_;
};

class MeshNodes {
 public:
  struct Came {
    Cycle header_at;
    Cycle tail_at;
    NodeNumber node;
    Header header;
    std::vector<Word> words;  // handler, address, body
    bool whole;               // no flit with wrong parity
  };

  explicit MeshNodes(const Mesh::Shape& shape) {
    std::vector<NetworkUnits*> units;
    for (NodeNumber node = 0; node < shape.width * shape.height; ++node)
      units.push_back(nodes_.emplace_back(std::make_unique<MeshNode>()).get());
    coming_.resize(nodes_.size());
    mesh_.emplace(shape, units);
    for (NodeNumber node = 0; node < nodes_.size(); ++node) {
      nodes_[node]->bell = mesh_->bell(node);
      nodes_[node]->came = [this, node](Priority priority, const Flit& flit) { take(node, priority, flit); };
    }
  }

  struct What {
    MessageKind kind = MessageKind::p0_ordered;
    unsigned words = 0;
    std::uint64_t number = 0;
  };
  /// A message whose address is its number.
  void send(NodeNumber from, NodeNumber to, const What& what) {
    Message message;
    message.header = {
        .destination = mesh_->place_of(to),
        .sender = mesh_->place_of(from),
        .argcount = static_cast<std::uint8_t>(what.words),
        .ordered = what.kind == MessageKind::p0_ordered || what.kind == MessageKind::p1_ordered,
        .priority = what.kind == MessageKind::p0_ordered || what.kind == MessageKind::p0_unordered
                        ? Priority::p0
                        : Priority::p1};
    message.address = {what.number, true};
    for (unsigned i = 0; i < what.words; ++i) message.body[i] = {what.number * 100 + i, i % 2 == 0};
    nodes_[from]->send(message);
  }
  void step(std::span<const NodeNumber> order = {}) { mesh_->step(order); }
  /// Until nothing is under way: false, if something stays for longer than that.
  bool run_dry(Cycle patience = 1000) {
    const auto sending = [&] {
      for (const auto& node : nodes_) {
        if (node->has_outgoing()) return true;
      }
      return false;
    };
    while (sending() || mesh_->under_way() != 0) {
      step();
      if (mesh_->still_for() > patience) return false;
    }
    return true;
  }

  [[nodiscard]] Mesh& mesh() { return *mesh_; }
  [[nodiscard]] MeshNode& node(NodeNumber node) { return *nodes_[node]; }
  std::function<void(const Came&)> on_message = [this](const Came& one) { came.push_back(one); };
  std::vector<Came> came;

 private:
  void take(NodeNumber node, Priority priority, const Flit& flit) {
    std::optional<Came>& now = coming_[node][index(priority)];
    if (!now) {
      now = Came{mesh_->now(), 0, node, Header::of(flit.word.bits), {}, flit.is_whole()};
      return;
    }
    now->words.push_back(flit.word);
    now->whole = now->whole && flit.is_whole();
    if (!flit.tail) return;
    now->tail_at = mesh_->now();
    on_message(*std::exchange(now, std::nullopt));
  }

  std::vector<std::unique_ptr<MeshNode>> nodes_;
  std::vector<std::array<std::optional<Came>, 2>> coming_;
  std::optional<Mesh> mesh_;
};

}  // namespace test
