// From AM_TRANSPORT and the table to a network for each peer.
#include "core/messages/networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <am/error.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "host/memory.hpp"

namespace am::core {
namespace networks_test {

using testing::ElementsAre;
using testing::HasSubstr;

const std::array table = {
    Kind{.name = "shm",
         .meaning = "shared memory",
         .options = {},
         .within_a_host = true,
         .between_hosts = false,
         .in_interrupts = true,
         .make = {}},
    Kind{.name = "tcp",
         .meaning = "TCP",
         .options = {},
         .within_a_host = true,
         .between_hosts = true,
         .in_interrupts = false,
         .make = {}},
    Kind{.name = "t1",
         .meaning = "a T1",
         .options = "WxH",
         .within_a_host = true,
         .between_hosts = false,
         .in_interrupts = true,
         .make = {}},
};

/// "shm|t1=4x4"; "-": none.
std::string parsed(std::string_view text) {
  const auto wanted = parse_networks(text, table);
  if (!wanted) return "-";
  std::string all;
  for (const Wanted& network : *wanted) {
    all += (all.empty() ? "" : "|") + std::string(network.kind->name);
    if (!network.options.empty()) all += "=" + std::string(network.options);
  }
  return all;
}

TEST(ParseNetworks, TakesNamesInTheirOrderWithOptionsWhereThereAreSome) {
  EXPECT_EQ(parsed("auto"), "shm|tcp|t1");
  EXPECT_EQ(parsed("tcp"), "tcp");
  EXPECT_EQ(parsed("tcp,shm"), "tcp|shm");
  EXPECT_EQ(parsed("t1:4x4,tcp"), "t1=4x4|tcp");
  EXPECT_EQ(parsed("t1:"), "t1");
  for (const char* malformed : {"", ",", "shm,", ",shm", "shm,shm", "shm:", "shm:4x4", "tcp:4", "auto,shm",
                                "SHM", "shm ", "ib", "t1:4x4,t1", ":", "shm,,tcp"})
    EXPECT_EQ(parsed(malformed), "-") << '"' << malformed << '"';
}

/// A job of four nodes, the last two on another host.
class ChooseNetworks : public testing::Test {
 protected:
  ChooseNetworks() {
    board_.card(2).on_host = 1;
    board_.card(3).on_host = 1;
  }
  [[nodiscard]] NetworkOfPeers choose(std::string_view text, bool in_interrupts = false) const {
    return choose_networks(*parse_networks(text, table), board_, in_interrupts);
  }
  [[nodiscard]] std::string error_of(std::string_view text, bool in_interrupts = false) const {
    try {
      static_cast<void>(choose(text, in_interrupts));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(4);
  const host::Board& board_ = memory_->board();
};

TEST_F(ChooseNetworks, TheFirstThatLeadsThere) {
  EXPECT_THAT(choose("auto").of_peer, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(describe(choose("auto")), "shared memory to 2 nodes, TCP to 2 nodes");
  EXPECT_THAT(choose("t1:2x1,tcp").of_peer, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(choose("t1:2x1,tcp").used.front().options, "2x1");
  const NetworkOfPeers one = choose("tcp,shm");
  EXPECT_EQ(one.used.size(), 1u) << "shm leads to nobody";
  EXPECT_EQ(describe(one), "TCP to all nodes");
}

TEST_F(ChooseNetworks, AnErrorWhereNoneDoes) {
  EXPECT_THAT(error_of("shm"),
              HasSubstr("none of AM_TRANSPORT=shm leads to node 2, which is on another host"));
  EXPECT_THAT(error_of("shm,t1"), HasSubstr("AM_TRANSPORT=shm,t1 leads to node 2"));
  board_.job().this_host = 1;
  EXPECT_THAT(error_of("shm"), HasSubstr("leads to node 0"));
}

TEST_F(ChooseNetworks, AnErrorWhereInterruptsAreForbidden) {
  EXPECT_THAT(error_of("auto", true), HasSubstr("on another host, does not work where messages interrupt"));
  board_.card(2).on_host = board_.card(3).on_host = 0;
  EXPECT_EQ(error_of("auto", true), "no error") << "tcp leads to nobody";
}

}  // namespace networks_test
}  // namespace am::core
