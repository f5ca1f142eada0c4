// What holds of every trace that is not full.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "emulated_hw/kit/trace.hpp"

namespace test {

using Link = std::pair<am::kit::NodeNumber, unsigned>;

inline std::map<Link, std::uint64_t> flits_by_link(const am::kit::Trace& trace) {
  std::map<Link, std::uint64_t> flits;
  for (const auto& passage : trace.passages()) flits[{passage.router, passage.port}] += passage.flits;
  return flits;
}

/// A link carries a flit in a cycle, the links of a node together one for each of its engines, and records are in the order of time.
inline void expect_one_flit_per_cycle(const am::kit::Trace& trace, std::size_t engines = 1) {
  std::map<Link, std::vector<am::kit::Cycle>> free_at;
  am::kit::Cycle now = 0;
  for (const auto& passage : trace.passages()) {
    EXPECT_LE(now, passage.begin);
    now = passage.begin;
    const bool is_nodes = passage.port == 0 || passage.port == am::kit::Trace::injection;
    auto& engines_free_at = free_at[{passage.router, passage.port}];
    engines_free_at.resize(is_nodes ? engines : 1);
    am::kit::Cycle& free = *std::ranges::min_element(engines_free_at);
    EXPECT_LE(free, passage.begin) << "router " << passage.router << " port " << passage.port;
    free = passage.begin + passage.flits;
    EXPECT_LE(free, trace.cycles() + passage.flits);
  }
}

/// Each copy leaves the interface that sent it, passes links that follow each other, and comes to an interface.
inline void expect_whole_ways(const am::kit::Trace& trace) {
  const std::vector<am::kit::Trace::Way> ways = trace.ways();
  ASSERT_EQ(ways.size(), trace.arrivals().size());
  for (const auto& [end, passages] : ways) {
    SCOPED_TRACE("message " + std::to_string(end.message));
    ASSERT_GE(passages.size(), 2u);
    EXPECT_EQ(passages.front().port, am::kit::Trace::injection);
    EXPECT_EQ(passages.front().router, trace.messages()[end.message].from);
    am::kit::RouterNumber at = passages[1].router;
    EXPECT_TRUE(any_place_of(trace.topology(), passages.front().router,
                             [&](const am::kit::Place& first) { return first.router == at; }));
    am::kit::Cycle before = passages.front().begin;
    for (std::size_t i = 1; i < passages.size(); ++i) {
      EXPECT_EQ(passages[i].router, at);
      EXPECT_GE(passages[i].begin, before + (i == 1 ? 0 : 1)) << "only from its node it may take no time";
      before = passages[i].begin;
      if (i + 1 == passages.size()) break;
      at = neighbour(trace.topology(), at, passages[i].port);
      ASSERT_NE(at, am::kit::nowhere);
    }
    EXPECT_TRUE(any_place_of(trace.topology(), end.node, [&](const am::kit::Place& last) {
      return last == am::kit::Place{at, passages.back().port};
    }));
    EXPECT_LT(before, end.at);
  }
}

inline void expect_consistent(const am::kit::Trace& trace, std::size_t engines = 1) {
  EXPECT_EQ(trace.what_is_missing(), "");
  expect_one_flit_per_cycle(trace, engines);
  expect_whole_ways(trace);
  // Nobody does two things at once.
  std::map<am::kit::NodeNumber, std::vector<std::pair<am::kit::Cycle, am::kit::Cycle>>> by_node;
  for (const auto& one : trace.activities()) {
    EXPECT_LT(one.what, trace.names.activities.size());
    EXPECT_LT(one.begin, one.end);
    by_node[one.node].emplace_back(one.begin, one.end);
  }
  for (auto& [node, spans] : by_node) {
    std::ranges::sort(spans);
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].second, spans[i].first) << node;
  }
}

}  // namespace test
