// Which nodes share a host, as the board says it, where whoever made the job has written it down. Fixed for the job's life.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "host/board.hpp"

namespace am::core {

class Hosts {
 public:
  /// Throws am::Error when there is a host without nodes.
  explicit Hosts(const host::Board& board);

  [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(nodes_.size()); }
  /// This one.
  [[nodiscard]] std::uint32_t own() const noexcept { return own_; }
  /// In ascending order; at least one.
  [[nodiscard]] std::span<const NodeId> nodes_of(std::uint32_t host) const noexcept { return nodes_[host]; }
  [[nodiscard]] std::span<const NodeId> here() const noexcept { return nodes_[own_]; }
  /// The first node of a host: it acts for the others in what has to be done once per host.
  [[nodiscard]] NodeId first_of(std::uint32_t host) const noexcept { return nodes_[host].front(); }

 private:
  std::uint32_t own_;
  std::vector<std::vector<NodeId>> nodes_;  // by host
};

}  // namespace am::core
