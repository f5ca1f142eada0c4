// `ambench papers`: what the simulated machines say where a paper prints a figure, entry by entry: paper, here, ratio. No job, no
// network; the same in every run. What is simulated, and each entry that is outside its band with the reason, is in docs/papers.md.

#include <algorithm>
#include <string>
#include <vector>

#include "measure.hpp"
#include "papers/sections.hpp"

namespace ambench::papers {

namespace {

const std::vector<const PaperSection*> all_sections{&mmachine_network, &mmachine_costs, &chapter_7_model,
                                                    &chapter_7_runs};

std::string names_of_sections() {
  std::string names;
  for (const PaperSection* section : all_sections)
    names.append(names.empty() ? "" : ", ").append(section->name);
  return names;
}

// All, or the one that section=NAME names.
std::vector<const PaperSection*> chosen_sections(const Options& options) {
  const auto asked = options.parameters.find("section");
  if (asked == options.parameters.end()) return all_sections;
  const auto named = [&](const PaperSection* section) { return asked->second == section->name; };
  const auto found = std::ranges::find_if(all_sections, named);
  if (found == all_sections.end())
    throw UsageError("papers has no section '" + asked->second + "': " + names_of_sections());
  return {*found};
}

Report measure_papers(const Options& options) {
  Report report = report_of(measure, options, 1);
  report.repetitions = 1;
  report.simulated = true;
  report.transport = "simulated";
  for (const PaperSection* section : chosen_sections(options)) {
    report.remarks.push_back(std::string(section->name) + ": " + section->meaning);
    section->add(report);
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "papers",
    .meaning = "cycles of the simulated machines, entry by entry beside their papers'",
    .measure = measure_papers,
    .has_charts = true,
    .is_exact = true,
    .parameters = {"section"},
};

}  // namespace ambench::papers
