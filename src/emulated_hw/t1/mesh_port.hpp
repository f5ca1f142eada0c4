// The nodes of a CNS-1's network for traffic: real network interfaces on its mesh, and in place of each processor one that takes no time.
// It sends as soon as the interface accepts a message, and takes what comes in the cycle in which it comes.
//
// A packet of n flits is a message of 4 n words, as far as a T1 can send them: with 2 words of its header, up to 5 scalars and a vector.
// Its first scalar is the packet's number. Messages name a handler in hardware (3.9), so no event begins.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/t1/mesh.hpp"
#include "emulated_hw/t1/network_interface.hpp"

namespace am::t1 {

class MeshPort final : public kit::NodePort {
 public:
  /// Channels are priorities. Throws std::invalid_argument.
  explicit MeshPort(const Shape& shape);

  [[nodiscard]] bool has_room(NodeNumber node, unsigned channel) const override {
    return interfaces_[node].accepts(static_cast<Priority>(channel));
  }
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
  void take(NodeNumber node);

  std::deque<NetworkInterface> interfaces_;  // by node
  kit::NodeSet rung_;                        // nodes to which something has come, or from which it has gone
  Mesh mesh_;
  std::uint64_t under_way_ = 0;  // packets
};

}  // namespace am::t1
