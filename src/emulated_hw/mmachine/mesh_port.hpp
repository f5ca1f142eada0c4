// The nodes of an M-Machine's network for traffic, in place of its network output and input units: at each one that sends a message of each
// priority at a time, a flit in each cycle in which the router takes one, and has room for whatever comes.
//
// A packet of n flits is a message with n - 3 words in its body; HandlerIP is the packet's number.
#pragma once

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
  explicit MeshPort(const Mesh::Shape& shape);

  [[nodiscard]] bool has_room(NodeNumber node, unsigned channel) const override;
  void inject(NodeNumber node, const Packet& packet) override;

  [[nodiscard]] Cycle now() const override { return mesh_.now(); }
  void step(std::span<const kit::RouterNumber> order) override;
  [[nodiscard]] bool is_empty() const override { return under_way_ == 0; }
  [[nodiscard]] Cycle still_for() const override { return mesh_.still_for(); }
  void add_waits(kit::Waits& waits) const override { mesh_.add_waits(waits); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return mesh_.fingerprint(); }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override;
  [[nodiscard]] std::vector<LinkCount> links() const override;
  void record(kit::Trace* trace) override { mesh_.record(trace); }

 private:
  /// What passes between one node and its router.
  class Units final : public NetworkUnits {
   public:
    Units(MeshPort& port, NodeNumber node) noexcept : port_(port), node_(node) {}

    [[nodiscard]] bool is_sending(Priority priority) const noexcept {
      return outgoing_[index(priority)].left != 0;
    }
    void send(const Message& message) noexcept;

    const Flit* outgoing(Priority priority) override {
      return is_sending(priority) ? &outgoing_[index(priority)].next : nullptr;
    }
    void gone(Priority priority) override;
    bool has_outgoing() const override { return is_sending(Priority::p0) || is_sending(Priority::p1); }
    bool has_room(Priority /*priority*/) override { return true; }
    void deliver(Priority priority, const Flit& flit) override;

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
  [[nodiscard]] std::vector<NetworkUnits*> make_units(const Mesh::Shape& shape);

  std::deque<Units> units_;  // by node
  Mesh mesh_;
  std::uint64_t under_way_ = 0;  // packets
};

}  // namespace am::mmachine
