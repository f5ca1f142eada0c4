// The examples that are jobs, started in other ways than by amrun on this host: each gives the same.
#pragma once

#include "process/command.hpp"

namespace process_test {

struct ExampleRun {
  std::vector<std::string> program;
  std::string part = {};  ///< of a line: what of it is the same each time, where not all is
  /// What lines with a figure contain, which differs each time; all other lines are the same. Empty: no line has one.
  std::string figure = {};
};

inline std::vector<ExampleRun> every_example() {
  return {{.program = {example("hello")}},
          {.program = {example("word_count"), AM_TESTS_DIR "/../README.md"}},
          {.program = {example("life"), "64", "64", "20"}, .part = "the same as a sequential run"},
          {.program = {example("heat"), "20", "50"}},
          {.program = {example("histogram"), "2000"}},
          {.program = {example("survivors")}, .part = " of them twice: right"},
          {.program = {example("fetch_add")}, .part = "counter 40000, expected 40000: right"},
          {.program = {example("background_transfer"), "1"}, .part = ", 0 values came wrong"},
          {.program = {example("cmam_pingpong"), "300"}, .figure = "one takes "},
          {.program = {example("cmam_transfer"), "96"}, .figure = " MB/s "},
          {.program = {example("cmam_work_queue"), "3000"}, .figure = "numbers per second"},
          {.program = {example("am2_pingpong"), "100"}, .figure = "one takes "},
          {.program = {example("am2_transfer"), "300"}, .figure = " MB/s "},
          {.program = {example("am2_work_queue"), "2000"}, .figure = "numbers per second"},
          {.program = {example("gam_pingpong"), "100"}, .figure = "one takes "},
          {.program = {example("gam_transfer"), "300"}, .figure = " MB/s,"},
          {.program = {example("gam_work_queue"), "2000"}, .figure = "numbers per second"},
          {.program = {example("em3d"), "60", "plain", "2"}},
          {.program = {example("em3d"), "60", "ghost", "2"}},
          {.program = {example("em3d"), "60", "bundled", "2"}},
          {.program = {example("sample_sort"), "1000"}},
          {.program = {example("radix_sort"), "300"}},
          {.program = {example("matrix_multiply"), "50"}},
          {.program = {example("components"), "30"}},
          {.program = {example("dataflow"), "7"}}};
}

/// One of each kind. These run in the other ways of a launcher or a network; all run in one.
inline std::vector<ExampleRun> a_few_examples() {
  const std::set<std::string> names = {"hello",        "background_transfer", "cmam_transfer",
                                       "am2_transfer", "gam_work_queue",      "sample_sort"};
  std::vector<ExampleRun> few = every_example();
  std::erase_if(few, [&](const ExampleRun& one) {
    return !names.contains(std::filesystem::path(one.program[0]).filename());
  });
  return few;
}

inline Outcome run_by_amrun(int nodes, const std::vector<std::string>& program,
                            const std::vector<std::string>& settings = {}) {
  std::vector<std::string> command = {amrun, "-n", std::to_string(nodes)};
  command.insert(command.end(), program.begin(), program.end());
  return run(command, {settings});
}

/// Sorted, without those that have a figure.
inline std::vector<std::string> lines_that_stay(const ExampleRun& one, const Outcome& outcome) {
  std::vector<std::string> lines = sorted_lines(outcome.out);
  if (!one.figure.empty())
    std::erase_if(lines, [&](const std::string& line) { return line.find(one.figure) != std::string::npos; });
  return lines;
}

/// What it does as a job of four nodes over shared memory; run once.
inline const Outcome& outcome_here(const std::vector<std::string>& program) {
  static std::map<std::vector<std::string>, Outcome> known;
  const auto found = known.find(program);
  if (found != known.end()) return found->second;
  const Outcome outcome = expect_end(run_by_amrun(4, program), 0);
  return known.emplace(program, outcome).first->second;
}

/// `run_elsewhere` runs a program as a job of four nodes.
inline void expect_the_same(
    const std::vector<ExampleRun>& examples,
    const std::function<Outcome(const std::vector<std::string>& program)>& run_elsewhere) {
  for (const ExampleRun& one : examples) {
    const Outcome& here = outcome_here(one.program);
    const Outcome elsewhere = expect_end(run_elsewhere(one.program), 0);
    if (one.part.empty()) {
      EXPECT_EQ(lines_that_stay(one, elsewhere), lines_that_stay(one, here));
    } else {
      EXPECT_GT(count(here.out, one.part), 0) << here.out;
      EXPECT_EQ(count(elsewhere.out, one.part), count(here.out, one.part)) << elsewhere.out;
    }
  }
}

}  // namespace process_test
