// The command line of ambench.

#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>

namespace ambench {

struct Measure;

struct Options {
  const Measure* measure = nullptr;
  std::string json_file;     // empty: no file
  std::string plots_folder;  // empty: no plots
  std::string trace_file;    // empty: no trace
  bool markdown = false;     // tables in markdown in place of the plain one
  bool compare = false;
  std::string transport = "shm";  // that carries the messages
  int repetitions = 11;
  bool has_repetitions = false;                   // given
  int nodes = 0;                                  // 0: the measure's own choice
  std::map<std::string, std::string> parameters;  // NAME=VALUE: the measure's own
  bool help = false;
  bool version = false;
};

// Wrong use of the command line: one line for the user, exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws UsageError.
Options parse_options(int argc, char** argv, std::span<const Measure* const> measures);

std::string help_text(std::span<const Measure* const> measures);

}  // namespace ambench
