// `ambench dispatch`: how soon a message reaches its handler in the three modes (am::Dispatch), by what the receiver does
// meanwhile; what a message takes from the receiver's computation; what critical sections and timelets cost. The questions
// of chapter 6 of the M-Machine thesis, on today's machines: docs/dispatch.md.
//
// One-way times are readings of the processor's counter, the first in the request, the second by the handler: they count on
// counters that agree between processors. That they do shows in the receiver that polls: there and back take the same.
//
// Every repetition starts a job per arrangement, and right after them, on the same processors, the limits of a signal and, where a
// handler thread shares a processor, of a thread that is woken beside a computation; the limit of a wake from sleep is
// measured in turn with libam's, inside the job.

#include <am/am.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "dispatch/figures.hpp"
#include "dispatch/state.hpp"
#include "job.hpp"
#include "limits/beside_limit.hpp"
#include "limits/signal_limit.hpp"
#include "measure.hpp"
#include "results/pinning.hpp"
#include "results/progress.hpp"

namespace ambench::dispatch {

namespace {

namespace dsp = dispatching;

// Arguments of a job: the arrangement, and the processors of its two nodes.
struct Arguments {
  const dsp::Arrangement& arrangement;
  dsp::Places places;
};

[[noreturn]] void refuse() { throw UsageError("dispatch: run it as ambench dispatch"); }

int cpu_from(const std::string& text) {
  int cpu = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc() || rest != text.data() + text.size()) refuse();
  return cpu;
}

Arguments read(std::span<const std::string> arguments) {
  if (arguments.size() != 3) refuse();
  const dsp::Arrangement* const arrangement = dsp::arrangement_named(arguments[0]);
  if (arrangement == nullptr) refuse();
  return {*arrangement, {cpu_from(arguments[1]), cpu_from(arguments[2])}};
}

// The nodes bind themselves, before they join: two of them to one processor is what amrun does not do.
am::Options prepare_node(std::span<const std::string> arguments) {
  const Arguments all = read(arguments);
  const char* rank = std::getenv("AM_RANK");
  const bool receiver = rank != nullptr && std::string(rank) == "1";
  const int cpu = receiver ? all.places.receiver : all.places.sender;
  if (!pin_to(cpu)) throw std::runtime_error("dispatch: cannot be bound to processor " + std::to_string(cpu));
  am::Options options;
  options.dispatch = receiver ? all.arrangement.mode : am::Dispatch::poll;
  return options;
}

void run_node(am::Node& node, std::span<const std::string> arguments) {
  const Arguments all = read(arguments);
  dsp::State state;
  node.attach(state);
  say_place(node);
  const dsp::Roles roles{node, state, all.arrangement, all.places};
  node.barrier();
  if (node.id() == 0) {
    dsp::run_sender(roles);
  } else {
    dsp::run_receiver(roles);
  }
  node.barrier();
}

Figures run_arrangement(const dsp::Placed& placed) {
  const Launch launch{.bound = false, .environment = {"AM_TIMEOUT=20s"}};
  return run_job("dispatch", 2,
                 {std::string(placed.arrangement.name), std::to_string(placed.places.sender),
                  std::to_string(placed.places.receiver)},
                 launch)
      .figures();
}

void add_beside_limits(Series& series, CorePair cores) {
  for (const dsp::Scenario& scenario : dsp::scenarios) {
    if (scenario.program != dsp::Program::computes) continue;
    const Spread times =
        woken_beside_ns(cores, scenario.least_gap_us, scenario.most_gap_us, dsp::least_samples);
    series.add(figures_of(dsp::beside_limit_of(scenario), times));
  }
}

Report measure_dispatch(const Options& options) {
  const CorePair cores = measuring_cores(measure.name);
  const std::size_t cores_in_all = machine_cores();
  const std::vector<dsp::Placed> all = dsp::place_all(cores, cores_in_all);
  const bool shares = std::ranges::any_of(
      all, [](const dsp::Placed& placed) { return dsp::shares_processor(placed.arrangement); });
  Report report = report_of(measure, options, 2);
  report.cpus = {cores.first, cores.second};
  Series series;
  Progress progress("dispatch", options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    for (const dsp::Placed& placed : all) {
      for (const auto& [name, value] : run_arrangement(placed))
        series.add(std::string(placed.arrangement.name) + "/" + name, value);
    }
    series.add("limit/signal_ns", signal_ns(cores));
    if (shares) add_beside_limits(series, cores);
  }
  if (cores_in_all == 2)
    report.remarks.push_back(
        "two processors: beside a handler thread with its own, both nodes share the other");
  dsp::add_rows(report, series, all);
  dsp::add_charts(report, series);
  return report;
}

}  // namespace

const Measure measure{
    .name = "dispatch",
    .meaning = "send to handler, occupancy, critical sections and timelets in the three modes",
    .measure = measure_dispatch,
    .run_node = run_node,
    .prepare_node = prepare_node,
    .has_charts = true,
};

}  // namespace ambench::dispatch
