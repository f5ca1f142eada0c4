// What a measure is to main.cpp: one file each, listed there.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limits/pair.hpp"
#include "options.hpp"
#include "report.hpp"

namespace am {
class Node;
struct Options;
}  // namespace am

namespace ambench {

struct Measure {
  const char* name;
  const char* meaning;  // one line
  int least_nodes = 0;  // for -n; 0 where there is no choice
  bool can_compare = false;
  // Runs in ambench itself. Throws std::runtime_error.
  Report (*measure)(const Options& options);
  // Runs in every node of a job that `measure` starts (job.hpp), with the arguments given there. nullptr: no
  // jobs.
  void (*run_node)(am::Node& node, std::span<const std::string> arguments) = nullptr;
  // Runs in every node before it joins its job, with the same arguments: how it joins. nullptr: as every program does.
  am::Options (*prepare_node)(std::span<const std::string> arguments) = nullptr;
  bool has_charts = false;                     // for --plots and --markdown
  bool has_trace = false;                      // for --trace
  bool over_networks = false;                  // for --transport
  bool is_exact = false;                       // the same in every run: no --reps
  std::vector<std::string_view> parameters{};  // NAME=VALUE
};

extern const Measure pingpong;
extern const Measure flood;
extern const Measure payloads;
extern const Measure bulk;
extern const Measure overheads;
extern const Measure dispatch;
extern const Measure idle_peers;
extern const Measure hops;
extern const Measure multicasts;
extern const Measure barrier;
extern const Measure all_reduce;
extern const Measure startup;
extern const Measure memory;
extern const Measure scale;
extern const Measure network;
extern const Measure t1;
extern const Measure logp;
extern const Measure papers;
extern const Measure splitc;
extern const Measure cmam;
extern const Measure limits;

// The head of a report, filled in as far as options tell.
Report report_of(const Measure& measure, const Options& options, int nodes);

// Every repetition a new job of two nodes, and right after it, on the same two cores, `beside`; the latter not where the
// nodes were not bound to two.
Series measure_pairs(const Measure& measure, const Options& options, Report& report,
                     const std::function<void(CorePair, Series&)>& beside = nullptr);

// Whether the transport is an emulated machine: then the limit is libam itself over shared memory.
[[nodiscard]] bool is_emulated(const Options& options);
// The figures of the same job over shared memory, NAME becoming shm_NAME, and PREFIX/NAME PREFIX/shm_NAME.
void ask_shared_memory(const Measure& measure, Series& series, int nodes = 2);

}  // namespace ambench
