// The command line of ambench.

#pragma once

#include <span>
#include <string>

#include "results/outputs.hpp"
#include "results/usage_error.hpp"

namespace ambench {

using results::UsageError;
struct Measure;

struct Options {
  const Measure* measure = nullptr;
  results::Outputs outputs;
  bool compare = false;
  std::string transport = "shm";  // that carries the messages
  int repetitions = 11;
  int nodes = 0;  // 0: the measure's own choice
  bool help = false;
  bool version = false;
};

// Throws UsageError.
Options parse_options(int argc, char** argv, std::span<const Measure* const> measures);

std::string help_text(std::span<const Measure* const> measures);

}  // namespace ambench
