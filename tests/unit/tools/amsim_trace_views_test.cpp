// How traces are shown: as JSON, as a page, as a picture.
#include "amsim/trace/views.hpp"

#include <nlohmann/json.hpp>

#include "emulated_hw/kit/textbook_network.hpp"
#include "unit/emulated_hw/port_checks.hpp"

namespace amsim::amsim_trace_views_test {

using namespace am::kit;

/// Some cycles of it, and until all has come.
Cycle run(const Topology& topology, const TextbookNetwork::Options& options, const Traffic& traffic,
          Trace& trace, Cycle cycles) {
  TextbookNetwork port(topology, options);
  port.record(&trace);
  TrafficNodes nodes(port, traffic);
  for (Cycle i = 0; i < cycles; ++i) nodes.cycle();
  test::drain(port, nodes);
  trace.ends(port.now());
  return port.now();
}

// -- the JSON of a trace: that it is some, that slices are what links carried, and that arrows lead from slice to slice all the way

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
  Trace trace(topology);
  const Cycle all_cycles =
      run(topology, {.num_vcs = 2}, {.injection_rate = 0.4, .packet_size = 3, .seed = 1}, trace, 200);

  const json all = json::parse(to_json(trace));
  EXPECT_EQ(all["otherData"]["cycles"], all_cycles);
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
  EXPECT_EQ(processes.size(), nodes_of(topology) + (routers_are_nodes ? 0 : routers_of(topology)));
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

// -- a trace as a page, without a browser (tests/process/trace_page_test.cpp has one), and as a picture: what is drawn, and how dark

json data_in(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"trace\">";
  const std::size_t at = page.find(begin) + begin.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST(TracePage, HoldsTheRecord) {
  Trace trace(Grid{{3, true}, {2}}, 10);
  trace.names = {.title = "three by two", .messages = {"low", "high"}, .activities = {"SEND"}};
  const std::uint32_t first = trace.begins(0, 1, 0);
  const std::uint32_t second = trace.begins(4, 5, 1);
  trace.does(0, 0, 0, true);
  trace.passes(first, 0, Trace::injection, 2, 3);
  trace.passes(second, 4, 1, 7, 2);
  trace.comes(first, 1, 9);
  trace.ends(12);
  EXPECT_EQ(data_in(to_page(trace)), json::parse(R"({
    "title": "three by two", "missing": "", "extents": [3, 2], "wraps": [true, false], "ports": 5, "cycles": 12,
    "kinds": ["low", "high"], "activities": ["SEND"],
    "messages": [0, 1, 0, 4, 5, 1], "passages": [2, 0, 0, 5, 3, 5, 1, 4, 1, 2], "arrivals": [9, 0, 1],
    "does": [0, 1, 0, 0]})"));
}

TEST(TracePage, IsAPageWhateverThingsAreCalled) {
  Trace trace(Grid{{2}});
  const std::string name = "</script><script>alert(1)</script> & <!-- \"é\" \\ \n";
  trace.names = {.title = name, .messages = {name}, .activities = {name}};
  trace.ends(1);
  const std::string page = to_page(trace);
  const json data = data_in(page);
  EXPECT_EQ(data["title"], name);
  EXPECT_EQ(data["kinds"][0], name);
  EXPECT_EQ(data["activities"][0], name);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("http"), page.find("http://www.w3.org/2000/svg")) << "needs nothing from elsewhere";
}

TEST(TracePicture, DrawsNodesAndLinksByLoad) {
  Trace trace(Grid{{3, true}, {2}});
  trace.names.title = "three <by> two & more";
  const std::uint32_t message = trace.begins(0, 1, 0);
  trace.passes(message, 0, 1, 0, 5);  // the link with the most
  trace.passes(message, 1, 1, 2, 1);
  trace.ends(10);
  const std::string picture = to_picture(trace);
  EXPECT_NE(picture.find("three &lt;by> two &amp; more"), std::string::npos);
  EXPECT_NE(picture.find("flits per cycle on a link, 0 to 0.50; 10 cycles"), std::string::npos);
  for (const char* node : {">0</text>", ">5</text>"}) EXPECT_NE(picture.find(node), std::string::npos);
  const auto arrows_in = [&](const std::string& colour) {
    const std::size_t at = picture.find("<path fill=\"" + colour);
    if (at == std::string::npos) return std::ptrdiff_t{0};
    return std::ranges::count(picture.substr(at, picture.find("/>", at) - at), 'M');
  };
  EXPECT_EQ(arrows_in("#0b3a75"), 1) << "all of the most";
  EXPECT_EQ(arrows_in("#a9cfee"), 1) << "a fifth of it";
  // Rows: four links that go straight and two round the edge, drawn as two ends each, both ways; and three columns.
  EXPECT_EQ(arrows_in("#e6eaee"), 2 * (2 * 2 + 2 * 2) + 3 * 2 - 2);
}

/// Of more than two dimensions there is none: tests/process/amsim_wrong_use.txt.
TEST(TracePage, IsOfNothingAsAPictureIs) {
  Trace nothing(Grid{{1}});
  nothing.ends(0);
  EXPECT_NE(to_picture(nothing).find("0 to 0.00; 0 cycles"), std::string::npos);
  EXPECT_NO_THROW(static_cast<void>(to_page(nothing)));
}

}  // namespace amsim::amsim_trace_views_test
