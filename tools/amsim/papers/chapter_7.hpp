// What the sections of chapter 7 have in common, that of the model and that of the runs: a chart and a row for each of its figures.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "amsim/simulation.hpp"

namespace amsim {

inline Chart chart(const char* figure, const std::string& title, const char* unit,
                   std::vector<std::string> columns) {
  return {.name = std::string("papers_figure_") + figure,
          .title = title,
          .unit = unit,
          .exact = true,
          .columns = std::move(columns),
          .rows = {}};
}
inline Row& row(Report& report, const char* figure, const std::string& title) {
  Row& row = report.rows.emplace_back(title);
  row.key("figure", figure).references("paper");
  return row;
}

}  // namespace amsim
