// The rule of support/cells.hpp, for networks that there are not yet.
#include "support/cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cells_test {

using namespace test;

constexpr std::array networks = {
    Network{.name = "shm"},
    Network{.name = "tcp", .cost = 20},
    Network{.name = "ofi", .cost = 30, .interrupts = false},
    Network{.name = "t1", .cost = 200},
    // Its nodes are threads of one process.
    Network{.name = "post", .interrupts = false, .processes = false},
    Network{.name = "rare", .interrupts = false, .rare = true},
    Network{.name = "mixed", .interrupts = false, .processes = false, .by_night = true},
    Network{.name = "unseen", .interrupts = false, .processes_by_day = false, .sanitized = false},
};
constexpr auto builds = {Build::plain, Build::asan, Build::tsan};

using Names = std::vector<std::string>;

/// Of the cells of a suite, those that a network gets: by day, or at night too.
Names of(std::string_view network, const Suite& suite, Build build, bool night) {
  Names names;
  for (const Substrate& cell : cells(suite, networks, build)) {
    if (cell.network->name == network && (night || !cell.night)) names.push_back(to_string(cell));
  }
  std::ranges::sort(names);
  return names;
}
Names by_day(std::string_view network, const Suite& suite, Build build) {
  return of(network, suite, build, false);
}

/// What a network gets by day in each build.
void expect_by_day(std::string_view network, const Suite& suite, const Names& plain, const Names& asan,
                   const Names& tsan) {
  EXPECT_EQ(by_day(network, suite, Build::plain), plain) << network;
  EXPECT_EQ(by_day(network, suite, Build::asan), asan) << network;
  EXPECT_EQ(by_day(network, suite, Build::tsan), tsan) << network;
}

TEST(Cells, SharedMemoryHasNearlyTheFullProductInReleaseAndTwoCellsElsewhere) {
  const Names all = {
      "processes",         "processes_interrupt", "processes_thread",    "threads",
      "threads_interrupt", "threads_thread",      "threads_with_faults", "threads_with_faults_interrupt",
  };
  expect_by_day("shm", {}, all, {"threads_interrupt", "threads_with_faults_thread"},
                {"threads", "threads_with_faults_thread"});
}

TEST(Cells, EachOtherNetworkHasOneInEachBuildByDay) {
  const Suite everywhere{.everywhere = true};
  for (const std::string name : {"tcp", "t1"})
    expect_by_day(name, everywhere, {name + "_processes"}, {name + "_threads_interrupt"},
                  {name + "_threads_with_faults_thread"});
  expect_by_day("ofi", everywhere, {"ofi_processes"}, {"ofi_threads"}, {"ofi_threads_with_faults_thread"});
  expect_by_day("post", everywhere, {"post_threads"}, {"post_threads"}, {"post_threads_with_faults_thread"});
  expect_by_day("tcp", {}, {"tcp_processes"}, {"tcp_threads_interrupt"}, {});
}

TEST(Cells, WhatIsRareOrForANightOrNotSeenIntoHasFewer) {
  expect_by_day("rare", {.everywhere = true}, {"rare_processes"}, {}, {});
  expect_by_day("rare", {}, {}, {}, {});
  expect_by_day("rare", {.about = About::many_nodes}, {}, {}, {});
  expect_by_day("unseen", {.everywhere = true}, {"unseen_threads"}, {}, {});
  for (const About about : {About::network, About::node, About::many_nodes})
    expect_by_day("mixed", {.about = about, .everywhere = true}, {}, {}, {});
}

TEST(Cells, AtNightEachNetworkHasItsFullProduct) {
  for (const Network& network : networks) {
    for (const About about : {About::network, About::node, About::many_nodes}) {
      for (const Build build : builds) {
        const std::size_t modes = network.interrupts && build != Build::tsan ? 3 : 2;
        const std::size_t kinds_of_nodes = network.processes ? 3 : 2;
        EXPECT_EQ(of(network.name, {.about = about}, build, true).size(), kinds_of_nodes * modes)
            << network.name;
      }
    }
  }
}

TEST(Cells, WhatTouchesNoNetworkRunsOnSharedMemoryAlone) {
  for (const Build build : builds) {
    for (const Network& network : networks) {
      const Names expected = network.name == "shm" ? by_day("shm", {}, build) : Names{};
      EXPECT_EQ(by_day(network.name, {.about = About::node}, build), expected) << network.name;
    }
  }
}

TEST(Cells, NamesSayWhatIsLeftToTheNight) {
  const Names names = of("tcp", {.faults = false, .asynchronous = false}, Build::plain, true);
  EXPECT_EQ(names, (Names{"tcp_processes", "tcp_threads_night"}));
}

}  // namespace cells_test
