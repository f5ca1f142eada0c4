// An iWarp torus for traffic of the open pool, in place of its cells' programs (Borkar et al. 1990, 6.2). A packet is a message with a pathway
// of its own, by the channels of on_grid(): so no circle of packets waits.
//
// A packet of n flits is n words: the sign of its destination, and n - 1 words of data. The signs of corners, and its end marker, are more. A
// trace shows the data.
//
// A node sends one packet after the other: it asks for a channel, as often as it takes, then brings a word in a cycle. It takes a word in a
// cycle from each channel. A flit takes two cycles on a bus, and rates are per node and such a time: 1 is 40 MB/s.
//
// Assumed: no time of a processor but the asking; a packet to its own node takes that, and the time of its words on a bus.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "emulated_hw/iwarp/network.hpp"
#include "emulated_hw/iwarp/routes.hpp"
#include "emulated_hw/kit/node_port.hpp"

namespace am::iwarp {

class TorusPort final : public kit::NodePort {
 public:
  /// Of k cells, or k x k. Throws std::invalid_argument.
  TorusPort(unsigned k, unsigned dimensions);

  [[nodiscard]] bool has_room(kit::NodeNumber node, unsigned /*channel*/) const override {
    return !senders_[node].is_busy;
  }
  void inject(kit::NodeNumber node, const Packet& packet) override;

  [[nodiscard]] Cycle now() const override { return network_.now(); }
  void step(std::span<const kit::RouterNumber> order) override;
  [[nodiscard]] bool is_empty() const override { return under_way_.empty() && network_.under_way() == 0; }
  [[nodiscard]] Cycle still_for() const override;
  void add_waits(kit::Waits& waits) const override;
  [[nodiscard]] std::uint64_t fingerprint() const override { return network_.fingerprint(); }
  /// Straight on.
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override;
  [[nodiscard]] Cycle zero_load_between(kit::NodeNumber from, kit::NodeNumber to,
                                        std::uint32_t flits) const override;
  [[nodiscard]] std::vector<LinkCount> links() const override;
  void record(kit::Trace* trace) override;

 private:
  struct Sender {
    bool is_busy = false;
    Packet packet;
    Cycle asks_at = 0;  // or, to its own node, when it is there
    Direction first{};  // bus of its way, and the pool of its channel there
    Pool pool{};
    Channel own = no_channel;   // when it has one
    std::vector<Word> words{};  // of the packet
    std::size_t next = 0;       // of them
    std::uint64_t sent = 0;     // words, of all packets
  };
  struct Receiver {
    kit::Requests channels = 0;  // that pathways to this cell end at
    std::uint64_t taken = 0;     // words of data
  };
  struct Passing {
    std::uint32_t flits = 0;
    std::uint32_t come = 0;                        // words of data
    std::uint32_t recorded = kit::Trace::nothing;  // what trace_ calls it
  };

  [[nodiscard]] CommunicationAgent& agent(kit::NodeNumber node) { return network_.agent(node); }
  [[nodiscard]] Route route(kit::NodeNumber from, kit::NodeNumber to) const;
  void send(kit::NodeNumber node);
  [[nodiscard]] bool has_channel(kit::NodeNumber node);
  void take(kit::NodeNumber node);
  void take_word(kit::NodeNumber node, const Word& word);
  void take_from_itself(kit::NodeNumber node);
  void pass(const Word& word, kit::NodeNumber node, unsigned port, unsigned flits = 1);

  Network network_;
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::unordered_map<std::uint32_t, Passing> under_way_{};  // by the numbers of packets
  Cycle last_to_itself_ = 0;                                // when a node was last sending to itself
  kit::Trace* trace_ = nullptr;
};

}  // namespace am::iwarp
