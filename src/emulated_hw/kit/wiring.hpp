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
using LinkNumber = std::uint32_t;
inline constexpr LinkNumber no_link = std::numeric_limits<LinkNumber>::max();

/// One direction of a link.
struct Link {
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
  LinkNumber connect(const Link& link) {
    const auto number = static_cast<LinkNumber>(links_.size());
    place(link.from, &Ports::out, link) = number;
    place(link.to, &Ports::in, link) = number;
    links_.push_back(link);
    return number;
  }

  [[nodiscard]] PartNumber routers() const noexcept { return routers_; }
  [[nodiscard]] PartNumber parts() const noexcept { return static_cast<PartNumber>(ports_.size()); }
  [[nodiscard]] PartNumber node(PartNumber number) const noexcept { return routers_ + number; }
  [[nodiscard]] const std::vector<Link>& links() const noexcept { return links_; }
  [[nodiscard]] const Link& link(LinkNumber number) const noexcept { return links_[number]; }
  /// By port: links, or no_link.
  [[nodiscard]] const std::vector<LinkNumber>& out_of(PartNumber part) const { return ports_.at(part).out; }
  [[nodiscard]] const std::vector<LinkNumber>& into(PartNumber part) const { return ports_.at(part).in; }

 private:
  struct Ports {
    std::vector<LinkNumber> out, in;
  };

  LinkNumber& place(const Link::End& end, std::vector<LinkNumber> Ports::*direction, const Link& link) {
    if (end.part >= ports_.size() || end.port >= most_ports)
      throw std::invalid_argument("a link from " + link.name() + ": there is no such part or port");
    std::vector<LinkNumber>& all = ports_[end.part].*direction;
    if (all.size() <= end.port) all.resize(end.port + 1, no_link);
    if (all[end.port] != no_link)
      throw std::invalid_argument("a link from " + link.name() + ": a port of it has the link from " +
                                  links_[all[end.port]].name());
    return all[end.port];
  }

  PartNumber routers_;
  std::vector<Ports> ports_;
  std::vector<Link> links_;
};

}  // namespace am::kit
