// The JSON of a trace: that it is some, that slices are what links carried, and that arrows lead from slice to slice all the way.
#include "emulated_hw/kit/trace_json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "emulated_hw/kit/traffic.hpp"

namespace am::kit {
namespace trace_json_test {

using nlohmann::json;

using Track = std::pair<int, int>;  // process, thread
struct Slices {
  std::map<Track, std::map<std::uint64_t, std::uint64_t>> by_track;  // begin to duration
  std::uint64_t flits = 0;
};

Slices slices_of(const json& all) {
  Slices slices;
  for (const json& event : all["traceEvents"]) {
    if (event["ph"] != "X") continue;
    slices.by_track[{event["pid"], event["tid"]}][event["ts"]] = event["dur"];
    if (event["cat"] == "link") slices.flits += event["args"]["flits"].get<std::uint64_t>();
  }
  return slices;
}

class TraceJsonOf : public testing::TestWithParam<Topology> {};

TEST_P(TraceJsonOf, LeadsFromInterfaceToInterface) {
  const Topology& topology = GetParam();
  const bool routers_are_nodes = !std::holds_alternative<FatTree>(topology);
  CycleNetwork network(topology, {.num_vcs = 2});
  Trace trace(topology);
  network.record(&trace);
  TrafficNodes nodes(network, {.injection_rate = 0.4, .packet_size = 3, .seed = 1});
  for (int i = 0; i < 200; ++i) nodes.cycle();
  nodes.stop();
  while (nodes.figures().waiting != 0 || network.flits() != 0) nodes.cycle();
  trace.ends(network.now());

  const json all = json::parse(to_json(trace));
  EXPECT_EQ(all["otherData"]["cycles"], network.now());
  EXPECT_FALSE(all["otherData"].contains("missing"));
  const Slices slices = slices_of(all);
  std::uint64_t flits = 0;
  for (const Trace::Passage& passage : trace.passages()) flits += passage.flits;
  EXPECT_EQ(slices.flits, flits);
  for (const auto& [track, some] : slices.by_track) {
    std::uint64_t free_at = 0;
    for (const auto& [begin, duration] : some) {
      EXPECT_LE(free_at, begin) << "slices of a track lie in each other";
      free_at = begin + duration;
    }
  }

  std::map<Track, std::string> names;
  std::map<int, std::vector<json>> arrows;
  for (const json& event : all["traceEvents"]) {
    if (event["ph"] == "M") names[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event.contains("id")) arrows[event["id"]].push_back(event);
  }
  EXPECT_EQ(arrows.size(), trace.arrivals().size());
  for (const auto& [id, way] : arrows) {
    EXPECT_EQ(way.front()["ph"], "s");
    EXPECT_EQ(way.back()["ph"], "f");
    std::uint64_t before = 0;
    for (const json& event : way) {
      EXPECT_TRUE(event["ph"] == "t" || &event == &way.front() || &event == &way.back());
      EXPECT_LE(before, event["ts"]);
      before = event["ts"];
      const Track track{event["pid"], event["tid"]};
      EXPECT_TRUE(slices.by_track.at(track).contains(event["ts"])) << event;
      EXPECT_TRUE(names.contains(track)) << event;
    }
    EXPECT_EQ((names[{way.front()["pid"], way.front()["tid"]}]), "into the network");
    const Trace::Arrival& end = trace.arrivals()[static_cast<std::size_t>(id)];
    EXPECT_EQ((names[{way.back()["pid"], way.back()["tid"]}]),
              routers_are_nodes ? "out of the network" : "to node " + std::to_string(end.node));
    EXPECT_EQ((names[{way.front()["pid"], 0}]), "node " + std::to_string(trace.messages()[end.message].from));
    for (std::size_t i = 1; i + 1 < way.size(); ++i) {
      const Track next{way[i + 1]["pid"], 0};
      EXPECT_EQ((names[{way[i]["pid"], way[i]["tid"]}]), "to " + names[next]) << "what the link leads to";
    }
  }
  std::set<std::string> processes;
  for (const auto& [track, name] : names) {
    if (track.second == 0) processes.insert(name);
  }
  EXPECT_EQ(processes.size(), network.nodes() + (routers_are_nodes ? 0 : network.routers()));
}

INSTANTIATE_TEST_SUITE_P(, TraceJsonOf,
                         testing::Values(Topology(Grid{{4}, {3, true}}), Topology(Hypercube(3)),
                                         Topology(FatTree::k_ary(3, 2)), Topology(FatTree::k_ary(2, 3))));

TEST(TraceJson, IsJsonWhateverThingsAreCalled) {
  Trace trace(Grid{{2}}, 2);
  const std::string name = "a \"b\" \\ </script> \n\t\x01 \x7f é";
  trace.names = {.title = name, .messages = {name}, .activities = {name}};
  trace.does(0, 0, 0, true);
  trace.does(0, 7, 1, true);  // a number without a name
  trace.passes(trace.begins(0, 1, 0), 0, 1, 0, 1);
  static_cast<void>(trace.begins(0, 1, 0));
  static_cast<void>(trace.begins(0, 1, 0));
  trace.ends(2);
  const json all = json::parse(to_json(trace));
  EXPECT_EQ(all["otherData"]["title"], name);
  EXPECT_EQ(all["otherData"]["missing"], trace.what_is_missing());
  int named = 0;
  for (const json& event : all["traceEvents"]) {
    if (event["ph"] == "X" && (event["name"] == name || event["args"]["kind"] == name)) ++named;
  }
  EXPECT_EQ(named, 2);
}

TEST(TraceJson, IsJsonOfNothing) {
  Trace trace(Grid{{1}});
  trace.ends(0);
  EXPECT_EQ(json::parse(to_json(trace))["traceEvents"].size(), 1u) << "the node's name";
}

}  // namespace trace_json_test
}  // namespace am::kit
