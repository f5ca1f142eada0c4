// The examples, started in other ways than by amrun on this host: each gives the same.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "process/command.hpp"

namespace process_test {

struct ExampleRun {
  std::vector<std::string> program;
  std::string part = {};  ///< of a line: what of it is the same each time, where not all is
};

inline std::vector<ExampleRun> every_example() {
  return {{.program = {example("hello")}},
          {.program = {example("word_count"), AM_TESTS_DIR "/../README.md"}},
          {.program = {example("life"), "64", "64", "20"}, .part = "the same as a sequential run"},
          {.program = {example("fetch_add")}, .part = "counter 40000, expected 40000: right"},
          {.program = {example("background_transfer"), "1"}, .part = ", 0 values came wrong"},
          {.program = {example("cmam_pingpong"), "300"}, .part = ": right"},
          {.program = {example("cmam_transfer"), "96"}, .part = " 0 bytes wrong: right"},
          {.program = {example("cmam_work_queue"), "3000"}, .part = "as one node alone finds"},
          {.program = {example("am2_pingpong"), "100"}, .part = "100 round trips, sum 323400: right"},
          {.program = {example("am2_transfer"), "300"},
           .part = "300 KiB there, back, and fetched again, 0 values came wrong"},
          {.program = {example("am2_work_queue"), "2000"}, .part = "as one node alone finds"},
          {.program = {example("gam_pingpong"), "100"},
           .part = "100 round trips, 100 requests of the neighbour: right"},
          {.program = {example("gam_transfer"), "300"}, .part = ", 0 values came wrong"},
          {.program = {example("gam_work_queue"), "2000"}, .part = "as one node alone finds"},
          {.program = {example("em3d"), "60", "plain", "2"}},
          {.program = {example("em3d"), "60", "ghost", "2"}},
          {.program = {example("em3d"), "60", "bundled", "2"}},
          {.program = {example("sample_sort"), "1000"}},
          {.program = {example("radix_sort"), "300"}},
          {.program = {example("matrix_multiply"), "50"}},
          {.program = {example("components"), "30"}},
          {.program = {example("dataflow"), "7"}}};
}

/// What it does as a job of four nodes over shared memory; run once.
inline const Outcome& outcome_here(const std::vector<std::string>& program) {
  static std::map<std::vector<std::string>, Outcome> known;
  const auto found = known.find(program);
  if (found != known.end()) return found->second;
  std::vector<std::string> command = {amrun, "-n", "4"};
  command.insert(command.end(), program.begin(), program.end());
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return known.emplace(program, outcome).first->second;
}

/// `run_elsewhere` runs a program as a job of four nodes.
inline void expect_every_example_gives_the_same(
    const std::function<Outcome(const std::vector<std::string>& program)>& run_elsewhere) {
  for (const ExampleRun& one : every_example()) {
    const Outcome& here = outcome_here(one.program);
    const Outcome elsewhere = run_elsewhere(one.program);
    EXPECT_EQ(elsewhere.exit_code, 0) << one.program[0] << elsewhere.out << elsewhere.err;
    if (one.part.empty()) {
      EXPECT_EQ(sorted_lines(elsewhere.out), sorted_lines(here.out));
    } else {
      EXPECT_GT(count(here.out, one.part), 0) << here.out;
      EXPECT_EQ(count(elsewhere.out, one.part), count(here.out, one.part)) << elsewhere.out;
    }
  }
}

}  // namespace process_test
