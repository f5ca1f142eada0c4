// The rule of support/cells.hpp, for networks that there are not yet.
#include "support/cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace cells_test {

using test::About;
using test::Build;
using test::cells;
using test::Network;
using test::Substrate;
using test::Suite;

constexpr std::array seven = {
    Network{.name = "shm"},
    Network{.name = "tcp", .cost = 20},
    Network{.name = "ofi", .cost = 30, .interrupts = false},
    Network{.name = "t1", .cost = 200},
    Network{.name = "mmachine", .cost = 200},
    Network{.name = "iwarp", .cost = 200},
    Network{.name = "cm5", .cost = 200},
};

/// One whose nodes are threads of one process.
constexpr std::array within_a_process = {
    Network{.name = "shm"},
    Network{.name = "post", .interrupts = false, .processes = false},
};

using Names = std::vector<std::string>;

/// Of the cells of a suite, those that a network gets: by day, or at night too.
Names of(std::string_view network, const Suite& suite, Build build, bool night,
         std::span<const Network> all = seven) {
  Names names;
  for (const Substrate& cell : cells(suite, all, build)) {
    if (cell.network->name == network && (night || !cell.night)) names.push_back(to_string(cell));
  }
  std::ranges::sort(names);
  return names;
}
Names by_day(std::string_view network, const Suite& suite, Build build) {
  return of(network, suite, build, false);
}

TEST(Cells, SharedMemoryHasNearlyTheFullProductInReleaseAndTwoCellsElsewhere) {
  const Names all = {
      "processes",         "processes_interrupt", "processes_thread",    "threads",
      "threads_interrupt", "threads_thread",      "threads_with_faults", "threads_with_faults_interrupt",
  };
  EXPECT_EQ(by_day("shm", {}, Build::plain), all);
  EXPECT_EQ(by_day("shm", {}, Build::asan), (Names{"threads_interrupt", "threads_with_faults_thread"}));
  EXPECT_EQ(by_day("shm", {}, Build::tsan), (Names{"threads", "threads_with_faults_thread"}));
}

TEST(Cells, EachOtherNetworkHasOneInEachBuildByDay) {
  for (const Network& network : seven) {
    if (network.name == "shm") continue;
    const std::string name(network.name);
    EXPECT_EQ(by_day(name, {}, Build::plain), Names{name + "_processes"});
    EXPECT_EQ(by_day(name, {}, Build::asan),
              Names{name + (network.interrupts ? "_threads_interrupt" : "_threads")});
    EXPECT_EQ(by_day(name, {}, Build::tsan), Names{name + "_threads_with_faults_thread"});
  }
}

TEST(Cells, AtNightEachNetworkHasItsFullProduct) {
  for (const Network& network : seven) {
    for (const About about : {About::network, About::node, About::many_nodes}) {
      const Suite suite{.about = about};
      const std::size_t modes = network.interrupts ? 3 : 2;
      EXPECT_EQ(of(network.name, suite, Build::plain, true).size(), 3 * modes) << network.name;
      EXPECT_EQ(of(network.name, suite, Build::asan, true).size(), 3 * modes) << network.name;
      EXPECT_EQ(of(network.name, suite, Build::tsan, true).size(), 3 * 2u) << network.name;
    }
  }
}

TEST(Cells, WhatTouchesNoNetworkRunsOnSharedMemoryAlone) {
  const Suite suite{.about = About::node};
  for (const Build build : {Build::plain, Build::asan, Build::tsan}) {
    EXPECT_EQ(by_day("shm", suite, build), by_day("shm", {}, build));
    for (const Network& network : seven) {
      if (network.name == "shm") continue;
      EXPECT_TRUE(by_day(network.name, suite, build).empty()) << network.name;
    }
  }
}

TEST(Cells, OfARareNetworkRunOneByDayAndThatForSuitesThatRunEverywhere) {
  static constexpr std::array all = {
      Network{.name = "shm"},
      Network{.name = "ofi", .interrupts = false, .processes_by_day = false, .rare = true},
  };
  const Suite everywhere{.everywhere = true};
  EXPECT_EQ(of("ofi", everywhere, Build::plain, false, all), Names{"ofi_threads"});
  EXPECT_EQ(of("ofi", everywhere, Build::asan, false, all), Names{});
  EXPECT_EQ(of("ofi", everywhere, Build::tsan, false, all), Names{});
  EXPECT_EQ(of("ofi", {}, Build::plain, false, all), Names{});
  EXPECT_EQ(of("ofi", {.about = About::many_nodes}, Build::plain, false, all), Names{});
  EXPECT_EQ(of("ofi", {}, Build::plain, true, all).size(), 6u) << "the others are for a night";
}

