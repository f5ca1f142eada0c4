// Table 6.4 of the M-Machine thesis: what messages cost over 24 interfaces. Its figures are in mmachine_figures.cpp.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "amsim/papers/chapter_6/benchmark_programs.hpp"
#include "amsim/papers/chapter_6/table_6_4.hpp"
#include "amsim/papers/mmachine_figures.hpp"
#include "amsim/papers/sections.hpp"

namespace amsim {

namespace {

using namespace chapter_6;

using Table = MMachineTable;
constexpr std::size_t models = table_6_4.size();
constexpr std::size_t programs = benchmark_programs.size();

Table simulate() {
  Table table;
  for (std::size_t model = 0; model < models; ++model) {
    for (std::size_t program = 0; program < programs; ++program)
      table[model][program] = benchmark_programs[program].run(table_6_4[model].model(), 0);
  }
  table[model_index("MM")] = run_on_machine();
  return table;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

const char* text_of(Standing standing) {
  switch (standing) {
    case Standing::calibrated:
      return "calibrated";
    case Standing::in_view:
      return "in view";
    case Standing::predicted:
      break;
  }
  return "predicted";
}

// -- rows

Row row_of(const std::string& what, std::string_view program, const std::string& title) {
  Row row("Table 6.4, " + title + ", " + std::string(program));
  row.key("paper", "mmachine").key("what", what).key("program", lower_case(program)).references("paper");
  return row;
}

void add_latencies(const Table& table, std::size_t program, Report& report) {
  Row row = row_of("latency", benchmark_programs[program].name, "latency");
  for (std::size_t model = 0; model < models; ++model) {
    const double printed = table_6_4[model].latency[program];
    if (printed == PrintedRow::none) continue;
    const double here = static_cast<double>(table[model][program].latency);
    const std::string remark = std::string(text_of(standing(model, program))) +
                               (in_band(model, printed, here) ? "" : ", OUTSIDE its band");
    row.beside(lower_case(table_6_4[model].name) + "_cycles", std::string(table_6_4[model].name),
               {printed, ""}, here, remark);
  }
  report.rows.push_back(std::move(row));
}

void add_occupancies(const Table& table, std::size_t program, Report& report) {
  Row row = row_of("occupancy", benchmark_programs[program].name, "occupancy");
  for (std::size_t model = 0; model < models; ++model) {
    const double printed = table_6_4[model].occupancy[program];
    if (printed == PrintedRow::none) continue;
    row.beside(lower_case(table_6_4[model].name) + "_cycles", std::string(table_6_4[model].name),
               {printed, ""}, static_cast<double>(table[model][program].occupancy));
  }
  report.rows.push_back(std::move(row));
}

struct Columns {
  std::vector<double> printed;
  std::vector<double> here;
};
Columns latencies(const Table& table, std::size_t program) {
  Columns columns;
  for (std::size_t model = 0; model < models; ++model) {
    if (table_6_4[model].latency[program] == PrintedRow::none) continue;
    columns.printed.push_back(table_6_4[model].latency[program]);
    columns.here.push_back(static_cast<double>(table[model][program].latency));
  }
  return columns;
}

void add_order(const Table& table, Report& report) {
  Row row("Table 6.4, order of the models by latency (Spearman; 1 is the same order)");
  row.key("paper", "mmachine").key("what", "order").references("same");
  for (std::size_t program = 0; program < programs; ++program) {
    const Columns columns = latencies(table, program);
    row.beside(lower_case(benchmark_programs[program].name) + "_correlation",
               std::string(benchmark_programs[program].name), {1.0, ""},
               rank_correlation(columns.printed, columns.here));
  }
  report.rows.push_back(std::move(row));
}

void add_gain(const Table& table, Report& report) {
  constexpr std::size_t ping_column = 0;
  const auto latency = [&](std::string_view model) {
    return static_cast<double>(table[model_index(model)][ping_column].latency);
  };
  const GainShares shares =
      gain_shares(latency("SWX_IMB_EMB_INT"), latency("SWX_IMB_EMB"), latency("SWX"), latency("MM"));
  Row row("what PING gains from SWX_IMB_EMB_INT to MM, by mechanism (6.6)");
  row.key("paper", "mmachine").key("what", "gain").references("paper");
  row.beside("dispatch_percent", "dispatch", {60, "~60"}, 100 * shares.dispatch);
  row.beside("mapping_and_atomicity_percent", "mapping and atomicity", {30, "~30"},
             100 * shares.mapping_and_atomicity);
  row.beside("translation_percent", "translation", {10, "~10"}, 100 * shares.translation);
  report.rows.push_back(std::move(row));
}

void add_swap(Report& report) {
  const DispatchParts parts = dispatch_parts(model_named("INT"));
  Row row("an interrupt's swap of threads against the service of PING (6.5.4)");
  row.key("paper", "mmachine").key("what", "swap").references("paper");
  row.beside("swap_ratio", "swap, of service", {18, "nearly 18"},
             static_cast<double>(parts.swap) / static_cast<double>(parts.service));
  report.rows.push_back(std::move(row));
}

void add_mmachine_costs(Report& report) {
  const Table table = simulate();
  for (std::size_t program = 0; program < programs; ++program) add_latencies(table, program, report);
  for (std::size_t program = 0; program < programs; ++program) add_occupancies(table, program, report);
  add_order(table, report);
  add_gain(table, report);
  add_swap(report);
  add_mmachine_figures(table, report);
}

}  // namespace

const PaperSection mmachine_costs{
    .name = "mmachine_costs",
    .meaning = "Lee's thesis on the M-Machine, chapter 6: Table 6.4 and its figures",
    .add = add_mmachine_costs,
};

}  // namespace amsim
