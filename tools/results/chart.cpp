#include "results/chart.hpp"

#include <ostream>

namespace results {

namespace {

std::string text_of(const Summary& summary, const std::string& unit) {
  const bool in_us = unit == "ns" && summary.median >= 9999.5;
  const double scale = in_us ? 1e-3 : 1;
  return rounded(summary.median * scale) + (unit == "x" ? "x (" : " " + (in_us ? "us" : unit) + " (") +
         rounded(summary.min * scale) + " to " + rounded(summary.max * scale) + ")";
}

}  // namespace

void print_markdown(std::ostream& out, const Chart& chart) {
  out << "\n**" << chart.title << "**\n\n|";
  for (const std::string& column : chart.columns) out << " | " << column;
  out << " |\n|---|";
  for (std::size_t i = 0; i < chart.columns.size(); ++i) out << "---|";
  out << "\n";
  for (const Chart::Row& row : chart.rows) {
    out << "| " << row.label;
    for (const std::optional<Summary>& cell : row.cells)
      out << " | "
          << (!cell         ? ""
              : chart.exact ? counted(cell->median) + " " + chart.unit
                            : text_of(*cell, chart.unit));
    out << " |\n";
  }
}

}  // namespace results
