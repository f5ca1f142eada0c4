// The nodes of an M-Machine's network for traffic, in place of its network output and input units: at each one that sends a message of each
// priority at a time, a flit in each cycle in which the router takes one, and has room for whatever comes.
//
// A packet of n flits is a message with n - 3 words in its body; HandlerIP is the packet's number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/mmachine/mesh.hpp"

namespace am::mmachine {

class MeshPort final : public kit::NodePort {
 public:
  /// Channels are kinds of messages. Throws std::invalid_argument.
  explicit MeshPort(const Mesh::Shape& shape)
      : NodePort(kit::Grid{{shape.width}, {shape.height}},
                 {"p0_ordered", "p1_ordered", "p0_unordered", "p1_unordered"},
                 {.least = words_before_body, .most = words_before_body + most_body}),
        mesh_(shape, make_units(shape)) {}

  [[nodiscard]] bool has_room(NodeNumber node, unsigned channel) const override {
    return !units_[node].is_sending(priority_of(kind_of(channel)));
  }
  void inject(NodeNumber node, const Packet& packet) override {
    Message message;
    message.header = {.destination = mesh_.place_of(packet.to),
                      .sender = mesh_.place_of(node),
                      .argcount = static_cast<std::uint8_t>(packet.flits - words_before_body),
                      .ordered = is_ordered(kind_of(packet.channel)),
                      .priority = priority_of(kind_of(packet.channel))};
    message.handler = {packet.number, false};
    units_[node].send(message);
    mesh_.bell(node).ring();
    ++under_way_;
  }

  [[nodiscard]] Cycle now() const override { return mesh_.now(); }
  void step(std::span<const kit::RouterNumber> order) override {
    arrivals_.clear();
    mesh_.step(order);
    if (!order.empty()) std::ranges::stable_sort(arrivals_, {}, &Arrival::node);
  }
  [[nodiscard]] bool is_empty() const override { return under_way_ == 0; }
  [[nodiscard]] Cycle still_for() const override { return mesh_.still_for(); }
  void add_waits(kit::Waits& waits) const override { mesh_.add_waits(waits); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return mesh_.fingerprint(); }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override {
    return links + stages + flits - 1;
  }
  [[nodiscard]] std::vector<LinkCount> links() const override {
    return count_links([this](const kit::Link& link) {
      return link.port == kit::Link::of_node ? mesh_.injected(link.from) : mesh_.passed(link.from, link.port);
    });
  }
  void record(kit::Trace* trace) override { mesh_.record(trace); }

 private:
  static constexpr unsigned stages =
      4;  // turn buffers of x and y, extraction buffer, network input (mesh.hpp)

  static constexpr MessageKind kind_of(unsigned channel) noexcept {
    return static_cast<MessageKind>(channel);
  }
  /// What passes between one node and its router.
  class Units final : public NetworkUnits {
   public:
    Units(MeshPort& port, NodeNumber node) noexcept : port_(port), node_(node) {}

    [[nodiscard]] bool is_sending(Priority priority) const noexcept {
      return outgoing_[index(priority)].left != 0;
    }
    void send(const Message& message) noexcept {
      outgoing_[index(message.header.priority)] = {message, message.flits(), message.flit(0)};
    }

    const Flit* outgoing(Priority priority) override {
      return is_sending(priority) ? &outgoing_[index(priority)].next : nullptr;
    }
    void gone(Priority priority) override {
      Outgoing& out = outgoing_[index(priority)];
      if (--out.left != 0) out.next = out.message.flit(out.message.flits() - out.left);
    }
    bool has_outgoing() const override { return is_sending(Priority::p0) || is_sending(Priority::p1); }
    bool has_room(Priority /*priority*/) override { return true; }
    /// The packet's number comes with the second flit: the header's is told of then.
    void deliver(Priority priority, const Flit& flit) override {
      Incoming& in = incoming_[index(priority)];
      const unsigned at = in.come++;
      if (at == 0) return;
      if (at == 1) in.packet = static_cast<std::uint32_t>(flit.word.bits);
      port_.arrivals_.push_back({.at = port_.now() + 1,
                                 .node = node_,
                                 .packet = in.packet,
                                 .flits = at == 1 ? 2u : 1u,
                                 .head = at == 1,
                                 .tail = flit.tail});
      if (!flit.tail) return;
      in.come = 0;
      --port_.under_way_;
    }

   private:
    struct Outgoing {
      Message message{};
      unsigned left = 0;  // of its flits
      Flit next{};
    };
    struct Incoming {
      unsigned come = 0;  // of its flits
      std::uint32_t packet = 0;
    };
    MeshPort& port_;
    const NodeNumber node_;
    std::array<Outgoing, priorities> outgoing_{};
    std::array<Incoming, priorities> incoming_{};
  };
  [[nodiscard]] std::vector<NetworkUnits*> make_units(const Mesh::Shape& shape) {
    std::vector<NetworkUnits*> all;
    for (NodeNumber node = 0; node < shape.nodes(); ++node) all.push_back(&units_.emplace_back(*this, node));
    return all;
  }

  std::deque<Units> units_;  // by node
  Mesh mesh_;
  std::uint64_t under_way_ = 0;  // packets
};

}  // namespace am::mmachine
