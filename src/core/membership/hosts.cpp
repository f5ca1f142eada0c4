#include "core/membership/hosts.hpp"

#include <am/error.hpp>

#include <algorithm>

namespace am::core {

Hosts::Hosts(const host::Board& board) : own_(board.job().this_host) {
  for (NodeId node = 0; node < board.nodes(); ++node) {
    const std::uint32_t host = board.card(node).on_host;
    if (host >= nodes_.size()) nodes_.resize(std::size_t{host} + 1);
    nodes_[host].push_back(node);
  }
  const bool none_empty = std::ranges::none_of(nodes_, [](const auto& nodes) { return nodes.empty(); });
  if (own_ >= nodes_.size() || !none_empty)
    throw Error("join the job", "its hosts are not numbered from 0", "start the job anew");
}

}  // namespace am::core
