// Figures side by side: a table in markdown, or a plot (plot.hpp). The same that the report's rows hold.

#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "results/statistics.hpp"

namespace results {

struct Chart {
  struct Row {
    std::string label;
    std::vector<std::optional<Summary>>
        cells;  // as many as columns; nothing: not measured, as there is no such thing
  };

  std::string name;  // of its file; empty: a table only
  std::string title;
  std::string unit;  // "ns", "x", "%", "signals"
  bool logarithmic = false;
  bool exact = false;  // the same in every run: figures without a range
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

// A heading and a table of "median (min to max)", or of exact figures; long times in microseconds.
void print_markdown(std::ostream& out, const Chart& chart);

}  // namespace results
