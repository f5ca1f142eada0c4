#include "amsim/papers/mmachine_figures.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "amsim/papers/chapter_6/table_6_4.hpp"

namespace amsim {

namespace {

using namespace chapter_6;

using Table = MMachineTable;
constexpr std::size_t programs = benchmark_programs.size();

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

// The columns: of each program the printed figure and the simulated one.
std::vector<std::string> columns_of_programs(std::size_t count) {
  std::vector<std::string> columns;
  for (std::size_t program = 0; program < count; ++program) {
    for (const char* whose : {", paper", ", here"})
      columns.push_back(std::string(benchmark_programs[program].name) + whose);
  }
  return columns;
}

void add_figure(const Table& table, const Figure& figure, Report& report) {
  Chart chart = chart_of(figure.number, figure.title);
  chart.columns = columns_of_programs(figure.programs);
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

std::optional<Summary> printed_or_none(unsigned figure) {
  return figure == PrintedRow::none ? std::nullopt : std::optional(exactly(figure));
}

// For --markdown: no picture.
void add_whole_table(const Table& table, bool occupancy, Report& report) {
  Chart chart{.name = "",
              .title = std::string("Table 6.4, ") + (occupancy ? "occupancy" : "latency") + ", cycles",
              .unit = "",
              .exact = true,
              .columns = columns_of_programs(programs),
              .rows = {}};
  for (std::size_t model = 0; model < (occupancy ? basic_models : table.size()); ++model) {
    const PrintedRow& printed = table_6_4[model];
    Chart::Row& row = chart.rows.emplace_back(Chart::Row{std::string(printed.name), {}});
    for (std::size_t program = 0; program < programs; ++program) {
      const Measured& here = table[model][program];
      const auto there = printed_or_none(occupancy ? printed.occupancy[program] : printed.latency[program]);
      row.cells.push_back(there);
      row.cells.push_back(
          there ? std::optional(exactly(static_cast<double>(occupancy ? here.occupancy : here.latency)))
                : std::nullopt);
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
    add("SWX" + std::to_string(entry),
        [&](std::size_t program) { return benchmark_programs[program].run(model_named("SWX"), entry); });
  }
  for (Chart* chart : {&latency, &occupancy}) report.charts.push_back(std::move(*chart));
}

// Two components or more of one latency, by model.
void add_components(Report& report) {
  Chart injection =
      chart_of("6_6", "Figure 6-6: RPC, cycles until its head, its last word and its thread are there");
  injection.logarithmic = false;
  injection.columns = {"head", "last word", "first instruction"};
  for (const std::string_view name : {"MM", "IRB", "IRS"}) {
    const InjectionParts parts = injection_parts(model_named(name));
    Chart::Row& row = injection.rows.emplace_back(Chart::Row{std::string(name), {}});
    for (const auto cycles : {parts.head, parts.tail, parts.started})
      row.cells.emplace_back(exactly(static_cast<double>(cycles)));
  }
  report.charts.push_back(std::move(injection));

  Chart dispatch = chart_of("6_9", "Figure 6-9: PING, cycles of one dispatch");
  dispatch.logarithmic = false;
  dispatch.columns = {"swap", "service"};
  for (const std::string_view name : {"MM", "POL", "INT"}) {
    const DispatchParts parts = dispatch_parts(model_named(name));
    Chart::Row& row = dispatch.rows.emplace_back(Chart::Row{std::string(name), {}});
    row.cells.push_back(parts.swap > 0 ? std::optional(exactly(static_cast<double>(parts.swap)))
                                       : std::nullopt);
    row.cells.emplace_back(exactly(static_cast<double>(parts.service)));
  }
  report.charts.push_back(std::move(dispatch));
}

// The best cases are the table's; of the worst ones the thesis prints no latency.
void add_dispatch(Report& report) {
  Chart chart = chart_of("6_10", "Figure 6-10: dispatch, latency");
  chart.columns = columns_of_programs(programs);
  const auto add = [&](std::string_view name, const std::string& label, bool comes_too_late) {
    const std::size_t index = model_index(name);
    InterfaceModel model = table_6_4[index].model();
    model.comes_too_late = comes_too_late;
    Chart::Row& row = chart.rows.emplace_back(Chart::Row{label, {}});
    for (std::size_t program = 0; program < programs; ++program) {
      const double printed = table_6_4[index].latency[program];
      row.cells.push_back(comes_too_late ? std::nullopt : std::optional(exactly(printed)));
      row.cells.emplace_back(exactly(static_cast<double>(benchmark_programs[program].run(model, 0).latency)));
    }
  };
  add("MM", "MM", false);
  for (const std::string_view name : {"POL", "INT"}) {
    add(name, std::string(name) + "_MIN", false);
    add(name, std::string(name) + "_MAX", true);
  }
  report.charts.push_back(std::move(chart));
}

}  // namespace

void add_mmachine_figures(const MMachineTable& table, Report& report) {
  for (const bool occupancy : {false, true}) add_whole_table(table, occupancy, report);
  for (const Figure& figure : figures()) add_figure(table, figure, report);
  add_lookups(table, report);
  add_components(report);
  add_dispatch(report);
}

}  // namespace amsim
