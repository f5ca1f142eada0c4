// `amsim papers`: what the simulated machines say where a paper prints a figure, entry by entry: paper, here, ratio. No job, no
// network; the same in every run. What is simulated, and each entry that is outside its band with the reason, is in docs/papers.md.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "amsim/papers/sections.hpp"
#include "amsim/simulation.hpp"
#include "results/no_such.hpp"

namespace amsim::papers {

namespace {

const std::vector<const PaperSection*> all_sections{&mmachine_network, &mmachine_costs,
                                                    &chapter_7_model,  &chapter_7_runs,
                                                    &across_machines,  &four_issues_section};

std::vector<std::string_view> names_of_sections() {
  std::vector<std::string_view> names;
  names.reserve(all_sections.size());
  for (const PaperSection* section : all_sections) names.emplace_back(section->name);
  return names;
}

// All, or the one that section=NAME names.
std::vector<const PaperSection*> chosen_sections(const Options& options) {
  if (!options.parameters.is_given("section")) return all_sections;
  const std::string asked = options.parameters["section"].word();
  const auto named = [&](const PaperSection* section) { return asked == section->name; };
  const auto found = std::ranges::find_if(all_sections, named);
  if (found == all_sections.end()) throw UsageError(no_such("section", asked, names_of_sections()));
  return {*found};
}

Report simulate(const Options& options) {
  Report report = report_of(options);
  for (const PaperSection* section : chosen_sections(options)) {
    report.remarks.push_back(std::string(section->name) + ": " + section->meaning);
    section->add(report);
  }
  return report;
}

}  // namespace

const Simulation simulation{
    .name = "papers",
    .meaning = "what simulated machines say where a paper prints a figure, entry by entry",
    .run = simulate,
    .parameters = {{"section", "",
                    "one of mmachine, mmachine_costs, log, life, machines and four_issues; else all"}},
};

}  // namespace amsim::papers