TEST(Cells, WhatIsForANightAloneRunsThen) {
  static constexpr std::array all = {
      Network{.name = "shm"},
      Network{.name = "mixed", .interrupts = false, .processes = false, .by_night = true},
  };
  for (const Build build : {Build::plain, Build::asan, Build::tsan}) {
    for (const About about : {About::network, About::node, About::many_nodes}) {
      EXPECT_EQ(of("mixed", {.about = about}, build, false, all), Names{});
      EXPECT_EQ(of("mixed", {.about = about}, build, true, all).size(), 4u);
    }
  }
}

TEST(Cells, WhatSanitizersNeedNotSeeIsLeftToTheirNight) {
  static constexpr std::array all = {
      Network{.name = "shm"},
      Network{.name = "ofi", .interrupts = false, .processes_by_day = false, .sanitized = false},
  };
  for (const Build build : {Build::asan, Build::tsan}) {
    EXPECT_EQ(of("ofi", {}, build, false, all), Names{});
    EXPECT_EQ(of("ofi", {}, build, true, all).size(), 6u);
  }
  EXPECT_EQ(of("ofi", {}, Build::plain, false, all), Names{"ofi_threads"});
}

TEST(Cells, ManyNodesRunOncePerNetwork) {
  const Suite suite{.about = About::many_nodes};
  for (const Network& network : seven) {
    EXPECT_EQ(by_day(network.name, suite, Build::plain).size(), 1u) << network.name;
    EXPECT_EQ(by_day(network.name, suite, Build::asan).size(), 0u) << network.name;
    EXPECT_EQ(by_day(network.name, suite, Build::tsan).size(), 0u) << network.name;
  }
}

TEST(Cells, AreOnlyThoseThatTheSuiteTakes) {
  const Suite without_faults{.faults = false};
  EXPECT_EQ(by_day("tcp", without_faults, Build::plain), Names{"tcp_processes"});
  EXPECT_EQ(by_day("tcp", without_faults, Build::tsan), Names{"tcp_threads_thread"});
  const Suite asynchronous{.polling = false};
  EXPECT_EQ(by_day("tcp", asynchronous, Build::plain), Names{"tcp_processes_thread"});
  EXPECT_EQ(by_day("ofi", asynchronous, Build::asan), Names{"ofi_threads_thread"});
  const Suite polling{.asynchronous = false};
  EXPECT_EQ(by_day("tcp", polling, Build::asan), Names{"tcp_threads"});
  EXPECT_EQ(by_day("tcp", polling, Build::tsan), Names{"tcp_threads_with_faults"});
  const Suite processes_that_poll{.threads = false, .faults = false, .asynchronous = false};
  EXPECT_EQ(of("shm", processes_that_poll, Build::plain, false), Names{"processes"});
}

// What the six others add to a day is little more than what shared memory takes alone: 18 cells beside its 12.
TEST(Cells, SixMoreNetworksLittleMoreThanDoubleTheWork) {
  std::size_t shared_memory = 0;
  std::size_t others = 0;
  for (const Build build : {Build::plain, Build::asan, Build::tsan}) {
    for (const Substrate& cell : cells({}, seven, build)) {
      if (!cell.night) ++(cell.network->name == "shm" ? shared_memory : others);
    }
  }
  EXPECT_EQ(shared_memory, 12u);
  EXPECT_EQ(others, 18u);
}

TEST(Cells, OneWithoutProcessesHasThreadsInTheirPlace) {
  const auto by_day_of = [](const Suite& suite, Build build) {
    return of("post", suite, build, false, within_a_process);
  };
  EXPECT_EQ(by_day_of({}, Build::plain), Names{"post_threads"});
  EXPECT_EQ(by_day_of({}, Build::asan), Names{"post_threads"});
  EXPECT_EQ(by_day_of({}, Build::tsan), Names{"post_threads_with_faults_thread"});
  EXPECT_EQ(by_day_of({.about = About::many_nodes}, Build::plain), Names{"post_threads"});
  EXPECT_EQ(of("post", {}, Build::plain, true, within_a_process).size(), 2 * 2u);
}

TEST(Cells, NamesSayWhatIsLeftToTheNight) {
  const Names names = of("tcp", {.faults = false, .asynchronous = false}, Build::plain, true);
  EXPECT_EQ(names, (Names{"tcp_processes", "tcp_threads_night"}));
}

}  // namespace cells_test
