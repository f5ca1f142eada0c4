// ambench as people run it: that a measure ends, prints its tables and writes its files. No figure is judged.

#include "process/measured.hpp"
#include "process/surroundings.hpp"

namespace process_test::ambench_test {

using namespace testing;

const std::string ambench = AM_BIN_DIR "/ambench";

int usable_cpus() {
  const cpu_set_t own = own_processors();
  return CPU_COUNT(&own);
}

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
  const nlohmann::json json = Measured({ambench, "cmam", "--reps", "1"}).json;
  EXPECT_EQ(json["measure"], "cmam");
  ASSERT_EQ(json["rows"].size(), 3);
  for (const auto& row : json["rows"]) expect_figures(row);
}

// With and without the memory of the other node at hand: over a network there is no plain access to compare with.
TEST(Ambench, SplitCIsMeasuredBesidePlainAccesses) {
  if (usable_cpus() < 2) GTEST_SKIP() << "takes two processors";
  for (const std::string network : {"shm", "tcp"}) {
    const nlohmann::json json = Measured({ambench, "splitc", "--reps", "1", "--transport", network}).json;
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
    const nlohmann::json json = Measured({ambench, "logp", "--reps", "1", "--transport", network}).json;
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
  const nlohmann::json json = Measured({ambench, "multicast", "--reps", "1", "-n", "3"}).json;
  EXPECT_EQ(json["measure"], "multicast");
  EXPECT_EQ(json["nodes"], 3);
  ASSERT_EQ(json["rows"].size(), 2);
  for (const auto& row : json["rows"]) expect_figures(row);
  EXPECT_TRUE(json["rows"][0].contains("multicast_us"));
  EXPECT_TRUE(json["rows"][1].contains("messages_us"));
}

TEST(Ambench, DispatchMeasuresEveryModeAndDrawsIt) {
  if (usable_cpus() < 2) GTEST_SKIP() << "takes two processors";
  const Measured measured({ambench, "dispatch", "--reps", "1"}, draws);
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
  const nlohmann::json rows = Measured({ambench, "all-reduce", "--compare", "--reps", "1"}).json["rows"];
  ASSERT_EQ(rows.size(), 5u);
  for (const auto& row : rows) {
    EXPECT_TRUE(row["all_reduce_us"].is_object()) << row;
    expect_figures(row);
  }
}

TEST(Ambench, ScaleMeasuresJobsAndDrawsThem) {
  const Measured measured({ambench, "scale", "-n", "5", "--transport", "tcp", "--reps", "2"}, draws);
  ASSERT_EQ(measured.json["rows"].size(), 1u);
  const nlohmann::json& row = measured.json["rows"][0];
  EXPECT_EQ(row["nodes"], 5);
  for (const char* figure : {"start_ms", "barrier_us", "memory_kib"}) EXPECT_GT(row[figure]["min"], 0) << row;
  EXPECT_TRUE(row.contains("peer_memory_kib"));
  measured.expect_drawn("scale_", {"start", "barrier", "memory"});
}

TEST(Ambench, DispatchOnOneProcessorSaysThatItTakesTwo) {
  expect_end(run({ambench, "dispatch", "--reps", "1"}, {.in_child = stay_on_one}), 1,
             HasSubstr("dispatch takes two cores"));
}

TEST(Ambench, WarningsAreInTheJsonToo) {
  const Measured measured({ambench, "memory", "-n", "2", "--reps", "1"}, no_plots, stay_on_one);
  EXPECT_THAT(measured.out, HasSubstr("WARNING: oversubscribed: 2 nodes on 1 cores"));
  EXPECT_THAT(measured.json["warnings"].dump(), HasSubstr("oversubscribed: 2 nodes"));
}

// Beside libam stands a pair of processes on the same provider; none of them is judged.
TEST(Ambench, MeasuresOverLibfabricBesideLibfabricAlone) {
  const TemporaryFolder folder;
  const std::string json = folder.in("flood.json");
  const Outcome outcome =
      run({ambench, "flood", "--transport", "ofi:tcp;ofi_rxm", "--reps", "1", "--json", json});
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
  expect_end(run({ambench, "pingpong", "--transport", "ofi:quux", "--reps", "1"}), 1, HasSubstr("libfabric"));
}

TEST(Ambench, WrongUseIsNamedAsTyped) { expect_wrong_uses("ambench"); }

TEST(Ambench, FailuresLeaveTheJsonOfBefore) {
  const TemporaryFolder folder;
  const std::string json = folder.in("figures.json");
  std::ofstream(json) << "of before";
  const auto fails = [&](int code, const std::string& says, const std::vector<std::string>& words,
                         const std::string& environment) {
    std::vector<std::string> command{ambench, "--json", json};
    command.insert(command.end(), words.begin(), words.end());
    expect_end(run(command, {{environment}}), code, HasSubstr(says));
    EXPECT_EQ(text_of(json), "of before") << says;
  };
  fails(2, "apt-get install gnuplot-nox", {"dispatch", "--plots", folder.in("plots")}, "PATH=/nowhere");
  fails(1, "AM_TIMEOUT", {"pingpong", "--reps", "1"}, "AM_TIMEOUT=soon");
  fails(2, "--reps takes", {"pingpong", "--reps", "0"}, "AM_X=");
  EXPECT_EQ(files_in(folder), 1);
}

}  // namespace process_test::ambench_test
