#include "results/outputs.hpp"

#include <iostream>

#include "results/output_file.hpp"
#include "results/plot.hpp"

namespace results {

std::vector<Option> Outputs::options() {
  return {file("json", json_file), file("plots", plots_folder), flag("markdown", markdown)};
}

void Outputs::prepare() const {
  if (!plots_folder.empty()) be_able_to_plot(plots_folder);
  if (!json_file.empty()) be_able_to_write(json_file);
}

void Outputs::put_out(const Report& report) const {
  if (markdown) {
    print_markdown(std::cout, report);
  } else {
    print_table(std::cout, report);
  }
  flush_output();
  if (!json_file.empty()) write_file(json_file, to_json(report));
  if (plots_folder.empty()) return;
  for (const Chart& chart : report.charts) plot(chart, plots_folder);
}

}  // namespace results
