// The sites of a CARE machine for traffic. A packet of n flits is a target entry and n - 1 words of data; its terminator is one more. A node
// hands over a packet when its operator has sent the one before.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "emulated_hw/care/machine.hpp"
#include "emulated_hw/kit/node_port.hpp"

namespace am::care {

class CarePort final : public kit::NodePort {
 public:
  /// As Machine.
  explicit CarePort(const kit::Topology& topology, const Options& options = {},
                    const Preferences::Strategy& strategy = Preferences::closest_first);

  [[nodiscard]] bool has_room(NodeNumber node, unsigned /*channel*/) const override {
    return machine_.site(node).its_operator.requests().packets() == 0;
  }
  void inject(NodeNumber node, const Packet& packet) override;

  [[nodiscard]] Cycle now() const override { return machine_.now(); }
  void step(std::span<const kit::RouterNumber> order) override;
  [[nodiscard]] bool is_empty() const override { return machine_.is_empty(); }
  [[nodiscard]] Cycle still_for() const override { return machine_.still_for(); }
  void add_waits(kit::Waits& waits) const override { machine_.add_waits(waits); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return machine_.fingerprint(); }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override;
  [[nodiscard]] std::vector<LinkCount> links() const override;
  void record(kit::Trace* trace) override { trace_ = trace; }

 private:
  void record_step();

  const Options options_;
  Machine machine_;
  kit::Trace* trace_ = nullptr;
  std::vector<LinkCount> recorded_{};                         // what links had carried before this step
  std::unordered_map<PacketNumber, std::uint32_t> traced_{};  // what the trace calls packets
};

}  // namespace am::care
