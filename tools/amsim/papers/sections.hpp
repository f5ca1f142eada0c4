// What `amsim papers` is made of: a table of a paper, or a figure, which is simulated and set beside what is printed there. One
// function in a file of its own, listed here and in papers.cpp.
//
// A section adds a row of the report for each table, or for each column of a large one, with beside(); its remark says whether a
// figure is calibrated on the table itself or predicted, and whether it is in its band. A chart for each figure of the paper.

#pragma once

#include "amsim/simulation.hpp"

namespace amsim {

struct PaperSection {
  const char* name;     // for section=NAME
  const char* meaning;  // one line: which paper, which tables and figures
  void (*add)(Report& report);
};

extern const PaperSection mmachine_network;
extern const PaperSection mmachine_costs;
extern const PaperSection chapter_7_model;
extern const PaperSection chapter_7_runs;
extern const PaperSection across_machines;
extern const PaperSection four_issues_section;

}  // namespace amsim
