// How a network is wired: routers, nodes, and links between their ports; any number of ports, several links to a node, in any shape.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace am::kit {

/// Of a network: routers are numbered from 0, nodes behind the last router.
using PartNumber = std::uint32_t;
using WireNumber = std::uint32_t;
inline constexpr WireNumber no_wire = std::numeric_limits<WireNumber>::max();

/// One direction of a wire.
struct Wire {
  struct End {
    PartNumber part = 0;
    unsigned port = 0;  ///< of the part's ports in this direction
  };
  End from{};
  End to{};
  unsigned flit_cycles =
      1;  ///< from the first bit of a flit there to its last bit here; no other flit is on it meanwhile

  [[nodiscard]] std::string name() const {
    return std::to_string(from.part) + ':' + std::to_string(from.port) + " to " + std::to_string(to.part) +
           ':' + std::to_string(to.port);
  }
};

class Wiring {
 public:
  static constexpr unsigned most_ports = 64;  ///< of a part in one direction

  Wiring(PartNumber routers, PartNumber nodes) : routers_(routers), ports_(routers + nodes) {}

  /// Throws std::invalid_argument where there is no such part or port, or the port is taken.
  WireNumber connect(const Wire& wire) {
    const auto number = static_cast<WireNumber>(wires_.size());
    WireNumber& out = place(wire.from, &Ports::out, wire);
    WireNumber& in = place(wire.to, &Ports::in, wire);
    out = in = number;
    wires_.push_back(wire);
    return number;
  }

  [[nodiscard]] PartNumber routers() const noexcept { return routers_; }
  [[nodiscard]] PartNumber parts() const noexcept { return static_cast<PartNumber>(ports_.size()); }
  [[nodiscard]] PartNumber node(PartNumber number) const noexcept { return routers_ + number; }
  [[nodiscard]] const std::vector<Wire>& wires() const noexcept { return wires_; }
  [[nodiscard]] const Wire& wire(WireNumber number) const noexcept { return wires_[number]; }
  /// By port: wires, or no_wire.
  [[nodiscard]] const std::vector<WireNumber>& out_of(PartNumber part) const { return ports_.at(part).out; }
  [[nodiscard]] const std::vector<WireNumber>& into(PartNumber part) const { return ports_.at(part).in; }

 private:
  struct Ports {
    std::vector<WireNumber> out, in;
  };

  WireNumber& place(const Wire::End& end, std::vector<WireNumber> Ports::*direction, const Wire& wire) {
    if (end.part >= ports_.size() || end.port >= most_ports)
      throw std::invalid_argument("a wire from " + wire.name() + ": there is no such part or port");
    std::vector<WireNumber>& all = ports_[end.part].*direction;
    if (all.size() <= end.port) all.resize(end.port + 1, no_wire);
    if (all[end.port] != no_wire)
      throw std::invalid_argument("a wire from " + wire.name() + ": a port of it has the wire from " +
                                  wires_[all[end.port]].name());
    return all[end.port];
  }

  PartNumber routers_;
  std::vector<Ports> ports_;
  std::vector<Wire> wires_;
};

}  // namespace am::kit
