// The providers over which the tests of this folder run: those of the system, and some of the tests' own, whose bits
// no provider here has.
#pragma once

#include <vector>

#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi {

inline std::vector<Way> system_ways() {
  return {{.name = "tcp_ofi_rxm", .provider = "tcp;ofi_rxm"},
          {.name = "net", .provider = "net"},
          {.name = "udp_ofi_rxd", .provider = "udp;ofi_rxd"},
          {.name = "shm", .provider = "shm"}};
}

inline std::vector<Way> fake_ways() {
  using Fake = test::FakeProvider;
  constexpr int all_mr = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  std::vector<Way> ways;
  const auto add = [&](const char* name, Fake fake) {
    ways.push_back({.name = name, .fake = std::move(fake)});
  };
  add("plain", {});
  add("refusing", {.again_one_in = 3, .shuffles = true});
  add("unordered", {.order = 0, .mode = FI_CONTEXT2, .shuffles = true});
  add("no_rma", {.caps = FI_MSG | FI_MULTI_RECV, .again_one_in = 10});
  add("no_delivery", {.delivers = false, .again_one_in = 10});
  add("no_multi_recv", {.caps = FI_MSG | FI_RMA, .rx_size = 8});
  add("messages_alone", {.caps = FI_MSG, .order = 0, .again_one_in = 5, .shuffles = true});
  add("no_inject", {.mode = FI_CONTEXT, .inject_size = 0});
  add("tiny_inject", {.order = 0, .inject_size = 16, .tx_size = 2, .again_one_in = 4, .shuffles = true});
  add("forgetful", {.name = "fake;ofi_rxd", .tx_size = 2, .forgets_sends = true, .shuffles = true});
  add("short_messages", {.max_msg_size = 4096, .address_bytes = 96});
  add("odd_message_size", {.caps = FI_MSG, .max_msg_size = 5001, .address_bytes = 13});
  add("mr_local", {.mode = FI_CONTEXT2, .mr_mode = FI_MR_LOCAL, .shuffles = true});
  add("mr_virt_addr", {.mr_mode = FI_MR_VIRT_ADDR});
  add("mr_allocated", {.mr_mode = FI_MR_ALLOCATED});
  add("mr_prov_key", {.mr_mode = FI_MR_PROV_KEY});
  add("mr_endpoint",
      {.mr_mode = FI_MR_ENDPOINT | FI_MR_PROV_KEY, .shuffles = true, .keeps_bound_memory = true});
  add("mr_all", {.order = 0,
                 .mode = FI_CONTEXT2,
                 .mr_mode = all_mr,
                 .again_one_in = 3,
                 .shuffles = true,
                 .keeps_bound_memory = true});
  add("mr_local_alone", {.caps = FI_MSG, .mr_mode = FI_MR_LOCAL, .rx_size = 4, .again_one_in = 4});
  add("no_wait", {.wait_fd = false, .manual_progress = true});
  add("manual",
      {.order = 0, .mr_mode = FI_MR_LOCAL, .manual_progress = true, .again_one_in = 3, .shuffles = true});
  return ways;
}

inline std::vector<Way> all_ways() {
  std::vector<Way> ways = fake_ways();
  for (Way& way : system_ways()) ways.push_back(std::move(way));
  return ways;
}

inline std::string name_of(const testing::TestParamInfo<Way>& way) { return way.param.name; }

}  // namespace am::ofi
