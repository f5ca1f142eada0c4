// ambench as people run it: that a measure ends, prints its tables and writes its files. No figure is judged.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "process/command.hpp"
#include "process/surroundings.hpp"

namespace ambench_test {

using process_test::expect_end;
using process_test::Outcome;
using Folder = process_test::TemporaryFolder;
using namespace testing;

const std::string ambench = AM_BIN_DIR "/ambench";

int usable_cpus() {
  const cpu_set_t own = process_test::own_processors();
  return CPU_COUNT(&own);
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// One line of a .gnuplot file per bar: between "$columnN << end" and "end".
int bars_in(const std::string& script) {
  int bars = 0;
  bool data = false;
  for (const std::string& line : process_test::lines_of(script)) {
    const bool ends = line == "end";
    if (data && !ends) ++bars;
    data = line.ends_with("<< end") || (data && !ends);
  }
  return bars;
}

double lowest_text_in(const std::string& svg) {
  const std::regex place(R"(translate\([^,]*,([0-9.]+)\))");
  double lowest = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), place), end; at != end; ++at)
    lowest = std::max(lowest, std::stod((*at)[1]));
  return lowest;
}

std::string as_text(const std::string& line) { return std::string(">").append(line).append("<"); }

// The labels below the bars and in the key, line by line.
std::vector<std::string> labels_in(const std::string& script) {
  const std::regex label(R"~((?:title |[(,] ?)"([^"]*)")~");
  const std::regex line_break(R"(\\n)");
  const std::string from = script.substr(script.find("set xtics"));
  std::vector<std::string> labels;
  for (std::sregex_iterator at(from.begin(), from.end(), label), end; at != end; ++at) {
    const std::string text = (*at)[1];
    std::copy(std::sregex_token_iterator(text.begin(), text.end(), line_break, -1),
              std::sregex_token_iterator(), std::back_inserter(labels));
  }
  return labels;
}

// What gnuplot draws as a filled shape is a bar or a mark of the key; text outside of the picture is drawn, and not seen.
void expect_all_drawn(const std::string& chart) {
  SCOPED_TRACE(chart);
  const std::string script = text_of(chart + ".gnuplot");
  const std::string svg = text_of(chart + ".svg");
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  const int columns = process_test::count(script, "with boxerrorbars");
  EXPECT_GT(columns, 0);
  EXPECT_EQ(process_test::count(svg, "<polygon"), bars_in(script) + columns);
  const std::vector<std::string> labels = labels_in(script);
  EXPECT_GT(labels.size(), static_cast<std::size_t>(columns));
  for (const std::string& label : labels) EXPECT_THAT(svg, HasSubstr(as_text(label)));
  EXPECT_THAT(svg, HasSubstr("height=\"520\""));
  EXPECT_LT(lowest_text_in(svg), 515);
}

enum Plots { no_plots, draws };

/// One run of a measure that ends well, and its figures; with their plots where there is gnuplot.
class Measured {
 public:
  explicit Measured(std::vector<std::string> words, Plots plots = no_plots,
                    const std::function<void()>& in_child = {})
      : drawn_(plots == draws && process_test::run({"sh", "-c", "command -v gnuplot"}).exit_code == 0) {
    words.insert(words.begin(), ambench);
    words.insert(words.end(), {"--json", folder_.in("figures.json")});
    if (drawn_) words.insert(words.end(), {"--plots", folder_.in("plots")});
    Outcome outcome = process_test::run(words, {.in_child = in_child});
    if (outcome.exit_code != 0) throw std::runtime_error(outcome.err);
    out = std::move(outcome.out);
    json = nlohmann::json::parse(text_of(folder_.in("figures.json")));
  }
  [[nodiscard]] bool drawn() const { return drawn_; }
  [[nodiscard]] std::string plots() const { return folder_.in("plots"); }
  void expect_drawn(const std::string& beginning, const std::vector<std::string>& charts) const {
    if (!drawn_) return;
    for (const std::string& chart : charts) expect_all_drawn(plots() + "/" + beginning + chart);
  }
  /// The rows by what they are of.
  [[nodiscard]] std::map<std::string, nlohmann::json> rows_by(const char* key) const {
    std::map<std::string, nlohmann::json> rows;
    for (const auto& row : json["rows"]) rows[row[key]] = row;
    return rows;
  }

  std::string out;
  nlohmann::json json;

 private:
  const Folder folder_;
  const bool drawn_;
};

// Differences of two times may come out negative where the machine has more to do.
void expect_figures(const nlohmann::json& row) {
  static const std::set<std::string> differences{"displaced_ns", "polling_share_percent"};
  for (const auto& [name, figure] : row.items()) {
    if (!figure.is_object()) continue;
    EXPECT_LE(figure["min"], figure["median"]) << name << row;
    EXPECT_LE(figure["median"], figure["max"]) << name << row;
    if (!differences.contains(name)) {
      EXPECT_GT(figure["min"], 0) << name << row;
    }
  }
}

// The high end beside the median: of one repetition, so each is one figure.
void expect_spread(const nlohmann::json& row, const std::string& name) {
  for (const char* part : {"_ns", "_p99_ns", "_longest_ns"})
    ASSERT_TRUE(row.contains(name + part) && row[name + part].is_object()) << name << part << row;
  EXPECT_LE(row[name + "_ns"]["median"], row[name + "_p99_ns"]["median"]) << row;
  EXPECT_LE(row[name + "_p99_ns"]["median"], row[name + "_longest_ns"]["median"]) << row;
}

TEST(Ambench, CmamIsMeasuredBesideLibam) {
  if (usable_cpus() < 2) GTEST_SKIP() << "takes two processors";
  const nlohmann::json json = Measured({"cmam", "--reps", "1"}).json;
  EXPECT_EQ(json["measure"], "cmam");
  ASSERT_EQ(json["rows"].size(), 3);
  for (const auto& row : json["rows"]) expect_figures(row);
}

// With and without the memory of the other node at hand: over a network there is no plain access to compare with.
TEST(Ambench, SplitCIsMeasuredBesidePlainAccesses) {
  if (usable_cpus() < 2) GTEST_SKIP() << "takes two processors";
  for (const std::string network : {"shm", "tcp"}) {
    const nlohmann::json json = Measured({"splitc", "--reps", "1", "--transport", network}).json;
    EXPECT_EQ(json["measure"], "splitc");
    EXPECT_EQ(json["transport"], network);
    std::set<std::string> operations;
    for (const auto& row : json["rows"]) {
      expect_figures(row);
      operations.insert(row["operation"]);
      if (row["operation"] == "read_remote_ns") {
        EXPECT_EQ(row.contains("limit_remote_ns"), network == "shm") << row;
      }
    }
    EXPECT_EQ(operations,
              (std::set<std::string>{"read_remote_ns", "write_remote_ns", "read_local_ns", "chain_local_ns",
                                     "write_local_ns", "put_each_ns", "get_each_ns", "store_each_ns",
                                     "fetch_add_call_ns", "atomic_call_ns", "bulk_put_bandwidth_gb_per_s"}));
  }
}

// Overheads may be noise, and L is below 0 where sends deliver; the rest is not.
TEST(Ambench, LogPIsFittedAndSaysHowWellItPredicts) {
  if (usable_cpus() < 2) GTEST_SKIP() << "takes two processors";
  for (const std::string network : {"shm", "mmachine"}) {
    const nlohmann::json json = Measured({"logp", "--reps", "1", "--transport", network}).json;
    EXPECT_EQ(json["measure"], "logp");
    EXPECT_EQ(json["transport"], network);
    ASSERT_EQ(json["rows"].size(), 4u);
    const auto& fitted = json["rows"][0];
    EXPECT_EQ(fitted["what"], "network");
    for (const char* number : {"o_send_ns", "o_recv_ns", "gap_ns", "gap_per_byte_ns"})
      EXPECT_GE(fitted[number]["min"], 0) << number << fitted;
    EXPECT_TRUE(fitted["latency_ns"].is_object()) << fitted;
    std::set<std::string> programs;
    for (std::size_t i = 1; i < json["rows"].size(); ++i) {
      programs.insert(json["rows"][i]["what"]);
      EXPECT_GT(json["rows"][i]["measured_ns"]["min"], 0) << json["rows"][i];
      EXPECT_TRUE(json["rows"][i]["predicted_to_measured_ratio"].is_object()) << json["rows"][i];
    }
    EXPECT_EQ(programs, (std::set<std::string>{"burst", "payload", "phase"}));
  }
}

TEST(Ambench, MulticastIsMeasuredBesideMessages) {
  const nlohmann::json json = Measured({"multicast", "--reps", "1", "-n", "3"}).json;
  EXPECT_EQ(json["measure"], "multicast");
  EXPECT_EQ(json["nodes"], 3);
  ASSERT_EQ(json["rows"].size(), 2);
  for (const auto& row : json["rows"]) expect_figures(row);
  EXPECT_TRUE(json["rows"][0].contains("multicast_us"));
  EXPECT_TRUE(json["rows"][1].contains("messages_us"));
}

TEST(Ambench, DispatchMeasuresEveryModeAndDrawsIt) {
  if (usable_cpus() < 2) GTEST_SKIP() << "takes two processors";
  const Measured measured({"dispatch", "--reps", "1"}, draws);
  for (const char* part : {"poll: receiver polls", "thread, processor of its own: receiver only computes",
                           "interrupt: receiver only computes", "limit: tgkill to handler",
                           "limit: futex wake", "critical section", "timelet"}) {
    EXPECT_THAT(measured.out, HasSubstr(part));
  }
  const nlohmann::json& json = measured.json;
  EXPECT_EQ(json["measure"], "dispatch");
  bool bursts = false;
  std::map<std::string, int> spreads;  // by arrangement
  int limits_beside = 0;
  for (const auto& row : json["rows"]) {
    expect_figures(row);
    if (row.contains("one_way_ns")) {
      expect_spread(row, "one_way");
      ++spreads[row["arrangement"]];
    }
    if (row.contains("beside_ns")) {
      expect_spread(row, "beside");
      ++limits_beside;
    }
    if (row["what"] == "timelet") {
      expect_spread(row, "computing_late");
      expect_spread(row, "sleeping_late");
    }
    EXPECT_TRUE(row["sender_cpu"].is_number_integer() && row["receiver_cpu"].is_number_integer()) << row;
    if (row["arrangement"] != "thread") {
      EXPECT_NE(row["sender_cpu"], row["receiver_cpu"]) << row;
    }
    if (row["sender_cpu"] == row["receiver_cpu"]) {  // the receiver does not run while it is sampled
      EXPECT_FALSE(std::string(row["what"]).starts_with("polls") && row.contains("one_way_ns")) << row;
    }
    if (row["arrangement"] != "interrupt" || row["what"] != "burst") continue;
    bursts = true;
    EXPECT_GE(row["burst_signals"]["median"], 1);
    EXPECT_LT(row["burst_signals"]["median"], 100);  // of 1000 requests
  }
  EXPECT_TRUE(bursts);
  EXPECT_EQ(spreads["poll"], 4);
  EXPECT_GE(spreads["thread"], 2);
  EXPECT_EQ(spreads["interrupt"], 6);
  if (spreads.contains("thread_shared")) {
    EXPECT_EQ(spreads["thread_shared"], 6);
    EXPECT_EQ(limits_beside, 2);
  }
  for (const std::string kind : {"remarks", "warnings"}) {
    for (const std::string text : json[kind]) EXPECT_THAT(measured.out, HasSubstr(text));
  }
  if (!measured.drawn()) GTEST_SKIP() << "takes gnuplot";
  const std::string plots = measured.plots();
  int charts = 0;
  for (const auto& file : std::filesystem::directory_iterator(plots)) {
    if (file.path().extension() != ".gnuplot") continue;
    expect_all_drawn(std::filesystem::path(file.path()).replace_extension());
    ++charts;
  }
  EXPECT_EQ(charts, spreads.contains("thread_shared") ? 13 : 12);
  const std::string send = text_of(plots + "/send.svg");
  for (const char* column : {"poll", "thread, processor of its own", "interrupt"})
    EXPECT_THAT(send, HasSubstr(as_text(column)));
  for (const char* line : {"only computes, a", "message every", "0.7 ms", "every 0.7 ms", "every 120 us"})
    EXPECT_THAT(send, HasSubstr(as_text(line)));
}

TEST(Ambench, AllReduceMeasuresEverySize) {
  const nlohmann::json rows = Measured({"all-reduce", "--compare", "--reps", "1"}).json["rows"];
  ASSERT_EQ(rows.size(), 5u);
  for (const auto& row : rows) {
    EXPECT_TRUE(row["all_reduce_us"].is_object()) << row;
    expect_figures(row);
  }
}

TEST(Ambench, ScaleMeasuresJobsAndDrawsThem) {
  const Measured measured({"scale", "-n", "5", "--transport", "tcp", "--reps", "2"}, draws);
  ASSERT_EQ(measured.json["rows"].size(), 1u);
  const nlohmann::json& row = measured.json["rows"][0];
  EXPECT_EQ(row["nodes"], 5);
  for (const char* figure : {"start_ms", "barrier_us", "memory_kib"}) EXPECT_GT(row[figure]["min"], 0) << row;
  EXPECT_TRUE(row.contains("peer_memory_kib"));
  measured.expect_drawn("scale_", {"start", "barrier", "memory"});
}

TEST(Ambench, NetworkMeasuresEveryCombinationAndDrawsIt) {
  const Measured measured(
      {"network", "k=3,4", "topology=torus", "num_vcs=2,4", "traffic=uniform,hotspot", "vc_buf_size=3",
       "packet_size=2", "injection_rate=0.05,0.1,0.101,2", "sample_period=300", "--reps", "2"},
      draws);
  ASSERT_EQ(measured.json["rows"].size(), 8u);
  for (const auto& row : measured.json["rows"]) {
    EXPECT_EQ(row["vc_buf_size"], 3);
    EXPECT_GT(row["latency_0.05_cycles"]["min"], 7) << row;
    EXPECT_TRUE(row["latency_0.10_cycles"].is_object() && row["latency_0.101_cycles"].is_object()) << row;
    EXPECT_EQ(row["saturated"], "saturated") << "two flits a cycle";
    EXPECT_GT(row["steps_million_per_s"]["min"], 0);
    if (row["traffic"] != "uniform") continue;
    EXPECT_GT(row["latency_0.05_cycles"]["median"], row["zero_load_cycles"]["median"]);
  }
  measured.expect_drawn("network_torus_", {"3x3_uniform", "4x4_hotspot"});
}

TEST(Ambench, NetworkTellsMoreOfAPointWhereItIsAsked) {
  const std::vector<std::string> asked{"network",
                                       "k=2",
                                       "n=1",
                                       "topology=mesh",
                                       "num_vcs=1",
                                       "traffic=uniform",
                                       "injection_rate=0.2,0.3",
                                       "sample_period=200",
                                       "details=yes",
                                       "links=yes",
                                       "saturation=0.1",
                                       "--reps",
                                       "2"};
  nlohmann::json rows[2];
  for (const std::string threads : {"1", "2"}) {
    std::vector<std::string> words = asked;
    words.push_back("threads=" + threads);
    nlohmann::json& row = rows[threads == "2"] = Measured(words).json["rows"][0];
    EXPECT_LE(row["latency_0.20_p50_cycles"]["max"], row["latency_0.20_longest_cycles"]["max"]) << row;
    EXPECT_GT(row["saturation_flits_per_cycle"]["min"], 0.3) << row;
    EXPECT_EQ(row["busiest_0.30_flits_per_cycle"]["max"].is_number(), true) << row;
    EXPECT_TRUE(row.contains("link_node_1_0.30_flits_per_cycle")) << row;
    EXPECT_TRUE(row.contains("link_router_0_port_1_0.30_flits_per_cycle")) << row;
    row.erase("steps_million_per_s");
  }
  EXPECT_EQ(rows[0], rows[1]) << "whichever threads compute it";
}

TEST(Ambench, NetworkTellsNoLatencyOfNoPackets) {
  const Measured measured({"network", "k=4", "num_vcs=1", "injection_rate=1e-9,0.1", "traffic=uniform",
                           "sample_period=100", "--reps", "2"});
  ASSERT_EQ(measured.json["rows"].size(), 2u);
  for (const auto& row : measured.json["rows"]) {
    EXPECT_EQ(row["latency_1e-09_cycles"], "no packets") << row;
    EXPECT_GT(row["latency_0.10_cycles"]["min"], 7) << row;
  }
  EXPECT_THAT(measured.out, HasSubstr("num_vcs=1 is measured with 2"));
}

// What a packet takes without load is the sum of the parts: 2 + 5 (channels + 1) + flits - 1.
TEST(Ambench, NetworkMeasuresHypercubesFatTreesAndGridsOfAnyDimensions) {
  const Measured measured(
      {"network", "topology=hypercube,fattree,mesh", "k=2", "n=4", "num_vcs=1", "traffic=uniform,transpose",
       "packet_size=1", "injection_rate=0.02", "max_samples=2", "--reps", "2"},
      draws);
  ASSERT_EQ(measured.json["rows"].size(), 6u);
  for (const auto& row : measured.json["rows"]) {
    EXPECT_EQ(row["k"], 2);
    EXPECT_EQ(row["n"], 4);
    EXPECT_FALSE(row.contains("saturated")) << row;
    if (row["traffic"] != "uniform") continue;
    // Two of the four dimensions. In the tree half of all pairs meet three levels above their routers, a quarter two.
    const double channels = row["topology"] == "fattree" ? 2 * (3 / 2.0 + 2 / 4.0 + 1 / 8.0) : 4 / 2.0;
    EXPECT_DOUBLE_EQ(row["zero_load_cycles"]["median"], 2 + 5 * (channels + 1)) << row;
    EXPECT_NEAR(row["latency_0.02_cycles"]["median"], 2 + 5 * (channels + 1), 2) << row;
  }
  measured.expect_drawn("network_",
                        {"hypercube_2_4_uniform", "fattree_2_4_transpose", "mesh_2x2x2x2_uniform"});
}

// Cycles that are counted: the same in every run, and beside each the paper's figure, or none.
TEST(Ambench, T1CountsCyclesBesideTheReports) {
  const Measured measured({"t1", "rows=3", "columns=5"});
  EXPECT_THAT(measured.out, ContainsRegex(" paper +here +ratio\n"));
  EXPECT_THAT(measured.out, ContainsRegex("SEND of 37 words \\(3.10\\) +~5 +5 +1.00x  cycles\n"));
  EXPECT_THAT(measured.out, ContainsRegex("HRET +- +1 +-  cycles\n"));
  const Measured again({"t1", "rows=3", "columns=5"});
  EXPECT_EQ(again.out, measured.out);
  EXPECT_EQ(again.json, measured.json);

  EXPECT_EQ(measured.json["simulated"], true);
  EXPECT_TRUE(measured.json["warnings"].empty()) << "whatever machine or build this is";
  auto rows = measured.rows_by("what");
  ASSERT_EQ(rows.size(), measured.json["rows"].size());
  EXPECT_EQ(rows["message"]["critical_section_cycles"],
            nlohmann::json::parse(R"({"paper": 3, "here": 3, "ratio": 1})"));
  EXPECT_EQ(rows["message"]["hret_cycles"],
            nlohmann::json::parse(R"({"paper": null, "here": 1, "ratio": null})"));
  EXPECT_EQ(rows["message"]["overhead_37_cycles"]["paper"], "<10");
  for (const int hops : {1, 2, 3, 4}) {  // two round the ring, two up
    const std::string name = "hops_" + std::to_string(hops) + "_words_37_cycles";
    EXPECT_EQ(rows["round_trip"][name]["ratio"], 1) << rows["round_trip"];
    EXPECT_GE(rows["flood"][name]["here"], 10) << "ten flits";
  }
  EXPECT_FALSE(rows["round_trip"].contains("hops_5_words_37_cycles"));
  EXPECT_EQ(rows["row"]["nodes_2_words_5_cycles"]["ratio"], 1) << "as long as a message to the end";
  EXPECT_EQ(rows["row_flits"]["round_words_5_flits"]["here"], 5 * 2);
  EXPECT_LT(rows["patch"]["patch_3x5_words_37_cycles"]["ratio"], 1);
}

TEST(Ambench, T1MeasuresEveryShapeAndDrawsIt) {
  const Measured measured({"t1", "rows=1,2", "columns=4", "wraps=yes,no", "--markdown"}, draws);
  EXPECT_THAT(measured.out, HasSubstr("| 1 | 34 cycles | 50 cycles |"));
  std::map<std::string, int> shapes;
  for (const auto& row : measured.json["rows"]) {
    if (row["what"] != "round_trip") continue;
    const int most = static_cast<int>(row["rows"]) - 1 + (row["wraps"] == "yes" ? 2 : 3);
    EXPECT_TRUE(row.contains("hops_" + std::to_string(most) + "_words_5_cycles")) << row;
    EXPECT_FALSE(row.contains("hops_" + std::to_string(most + 1) + "_words_5_cycles")) << row;
    ++shapes[row["rows"].dump() + std::string(row["wraps"])];
  }
  EXPECT_EQ(shapes, (std::map<std::string, int>{{"1yes", 1}, {"1no", 1}, {"2yes", 1}, {"2no", 1}}));
  measured.expect_drawn("t1_", {"round_trip_1x4", "flood_2x4_open", "flood_flits_2x4", "multicast_row_2x4",
                                "multicast_patch_2x4_open"});
}

// Whether the figures are in their bands: tests/unit/emulated_hw/mmachine/costs.
TEST(Ambench, PapersStandBesideTheSimulation) {
  const Measured measured({"papers", "section=mmachine_costs"}, draws);
  EXPECT_THAT(measured.out, ContainsRegex("latency, PING +paper +here +ratio\n  MM +38 +[0-9]+ "));
  EXPECT_EQ(Measured({"papers", "section=mmachine_costs"}).out, measured.out);

  std::map<std::string, nlohmann::json> latencies;  // by program
  for (const auto& row : measured.json["rows"]) {
    if (row["what"] == "latency") latencies[row["program"]] = row;
  }
  ASSERT_EQ(latencies.size(), 4u);
  EXPECT_EQ(latencies["ping"]["mm_cycles"]["paper"], 38);
  EXPECT_THAT(std::string(latencies["ping"]["mm_cycles"]["remark"]), HasSubstr("calibrated"));
  EXPECT_THAT(std::string(latencies["rpc"]["swx_irs_ers_cycles"]["remark"]), HasSubstr("predicted"));
  EXPECT_FALSE(latencies["blkw"].contains("swx_irs_ers_cycles")) << "not in the paper";
  measured.expect_drawn("mmachine_", {"6_2", "6_6", "6_7", "6_9", "6_11", "6_12"});
}

// What is in it: tests/unit/emulated_hw, and trace_page_test.cpp.
TEST(Ambench, NetworkAndT1ShowARunCycleByCycle) {
  const Folder folder;
  const auto trace = [&](std::vector<std::string> command) {
    const std::string file = folder.in(command[1] + ".json");
    command.insert(command.end(), {"--trace", file});
    const Outcome outcome = process_test::run(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(text_of(file));
    std::map<std::string, int> phases;
    for (const auto& event : json["traceEvents"]) ++phases[event["ph"]];
    EXPECT_EQ(phases["s"], phases["f"]);
    EXPECT_GT(phases["f"], 20);
    EXPECT_EQ(json["otherData"].contains("missing"),
              outcome.out.find("the trace is full") != std::string::npos);
    return json["otherData"];
  };
  EXPECT_EQ(trace({ambench, "t1", "rows=3", "columns=2", "wraps=no"})["title"],
            "T1s on 3 x 2, no row wraps: one step of a computation on a grid");
  const auto of_torus = [&](const std::string& period) {
    return trace({ambench, "network", period, "k=4", "topology=torus", "traffic=uniform", "num_vcs=2",
                  "injection_rate=0.4", "max_samples=1", "--reps", "1"});
  };
  const auto small = of_torus("sample_period=200");
  EXPECT_EQ(small["title"],
            "torus of 4 x 4, uniform, 2 virtual channels of 6 flits, packets of 4, injection_rate 0.40");
  EXPECT_GE(small["cycles"], 200);
  EXPECT_TRUE(of_torus("sample_period=30000").contains("missing"));
  for (const char* topology : {"hypercube", "fattree"}) {
    const auto other =
        trace({ambench, "network", std::string("topology=") + topology, "k=2", "n=3", "traffic=uniform",
               "num_vcs=1", "injection_rate=0.4", "max_samples=1", "--reps", "1"});
    EXPECT_EQ(other["title"], std::string(topology) +
                                  " of 2^3 nodes, uniform, 1 virtual channel of 6 flits, packets of 4, "
                                  "injection_rate 0.40");
  }
}

// Its figures: tests/unit/models/logp/life_test.cpp.
TEST(Ambench, PapersHaveTheLogModelAndDrawIt) {
  const Measured measured({"papers", "section=log"}, draws);
  auto rows = measured.rows_by("figure");
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows["7-14"]["k_o_5_percent"]["paper"], 34);
  EXPECT_NEAR(rows["7-14"]["k_o_5_percent"]["ratio"], 1, 0.05);
  EXPECT_EQ(rows["7-14"]["k_o_0_percent"]["remark"], "calibrated");
  EXPECT_THAT(std::string(rows["7-16"]["cells_256_cycles"]["remark"]), HasSubstr("outside its band: "));
  measured.expect_drawn("papers_figure_", {"7_14", "7_15", "7_16", "7_17"});
}

// On simulated nodes; what they are beside the thesis's: tests/unit/emulated_hw/mmachine.
std::map<std::string, nlohmann::json> rows_of_papers(const std::string& section, const char* key) {
  const Measured measured({"papers", "section=" + section});
  EXPECT_THAT(measured.out, testing::Not(HasSubstr("WRONG")));
  return measured.rows_by(key);
}

TEST(Ambench, PapersHaveTheMMachinesLatencies) {
  auto latencies = rows_of_papers("mmachine", "what");
  EXPECT_EQ(latencies["neighbour"]["round_trip_cycles"]["ratio"], 1);
  EXPECT_EQ(latencies["distance"]["links_62_cycles"]["here"], 72);
}

// It computes for long.
TEST(Ambench_night, PapersHaveTheMMachinesLife) {
  auto life = rows_of_papers("life", "figure");
  EXPECT_EQ(life.size(), 3u);
  EXPECT_GT(life["speedup"]["nodes_64_ratio"]["here"], 12);
}

TEST(Ambench, DispatchOnOneProcessorSaysThatItTakesTwo) {
  expect_end(process_test::run({ambench, "dispatch", "--reps", "1"}, {.in_child = process_test::stay_on_one}),
             1, HasSubstr("dispatch takes two cores"));
}

TEST(Ambench, WarningsAreInTheJsonToo) {
  const Measured measured({"memory", "-n", "2", "--reps", "1"}, no_plots, process_test::stay_on_one);
  EXPECT_THAT(measured.out, HasSubstr("WARNING: oversubscribed: 2 nodes on 1 cores"));
  EXPECT_THAT(measured.json["warnings"].dump(), HasSubstr("oversubscribed: 2 nodes"));
}

// Beside libam stands a pair of processes on the same provider; none of them is judged.
TEST(Ambench, MeasuresOverLibfabricBesideLibfabricAlone) {
  const Folder folder;
  const std::string json = folder.in("flood.json");
  const Outcome outcome =
      process_test::run({ambench, "flood", "--transport", "ofi:tcp;ofi_rxm", "--reps", "1", "--json", json});
  if (outcome.err.find("libfabric") != std::string::npos) GTEST_SKIP() << outcome.err;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json report = nlohmann::json::parse(text_of(json));
  EXPECT_EQ(report["transport"], "ofi:tcp;ofi_rxm");
  const nlohmann::json& row = report["rows"][0];
  EXPECT_GT(row["rate_million_per_s"]["median"], 0);
  if (usable_cpus() < 2) return;
  EXPECT_GT(row["limit_rate_million_per_s"]["median"], 0);
  EXPECT_THAT(outcome.out, HasSubstr("one fi_inject per message"));
}

TEST(Ambench, NamesAProviderThatIsNotThere) {
  expect_end(process_test::run({ambench, "pingpong", "--transport", "ofi:quux", "--reps", "1"}), 1,
             HasSubstr("libfabric"));
}

TEST(Ambench, WrongUseIsNamedAsTyped) {
  const auto complaint = [](const std::vector<std::string>& arguments) {
    std::vector<std::string> command{ambench};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Outcome outcome = process_test::run(command);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    return outcome.err;
  };
  const auto names = [&](const std::vector<std::string>& arguments, const std::string& what) {
    EXPECT_THAT(complaint(arguments), HasSubstr(what));
  };
  names({"dispatch", "--plots", ""}, "--plots takes a name");
  names({"dispatch", "--json="}, "--json takes a name");
  names({"dispatch", "--markdown=yes"}, "'--markdown=yes': --markdown takes no value");
  names({"--mark=yes", "dispatch"}, "'--mark=yes': --mark takes no value");
  names({"--help=me"}, "--help takes no value");
  names({"papers", "section=no"}, "papers has no section 'no': mmachine, mmachine_costs, log, life");
  names({"flood", "--trace", "a.html"}, "flood simulates nothing: no --trace");
  names({"t1", "--trace", "a.txt"},
        "--trace takes a name that ends in .html, for a page, .json, for Perfetto, or .svg, for a "
        "still; not 'a.txt'");
  names({"t1", "--trace", "/nowhere/a.html"}, "cannot write");
  names({"t1", "wraps=yes,no", "--trace", "a.html"},
        "--trace shows one machine: one value each of rows, columns and wraps");
  names({"network", "k=4", "--trace", "a.html"}, "--trace shows one network: one value each of ");
  for (const std::string name : {"", "ofi:", "tcp:1", "ofi:net,tcp", "t1:", "mmachine:", "udp"})
    names({"flood", "--transport", name},
          "--transport takes shm, tcp, t1, mmachine or ofi:PROVIDER, not '" + name + "'");
  names({"dispatch", "--fast"}, "unknown option '--fast'");
  names({"dispatch", "-m"}, "unknown option '-m'");
  names({"dispatch", "--reps"}, "--reps needs a value");
  names({"dispatch", "k=4"}, "'k=4' is left over");
  names({"network", "4"}, "'4' is left over");
  names({"network", "size=4"}, "network has no parameter 'size'; there are k, ");
  names({"network", "k=4", "k=8"}, "k is there twice");
  names({"network", "k=4,x"}, "k takes numbers that are no less than 0, not 'x'");
  names({"network", "traffic=none"}, "traffic is uniform, transpose, ");
  names({"network", "k=300"}, "a grid has no nodes, or too many");
  for (const auto& [arguments, text] : std::map<std::vector<std::string>, std::string>{
           {{"topology=ring"}, "topology is mesh, torus, hypercube or fattree, not 'ring'"},
           {{"saturation=0"}, "saturation takes what it is to be known to, more than 0 and less than 1"},
           {{"threads=0"}, "threads has to be from 1 to 1024"},
           {{"details=no,yes"}, "details takes one value"},
           {{"num_vcs=0", "topology=mesh"}, "num_vcs has to be from 1 to 32 in this network"},
           {{"num_vcs=0", "topology=torus"}, "num_vcs has to be from 1 to 32 in this network"},
           {{"latency_thres=0"}, "latency_thres has to be more than 0"},
           {{"latency_thres=nan"}, "latency_thres has to be more than 0"},
           {{"num_vcs=33"}, "num_vcs has to be from 1 to 32 in this network"},
           {{"topology=hypercube", "n=16", "num_vcs=16"}, "num_vcs has to be from 1 to 15 in this network"},
           {{"n=0"}, "n has to be at least 1"},
           {{"n=11", "k=2"}, "a grid has too many dimensions"},
           {{"topology=hypercube", "n=17"}, "a hypercube has at most 16 dimensions"},
           {{"topology=hypercube", "k=8"}, "a hypercube takes no k: it has 2^n nodes"},
           {{"topology=fattree", "k=1"}, "a fat tree has k of at least 2"},
           {{"topology=fattree", "k=2", "n=17"}, "a fat tree has 1 to 16 levels"},
           {{"topology=fattree", "k=8", "n=6"}, "a fat tree has no nodes, or more than 65536"},
           {{"topology=fattree", "k=2", "n=14"}, "a fat tree has no routers, or more than 65536"},
           {{"topology=fattree", "k=13"}, "a router would have 26 ports: it can have up to 24"},
           {{"topology=fattree", "k=17"}, "a router of a fat tree has more than 32 ports"},
           {{"topology=fattree", "traffic=neighbor"},
            "neighbor is for meshes and tori: elsewhere nobody is one further"},
           {{"topology=hypercube", "n=5", "traffic=transpose"},
            "transpose is for a square number of nodes, not for 32"},
           {{"topology=fattree", "k=4", "traffic=uniform", "num_vcs=1", "--trace", "a.html"},
            "a page shows a grid of one or two dimensions only"},
           {{"k=2", "n=3", "topology=mesh", "traffic=uniform", "num_vcs=1", "--trace", "a.svg"},
            "a picture shows a grid of one or two dimensions, not of 3"}}) {
    std::vector<std::string> command{"network", "injection_rate=0.1"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(complaint(command), "ambench: " + text + "\n");
  }
  for (const auto& [argument, text] : std::map<std::string, std::string>{
           {"size=4", "t1 has no parameter 'size'; there are rows, columns, wraps, buffers, patience"},
           {"rows=0", "t1: a mesh of 0 rows and 8 columns: it has 1 to 1024 nodes"},
           {"rows=129", "t1: a mesh of 129 rows and 8 columns: it has 1 to 1024 nodes"},
           {"columns=", "columns takes numbers that are no less than 0, not ''"},
           {"wraps=maybe", "wraps is yes or no, not 'maybe'"},
           {"buffers=0", "t1: buffers of 0 messages: 1 to 255"},
           {"buffers=1,2", "buffers takes one value"},
           {"patience=256", "t1: a patience of 256: at most 255"},
           {"--reps=3", "t1 gives the same figures each time: no --reps"}})
    EXPECT_EQ(complaint({"t1", argument}), "ambench: " + text + "\n");
  EXPECT_EQ(complaint({"t1", "rows=1", "columns=1"}),
            "ambench: t1 takes a mesh of 2 nodes at least: rows=1 columns=1 has no network\n");
  for (const std::vector<std::string>& rest :
       {std::vector<std::string>{"poll", "a", "b"}, {"poll", "0", "1x"}, {"pole", "0", "1"}, {"poll"}}) {
    std::vector<std::string> child{"--child", "dispatch"};
    child.insert(child.end(), rest.begin(), rest.end());
    names(child, "run it as ambench dispatch");
  }
}

TEST(Ambench, PlotsWithoutGnuplotNameThePackage) {
  const Folder folder;
  expect_end(process_test::run({ambench, "dispatch", "--plots", folder.in("plots")}, {{"PATH=/nowhere"}}), 2,
             HasSubstr("apt-get install gnuplot-nox"));
}

int files_in(const Folder& folder) {
  const std::filesystem::directory_iterator files(folder.in(""));
  return static_cast<int>(std::distance(begin(files), end(files)));
}

TEST(Ambench, FailuresLeaveTheJsonOfBefore) {
  const Folder folder;
  const std::string json = folder.in("figures.json");
  std::ofstream(json) << "of before";
  const auto fails = [&](const std::vector<std::string>& command, const std::string& environment) {
    const Outcome outcome = process_test::run(command, {{environment}});
    EXPECT_NE(outcome.exit_code, 0) << command[1];
    EXPECT_EQ(text_of(json), "of before") << command[1];
  };
  fails({ambench, "dispatch", "--json", json, "--plots", folder.in("plots")}, "PATH=/nowhere");
  fails({ambench, "pingpong", "--json", json, "--reps", "1"}, "AM_TIMEOUT=soon");
  fails({ambench, "--json", json, "pingpong", "--reps", "0"}, "AM_X=");
  EXPECT_EQ(files_in(folder), 1);
}

TEST(Ambench, JsonIsThereWhenAPlotFails) {
  const Folder folder;
  const std::string gnuplot = folder.in("gnuplot");
  std::ofstream(gnuplot) << "#!/bin/sh\nexit 3\n";
  std::filesystem::permissions(gnuplot, std::filesystem::perms::owner_all);
  expect_end(process_test::run({ambench, "papers", "section=log", "--json", folder.in("a.json"), "--plots",
                                folder.in("plots")},
                               {{"PATH=" + folder.in("") + ":/usr/bin:/bin"}}),
             1, HasSubstr("gnuplot could not draw"));
  EXPECT_EQ(nlohmann::json::parse(text_of(folder.in("a.json")))["measure"], "papers");
  EXPECT_EQ(files_in(folder), 3);  // gnuplot, a.json, plots
}

TEST(Ambench, JsonThatCannotBeWrittenIsSaidAtOnce) {
  const Folder folder;
  for (const std::string& json : {folder.in("none/a.json"), folder.in("")}) {
    expect_end(process_test::run({ambench, "pingpong", "--json", json}), 2, HasSubstr("cannot write"));
  }
}

}  // namespace ambench_test
