// Where a report goes: to standard output, and into what --json, --plots and --markdown ask for.

#pragma once

#include <string>
#include <vector>

#include "results/command_line.hpp"
#include "results/report.hpp"

namespace results {

struct Outputs {
  std::string json_file;     // empty: no file
  std::string plots_folder;  // empty: no plots
  bool markdown = false;     // tables in markdown in place of the plain one

  // The options that set them. They live no longer than these outputs.
  std::vector<Option> options();
  [[nodiscard]] bool want_charts() const { return markdown || !plots_folder.empty(); }
  // Before anything is measured. Throws UsageError where they cannot be.
  void prepare() const;
  // Throws std::runtime_error.
  void put_out(const Report& report) const;
};

}  // namespace results
