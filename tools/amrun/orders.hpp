// What the head of a job on several hosts orders its parts to start: which hosts have nodes, and which ones.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "amrun/frames.hpp"
#include "amrun/hosts.hpp"
#include "amrun/options.hpp"

namespace amrun {

class Orders {
 public:
  // Throws Fault: where the hosts have no room for so many nodes, or the folder to start in cannot be found.
  explicit Orders(const Options& options);

  // Those that have nodes; a host's number is its place here.
  [[nodiscard]] const std::vector<HostShare>& hosts() const { return hosts_; }
  [[nodiscard]] const std::vector<am::NodeId>& nodes_of(std::uint32_t number) const {
    return order_.placement.hosts[number];
  }
  // What that host's part is ordered to start. Good until the next call.
  const Order& of(std::uint32_t number);

 private:
  std::vector<HostShare> hosts_;
  Order order_;
};

}  // namespace amrun
