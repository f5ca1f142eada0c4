// Table 6.4 of the M-Machine thesis, and its Figures 6-2 to 6-12: what messages cost over 24 interfaces.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/mmachine/costs/benchmark_programs.hpp"
#include "emulated_hw/mmachine/costs/comparison.hpp"
#include "emulated_hw/mmachine/costs/table_6_4.hpp"
#include "papers/sections.hpp"

namespace ambench {

namespace {

using namespace am::mmachine::costs;

constexpr std::size_t models = interface_models.size();
constexpr std::size_t programs = benchmark_programs.size();
using Table = std::array<std::array<Measured, programs>, models>;

Table simulate() {
  Table table;
  for (std::size_t model = 0; model < models; ++model) {
    for (std::size_t program = 0; program < programs; ++program)
      table[model][program] = benchmark_programs[program].run(interface_models[model], 0);
  }
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
    row.beside(lower_case(table_6_4[model].model) + "_cycles", std::string(table_6_4[model].model),
               {printed, ""}, here, remark);
  }
  report.rows.push_back(std::move(row));
}

void add_occupancies(const Table& table, std::size_t program, Report& report) {
  Row row = row_of("occupancy", benchmark_programs[program].name, "occupancy");
  for (std::size_t model = 0; model < models; ++model) {
    const double printed = table_6_4[model].occupancy[program];
    if (printed == PrintedRow::none) continue;
    row.beside(lower_case(table_6_4[model].model) + "_cycles", std::string(table_6_4[model].model),
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

// -- figures

Summary exactly(double value) { return {value, value, value}; }

struct Figure {
  const char* number;  // as in the thesis: 6_2
  const char* title;
  std::vector<std::string_view> models;
  std::size_t programs;  // the first so many
  bool occupancy = false;
};

std::vector<Figure> figures() {
  const std::vector<std::string_view> injection{"MM", "IRS", "IRB", "IMS", "IMB"};
  const std::vector<std::string_view> extraction{"MM", "ERS", "ERB", "EMS", "EMB"};
  return {
      {"6_2", "Figure 6-2: injection, latency", injection, 4},
      {"6_3", "Figure 6-3: extraction, latency", extraction, 4},
      {"6_4", "Figure 6-4: injection, occupancy", injection, 4, true},
      {"6_5", "Figure 6-5: extraction, occupancy", extraction, 4, true},
      {"6_10", "Figure 6-10: dispatch, latency in the best case", {"MM", "POL", "INT"}, 4},
      {"6_11",
       "Figure 6-11: memory-mapped interfaces, enhanced step by step",
       {"SWX_IMB_EMB_INT", "SWX_IMB_EMB_POL", "SWX_IMB_EMB", "SWX_IMB_EMS", "SWX_IMS_EMS", "SWX_IMS", "SWX",
        "MM"},
       3},
      {"6_12",
       "Figure 6-12: register-mapped interfaces, enhanced step by step",
       {"SWX_IRB_ERB_INT", "SWX_IRB_ERB_POL", "SWX_IRB_ERB", "SWX_IRB_ERS", "SWX_IRS_ERS", "SWX_IRS", "SWX",
        "MM"},
       3},
  };
}

Chart chart_of(const std::string& number, const std::string& title) {
  return {.name = "mmachine_" + number,
          .title = title,
          .unit = "cycles",
          .logarithmic = true,
          .exact = true,
          .columns = {},
          .rows = {}};
}

void add_figure(const Table& table, const Figure& figure, Report& report) {
  Chart chart = chart_of(figure.number, figure.title);
  for (std::size_t program = 0; program < figure.programs; ++program) {
    for (const char* whose : {", paper", ", here"})
      chart.columns.push_back(std::string(benchmark_programs[program].name) + whose);
  }
  for (const std::string_view name : figure.models) {
    const std::size_t model = model_index(name);
    Chart::Row& row = chart.rows.emplace_back(Chart::Row{std::string(name), {}});
    for (std::size_t program = 0; program < figure.programs; ++program) {
      const Measured& here = table[model][program];
      const PrintedRow& printed = table_6_4[model];
      row.cells.emplace_back(
          exactly(figure.occupancy ? printed.occupancy[program] : printed.latency[program]));
      row.cells.emplace_back(exactly(static_cast<double>(figure.occupancy ? here.occupancy : here.latency)));
    }
  }
  report.charts.push_back(std::move(chart));
}

// By the entry of the table in which a lookup finds its address.
void add_lookups(const Table& table, Report& report) {
  constexpr unsigned entries = 4;
  Chart latency = chart_of("6_7", "Figure 6-7: translation, latency");
  Chart occupancy = chart_of("6_8", "Figure 6-8: translation, occupancy");
  for (Chart* chart : {&latency, &occupancy}) {
    for (const BenchmarkProgram& program : benchmark_programs) chart->columns.emplace_back(program.name);
  }
  const auto add = [&](const std::string& label, const auto& measured) {
    Chart::Row latencies{label, {}};
    Chart::Row occupancies{label, {}};
    for (std::size_t program = 0; program < programs; ++program) {
      const Measured one = measured(program);
      latencies.cells.emplace_back(exactly(static_cast<double>(one.latency)));
      occupancies.cells.emplace_back(exactly(static_cast<double>(one.occupancy)));
    }
    latency.rows.push_back(std::move(latencies));
    occupancy.rows.push_back(std::move(occupancies));
  };
  add("MM", [&](std::size_t program) { return table[model_index("MM")][program]; });
  for (unsigned entry = 0; entry < entries; ++entry) {
    add("SWX" + std::to_string(entry), [&](std::size_t program) {
      return benchmark_programs[program].run(interface_models[model_index("SWX")], entry);
    });
  }
  for (Chart* chart : {&latency, &occupancy}) report.charts.push_back(std::move(*chart));
}

void add_mmachine_costs(Report& report) {
  const Table table = simulate();
  for (std::size_t program = 0; program < programs; ++program) add_latencies(table, program, report);
  for (std::size_t program = 0; program < programs; ++program) add_occupancies(table, program, report);
  add_order(table, report);
  add_gain(table, report);
  for (const Figure& figure : figures()) add_figure(table, figure, report);
  add_lookups(table, report);
}

}  // namespace

const PaperSection mmachine_costs{
    .name = "mmachine_costs",
    .meaning = "Lee's thesis on the M-Machine, chapter 6: Table 6.4 and its figures",
    .add = add_mmachine_costs,
};

}  // namespace ambench
