// The simulation against Table 6.4: each latency in its band, the models in their order, the split of the gain.
#include "amsim/papers/chapter_6/table_6_4.hpp"

#include <gtest/gtest.h>

#include <map>

#include "amsim/papers/chapter_6/benchmark_programs.hpp"
#include "amsim/papers/chapter_6/parameters.hpp"

namespace amsim::chapter_6::amsim_table_6_4_test {

double latency(std::size_t model, std::size_t program) {
  return static_cast<double>(benchmark_programs[program].run(table_6_4[model].model(), 0).latency);
}

/// Calls f(model, program, latency) for each entry that is printed.
template <class F>
void for_each_printed(F f) {
  for (std::size_t program = 0; program < benchmark_programs.size(); ++program) {
    for (std::size_t model = 0; model < table_6_4.size(); ++model) {
      const double printed = table_6_4[model].latency[program];
      if (printed != PrintedRow::none) f(model, program, printed);
    }
  }
}

TEST(Table64, EachLatencyIsInItsBandAndTheModelsKeepTheirOrder) {
  std::map<std::size_t, std::vector<double>> printed, here;  // by program
  for_each_printed([&](std::size_t model, std::size_t program, double entry) {
    const double simulated = latency(model, program);
    EXPECT_TRUE(in_band(model, entry, simulated))
        << table_6_4[model].name << ' ' << benchmark_programs[program].name << ": " << entry << ", here "
        << simulated;
    printed[program].push_back(entry);
    here[program].push_back(simulated);
  });
  for (const auto& [program, entries] : printed)
    EXPECT_GE(rank_correlation(entries, here[program]), 0.9) << benchmark_programs[program].name;
}

/// The row MM is measured on the machine. The model, which has the other rows, takes the same for this one, so they differ by interfaces alone.
TEST(Table64, TheModelOfTheMachineTakesWhatTheMachineDoes) {
  const auto measured = run_on_machine();
  for (std::size_t program = 0; program < benchmark_programs.size(); ++program) {
    SCOPED_TRACE(benchmark_programs[program].name);
    const Measured model = benchmark_programs[program].run(model_named("MM"), 0);
    EXPECT_EQ(measured[program].latency, model.latency);
    EXPECT_EQ(measured[program].occupancy, model.occupancy);
  }
}

/// 6.6: dispatch about 60%, mapping and atomicity 30%, translation 10%.
TEST(Table64, TheGainSplitsAsInTheThesis) {
  const auto ping_of = [](std::string_view model) { return latency(model_index(model), 0); };
  const GainShares shares =
      gain_shares(ping_of("SWX_IMB_EMB_INT"), ping_of("SWX_IMB_EMB"), ping_of("SWX"), ping_of("MM"));
  EXPECT_NEAR(shares.dispatch, 0.6, 0.05);
  EXPECT_NEAR(shares.mapping_and_atomicity, 0.3, 0.05);
  EXPECT_NEAR(shares.translation, 0.1, 0.05);
}

/// "For INT, the thread swap overhead is nearly 18x the time it takes to actually service the PING request" (6.5.4).
TEST(Table64, AnInterruptTakesManyTimesWhatTheServiceDoes) {
  const DispatchParts parts = dispatch_parts(model_named("INT"));
  EXPECT_NEAR(static_cast<double>(parts.swap) / static_cast<double>(parts.service), 18, 18 * 0.2);
  EXPECT_EQ(dispatch_parts(model_named("MM")).swap, 0u);
}

/// Figure 6-6: the streaming interface's head leaves first, and copying is what the network registers' buffer costs beside MM.
TEST(Table64, AHeadLeavesEarliestInAStream) {
  const InjectionParts mm = injection_parts(model_named("MM"));
  const InjectionParts irs = injection_parts(model_named("IRS"));
  const InjectionParts irb = injection_parts(model_named("IRB"));
  EXPECT_LT(irs.head, mm.head);
  EXPECT_EQ(irb.head, mm.head + rpc_words);
  for (const InjectionParts& parts : {mm, irs, irb}) {
    EXPECT_LT(parts.head, parts.tail);
    EXPECT_LT(parts.tail, parts.started);
  }
}

/// 6.5.4: a missed poll costs 121 cycles, each time; INT_MAX and INT_MIN differ where messages follow each other.
TEST(Table64, WorstCasesOfDispatch) {
  const auto model = [](std::string_view name, bool comes_too_late) {
    InterfaceModel made = model_named(name);
    made.comes_too_late = comes_too_late;
    return made;
  };
  EXPECT_EQ(ping(model("POL", true)).latency, ping(model("POL", false)).latency + 2 * missed_poll_cycles);
  EXPECT_EQ(rpc(model("INT", true)).latency, rpc(model("INT", false)).latency);
  EXPECT_GT(blkw(model("INT", true)).latency, 4 * blkw(model("INT", false)).latency);
}

TEST(RankCorrelation, IsOneForTheSameOrderAndMinusOneForTheOpposite) {
  const std::vector<double> rising{1, 2, 4, 8};
  const std::vector<double> steeper{1, 20, 30, 1000};
  const std::vector<double> falling{4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(rank_correlation(rising, steeper), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(rising, falling), -1);
  const std::vector<double> swapped{2, 1, 3, 4};
  EXPECT_DOUBLE_EQ(rank_correlation(rising, swapped), 0.8) << "1 - 6 * 2 / (4 * 15)";
  const std::vector<double> equal{1, 2, 2, 3};
  EXPECT_DOUBLE_EQ(rank_correlation(equal, equal), 1);
  EXPECT_THROW((void)rank_correlation(rising, std::vector<double>{1}), std::invalid_argument);
}

TEST(Standing, FiveEntriesAreCalibratedAndNoOther) {
  std::map<Standing, unsigned> entries;
  for_each_printed(
      [&](std::size_t model, std::size_t program, double) { ++entries[standing(model, program)]; });
  EXPECT_EQ(entries[Standing::calibrated], 5u);
  EXPECT_EQ(entries[Standing::predicted], 24u);
}

}  // namespace amsim::chapter_6::amsim_table_6_4_test
