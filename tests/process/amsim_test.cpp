// amsim as people run it: that a simulation ends, prints its tables and writes its files. The figures: simulated_runs.csv.
#include "process/measured.hpp"

namespace process_test::amsim_test {

using namespace testing;

const std::string amsim = AM_BIN_DIR "/amsim";

TEST(Amsim, NetworkMeasuresEveryCombinationAndDrawsIt) {
  const Measured measured(
      {amsim, "network", "k=3,4", "topology=torus,fattree", "num_vcs=2,4", "traffic=uniform,hotspot",
       "vc_buf_size=3", "packet_size=2", "injection_rate=0.05,0.1,0.101,1", "sample_period=300",
       "latency_thres=30", "--reps", "2"},
      draws);
  ASSERT_EQ(measured.json["rows"].size(), 16u);
  for (const auto& row : measured.json["rows"]) {
    EXPECT_EQ(row["vc_buf_size"], 3);
    EXPECT_GT(row["latency_0.05_cycles"]["min"], 7) << row;
    EXPECT_TRUE(row["latency_0.10_cycles"].is_object() && row["latency_0.101_cycles"].is_object()) << row;
    EXPECT_EQ(row["saturated"], "saturated") << row;
    EXPECT_GT(row["steps_million_per_s"]["min"], 0);
    if (row["traffic"] != "uniform") continue;
    EXPECT_GT(row["latency_0.05_cycles"]["median"], row["zero_load_cycles"]["median"]);
  }
  measured.expect_drawn("network_", {"torus_3x3_uniform", "torus_4x4_hotspot", "fattree_4_2_uniform"});
}

// Cycles that are counted, and beside each the paper's figure, or none. The figures: simulated_runs.csv.
TEST(Amsim, T1CountsCyclesBesideTheReports) {
  const Measured measured({amsim, "t1", "rows=3", "columns=5"});
  EXPECT_THAT(measured.out, ContainsRegex(" paper +here +ratio\n"));
  EXPECT_THAT(measured.out, ContainsRegex("SEND of 37 words \\(3.10\\) +~5 +5 +1.00x  cycles\n"));
  EXPECT_THAT(measured.out, ContainsRegex("HRET +- +1 +-  cycles\n"));
  EXPECT_EQ(measured.json["simulated"], true);
  EXPECT_TRUE(measured.json["warnings"].empty()) << "whatever machine or build this is";
  const nlohmann::json& message = measured.json["rows"][0];
  EXPECT_EQ(message["critical_section_cycles"].dump(), R"({"here":3.0,"paper":3.0,"ratio":1.0})");
  EXPECT_EQ(message["hret_cycles"].dump(), R"({"here":1.0,"paper":null,"ratio":null})");
}

TEST(Amsim, T1MeasuresEveryShapeAndDrawsIt) {
  const Measured measured({amsim, "t1", "rows=1,2", "columns=4", "wraps=yes,no", "--markdown"}, draws);
  EXPECT_THAT(measured.out, HasSubstr("| 1 | 34 cycles | 50 cycles |"));
  measured.expect_drawn("t1_", {"round_trip_1x4", "flood_2x4_open", "flood_flits_2x4", "multicast_row_2x4",
                                "multicast_patch_2x4_open"});
}

TEST(Amsim, MMachineTakesTheSumOfItsParts) {
  const Measured measured({amsim, "mmachine", "width=4,1", "height=2"}, draws);
  ASSERT_EQ(measured.json["rows"].size(), 2u);
  for (const auto& row : measured.json["rows"]) {
    for (const auto& figure : row) EXPECT_TRUE(!figure.is_object() || figure["ratio"] == 1) << row;
  }
  EXPECT_TRUE(measured.json["rows"][0].contains("links_4_round_trip_cycles"));
  measured.expect_drawn("mmachine_", {"4x2", "1x2"});
}

// The figures: tests/unit/emulated_hw/mmachine/costs, tests/unit/models/logp/life_test.cpp.
/// C-4: its trace, too.
TEST(Amsim, Ncube2TakesTheSumOfItsParts) {
  const process_test::TemporaryFolder folder;
  const Measured measured({amsim, "ncube2", "dimensions=3", "--trace", folder.in("ping.json")}, draws);
  ASSERT_EQ(measured.json["rows"].size(), 1u);
  for (const auto& figure : measured.json["rows"][0])
    EXPECT_TRUE(!figure.is_object() || figure["ratio"] == 1) << figure;
  EXPECT_TRUE(measured.json["rows"][0].contains("hops_3_round_trip_cycles"));
  EXPECT_TRUE(nlohmann::json::parse(std::ifstream(folder.in("ping.json"))).contains("traceEvents"));
  measured.expect_drawn("ncube2_", {"8"});
}

/// C-4, and CM-4's hundred cycles; polls are late by less than one.
TEST(Amsim, Cm5StandsBesideThePaper) {
  const process_test::TemporaryFolder folder;
  const Measured measured({amsim, "cm5", "nodes=16", "--trace", folder.in("ping.json")}, draws);
  ASSERT_EQ(measured.json["rows"].size(), 2u);
  EXPECT_NEAR(measured.json["rows"][0]["both_cycles"]["ratio"].get<double>(), 1, 0.3);
  EXPECT_NEAR(measured.json["rows"][1]["levels_2_round_trip_cycles"]["ratio"].get<double>(), 1, 0.2);
  EXPECT_TRUE(nlohmann::json::parse(std::ifstream(folder.in("ping.json"))).contains("traceEvents"));
  measured.expect_drawn("cm5_", {"16"});
}

/// IW-41 to IW-49 and C-1: section 8's times, and their sums; IW-33, IW-35: the paper's programs, no faster than their busiest bus; C-4.
TEST(Amsim, IwarpTakesTheTimesOfThePaper) {
  const process_test::TemporaryFolder folder;
  const Measured measured({amsim, "iwarp", "columns=6,1", "rows=4"}, draws);
  const nlohmann::json& rows = measured.json["rows"];
  ASSERT_EQ(rows.size(), 4u);
  for (const std::size_t exact : {0, 1, 2}) {
    for (const auto& figure : rows[exact]) EXPECT_TRUE(!figure.is_object() || figure["ratio"] == 1) << figure;
  }
  EXPECT_EQ(rows[0]["example_there_ns"].dump(), R"({"here":1100.0,"paper":1100.0,"ratio":1.0})");
  EXPECT_EQ(rows[1]["busses_5_there_ns"]["here"], 250 + 3 * 200 + 250);
  EXPECT_FALSE(rows[2].contains("busses_3_there_ns")) << "two are half way round";
  for (const auto& figure : rows[3]) EXPECT_TRUE(!figure.is_object() || figure["ratio"] >= 1) << figure;
  EXPECT_EQ(rows[3]["portion_bytes"]["ratio"], 1);
  EXPECT_THAT(rows[3]["streams_18"].get<std::string>(), StartsWith("a circle: "));
  measured.expect_drawn("iwarp_", {"6x4", "1x4"});
  expect_end(run({amsim, "iwarp", "--trace", folder.in("pathway.json")}), 0, "");
  const std::string trace = text_of(folder.in("pathway.json"));
  EXPECT_THAT(trace, HasSubstr("traceEvents"));
}

/// CA-21: the sum of the parts; CA-22: fewer link words than unicasts; CA-13, CA-15: only random timeouts end the deadlock of Figure 4.
TEST(Amsim, CareTakesTheSumOfItsPartsAndEndsItsDeadlock) {
  const Measured measured({amsim, "care", "columns=6", "rows=4,1", "words=1,20", "targets=1,6"}, draws);
  const nlohmann::json& rows = measured.json["rows"];
  ASSERT_EQ(rows.size(), 2u * 2 * 2 + 1);
  for (const std::size_t unicasts : {0, 2, 4, 6}) {
    for (const auto& figure : rows[unicasts])
      EXPECT_TRUE(!figure.is_object() || figure["ratio"] == 1) << figure;
    EXPECT_EQ(rows[unicasts + 1]["targets_1_words"]["ratio"], 1);
    EXPECT_LT(rows[unicasts + 1]["targets_6_words"]["ratio"], 1);
  }
  EXPECT_EQ(rows[2]["hops_8_cut_cycles"]["here"], 8 + 20 + 6);
  EXPECT_EQ(rows[2]["hops_8_stored_cycles"]["here"], 8 * (20 + 7));
  const nlohmann::json& deadlock = rows.back();
  EXPECT_EQ(deadlock["off"], "a circle: packet 1 -> packet 2 -> packet 1");
  for (const char* limit : {"16", "64", "256"}) {
    EXPECT_THAT(deadlock[std::string("equal_") + limit].get<std::string>(),
                StartsWith("not delivered in 20000 "));
    EXPECT_LT(deadlock[std::string("random_") + limit + "_cycles"]["here"], 1000);
    EXPECT_GE(deadlock[std::string("random_") + limit + "_aborts"]["here"], 1);
  }
  measured.expect_drawn("care_", {"6x4_1", "6x4_20", "6x1_20"});
}

/// CA-22b: three ways of switching, in one picture.
TEST(Amsim, SwitchingStandsBesideCutThrough) {
  const Measured measured(
      {amsim, "switching", "columns=4", "rows=4,1", "hops=1,2", "words=2,40", "load=0.02,0.1,0.9"}, draws);
  const nlohmann::json& rows = measured.json["rows"];
  ASSERT_EQ(rows.size(), 2u * 2 * 2);
  for (const auto& row : rows) {
    const double ratio = row["stored_0.02_cycles"]["ratio"].get<double>();
    EXPECT_TRUE(row["hops"] == 1 ? ratio == 1 : ratio > 1.5) << row;
    EXPECT_GT(row["circuits_0.02_cycles"]["ratio"], 1) << row;
    EXPECT_EQ(row["circuits_0.90_cycles"], "saturated") << row;
  }
  measured.expect_drawn("switching_", {"4x4", "4x1"});
}

TEST(Amsim, PapersStandBesideTheSimulation) {
  const Measured measured({amsim, "papers", "section=mmachine_costs"}, draws);
  EXPECT_THAT(measured.out, ContainsRegex("latency, PING +paper +here +ratio\n  MM +38 +[0-9]+ "));
  measured.expect_drawn("mmachine_", {"6_2", "6_6", "6_7", "6_9", "6_11", "6_12"});
  Measured({amsim, "papers", "section=log"}, draws)
      .expect_drawn("papers_figure_", {"7_14", "7_15", "7_16", "7_17"});
}

// By am/sim.hpp alone, without a job.
TEST(Amsim, HasAnExampleOfItsLibrary) {
  const Outcome outcome = run({example("sim_latency")});
  expect_end(outcome, 0, "");
  EXPECT_THAT(outcome.out, HasSubstr("alone: 80 cycles: right"));
}

TEST(Amsim, SaysWhatItCannotPrint) {
  for (const std::string& what :
       {amsim + " --help", amsim + " mmachine", std::string(AM_BIN_DIR "/ambench --help"),
        std::string(AM_BIN_DIR "/aminfo")})
    expect_end(run({"sh", "-c", what + " >/dev/full"}), 1, HasSubstr("cannot write to standard output"));
}

TEST(Amsim, JsonIsThereWhenAPlotFails) {
  const TemporaryFolder folder;
  const std::string gnuplot = folder.in("gnuplot");
  std::ofstream(gnuplot) << "#!/bin/sh\nexit 3\n";
  std::filesystem::permissions(gnuplot, std::filesystem::perms::owner_all);
  expect_end(
      run({amsim, "papers", "section=log", "--json", folder.in("a.json"), "--plots", folder.in("plots")},
          {{"PATH=" + folder.in("") + ":/usr/bin:/bin"}}),
      1, HasSubstr("gnuplot could not draw"));
  EXPECT_EQ(nlohmann::json::parse(text_of(folder.in("a.json")))["measure"], "papers");
  EXPECT_EQ(files_in(folder), 3);  // gnuplot, a.json, plots
}

TEST(Amsim, WrongUseIsNamedAsTyped) { expect_wrong_uses("amsim"); }

}  // namespace process_test::amsim_test
