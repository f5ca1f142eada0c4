#include "amrun/orders.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <numeric>

#include "amrun/environment.hpp"
#include "amrun/paths.hpp"
#include "amrun/this_host.hpp"
#include "host/random_bytes.hpp"

namespace amrun {
namespace {

Order common_order(const Options& options) {
  Order order;
  std::array<std::byte, 16 + 32> random{};
  am::host::fill_random(random);
  const auto* const bytes = reinterpret_cast<const char*>(random.data());
  order.job_name.assign(bytes, 16);
  order.job_key.assign(bytes + 16, 32);
  order.folders = folders_to_start_in(options.folder);
  for (char** word = options.program; *word != nullptr; ++word) order.program.emplace_back(*word);
  order.environment = variables_for_hosts(environ, options.variables);
  order.bind = options.bind;
  order.report_bindings = options.report_bindings;
  order.label = options.label;
  order.watchdog_ns = options.watchdog_ns;
  return order;
}

}  // namespace

Orders::Orders(const Options& options) {
  const std::vector<HostShare> hosts = find_this_host(options.hosts, is_this_host);
  const std::vector<am::NodeId> shares = share_out(hosts, options.nodes);
  order_ = common_order(options);
  am::NodeId next = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) continue;
    auto& nodes = order_.placement.hosts.emplace_back(shares[i]);
    std::iota(nodes.begin(), nodes.end(), next);
    next += shares[i];
    hosts_.push_back(hosts[i]);
  }
}

const Order& Orders::of(std::uint32_t number) {
  order_.host = hosts_[number].name;
  order_.placement.own = number;
  return order_;
}

}  // namespace amrun
