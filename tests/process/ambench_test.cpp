// ambench as people run it: that a measure ends, prints its tables and writes its files. No figure is judged.
#include <fnmatch.h>
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
#include <sstream>
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
  const Measured measured({"network", "k=3,4", "topology=torus,fattree", "num_vcs=2,4",
                           "traffic=uniform,hotspot", "vc_buf_size=3", "packet_size=2",
                           "injection_rate=0.05,0.1,0.101,2", "sample_period=300", "--reps", "2"},
                          draws);
  ASSERT_EQ(measured.json["rows"].size(), 16u);
  for (const auto& row : measured.json["rows"]) {
    EXPECT_EQ(row["vc_buf_size"], 3);
    EXPECT_GT(row["latency_0.05_cycles"]["min"], 7) << row;
    EXPECT_TRUE(row["latency_0.10_cycles"].is_object() && row["latency_0.101_cycles"].is_object()) << row;
    EXPECT_EQ(row["saturated"], "saturated") << "two flits a cycle";
    EXPECT_GT(row["steps_million_per_s"]["min"], 0);
    if (row["traffic"] != "uniform") continue;
    EXPECT_GT(row["latency_0.05_cycles"]["median"], row["zero_load_cycles"]["median"]);
  }
  measured.expect_drawn("network_", {"torus_3x3_uniform", "torus_4x4_hotspot", "fattree_4_2_uniform"});
}

// Cycles that are counted, and beside each the paper's figure, or none. The figures: simulated_runs.csv.
TEST(Ambench, T1CountsCyclesBesideTheReports) {
  const Measured measured({"t1", "rows=3", "columns=5"});
  EXPECT_THAT(measured.out, ContainsRegex(" paper +here +ratio\n"));
  EXPECT_THAT(measured.out, ContainsRegex("SEND of 37 words \\(3.10\\) +~5 +5 +1.00x  cycles\n"));
  EXPECT_THAT(measured.out, ContainsRegex("HRET +- +1 +-  cycles\n"));
  EXPECT_EQ(measured.json["simulated"], true);
  EXPECT_TRUE(measured.json["warnings"].empty()) << "whatever machine or build this is";
  auto rows = measured.rows_by("what");
  ASSERT_EQ(rows.size(), measured.json["rows"].size());
  EXPECT_EQ(rows["message"]["critical_section_cycles"],
            nlohmann::json::parse(R"({"paper": 3, "here": 3, "ratio": 1})"));
  EXPECT_EQ(rows["message"]["hret_cycles"],
            nlohmann::json::parse(R"({"paper": null, "here": 1, "ratio": null})"));
}

TEST(Ambench, T1MeasuresEveryShapeAndDrawsIt) {
  const Measured measured({"t1", "rows=1,2", "columns=4", "wraps=yes,no", "--markdown"}, draws);
  EXPECT_THAT(measured.out, HasSubstr("| 1 | 34 cycles | 50 cycles |"));
  measured.expect_drawn("t1_", {"round_trip_1x4", "flood_2x4_open", "flood_flits_2x4", "multicast_row_2x4",
                                "multicast_patch_2x4_open"});
}

// Whether the figures are in their bands: tests/unit/emulated_hw/mmachine/costs.
TEST(Ambench, PapersStandBesideTheSimulation) {
  const Measured measured({"papers", "section=mmachine_costs"}, draws);
  EXPECT_THAT(measured.out, ContainsRegex("latency, PING +paper +here +ratio\n  MM +38 +[0-9]+ "));
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
}

// Its figures: tests/unit/models/logp/life_test.cpp.
TEST(Ambench, PapersHaveTheLogModelAndDrawIt) {
  Measured({"papers", "section=log"}, draws).expect_drawn("papers_figure_", {"7_14", "7_15", "7_16", "7_17"});
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

/// `words => what it says`, line by line; '' is an empty word, and * stands for any text.
TEST(Ambench, WrongUseIsNamedAsTyped) {
  for (const std::string& line :
       process_test::lines_of(text_of(AM_TESTS_DIR "/process/ambench_wrong_use.txt"))) {
    const std::size_t arrow = line.find(" => ");
    std::istringstream words(line.substr(0, arrow));
    std::vector<std::string> command{ambench};
    for (std::string word; words >> word;) command.push_back(word == "''" ? "" : word);
    const Outcome outcome = process_test::run(command);
    EXPECT_EQ(outcome.exit_code, 2) << line;
    EXPECT_EQ(fnmatch(("ambench: " + line.substr(arrow + 4) + "\n").c_str(), outcome.err.c_str(), 0), 0)
        << line << "\n"
        << outcome.err;
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
