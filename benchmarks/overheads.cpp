// `ambench overheads`: what the processor pays: a send, a poll that finds nothing (in a job of two, and in a
// large one whose other nodes are connected and sleep), a poll that dispatches, a critical section; and a round trip by a request and
// its reply beside those of a put and a get through a guarded pointer, which are the same and the owner's check.
//
// Sends and dispatches are timed in bursts that fit into a ring, so that nobody waits: node 1 polls while
// node 0 sends; node 0 lets a burst arrive in full before it polls. Both include the cache lines that move
// between the cores.

#include <am/am.hpp>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "clock.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "results/progress.hpp"
#include "sleepers.hpp"
#include "timing.hpp"

namespace ambench::overheads {

namespace {

constexpr std::uint64_t burst = 16;
constexpr double arrival_ns = 20e3;

struct State {
  std::uint64_t taken = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t bursts_wanted = 0;
  bool stopped = false;
  std::uint64_t answered = 0;
  std::uint64_t guarded_memory = 0;
  am::GuardedPtr<std::uint64_t> guarded;  // the memory of node 1

  void ask(am::Request& request, std::uint64_t word) { request.reply<&State::answer>(word); }
  void answer(am::Reply&, std::uint64_t) { ++answered; }
  void hand_out(am::Reply&, am::GuardedPtr<std::uint64_t> pointer) { guarded = pointer; }
  void take(am::Request&, std::uint64_t) { ++taken; }
  void acknowledge(am::Request& request) { request.reply<&State::acknowledgement>(); }
  void acknowledgement(am::Reply&) { ++acknowledged; }
  void send_burst(am::Request&) { ++bursts_wanted; }
  void stop(am::Request&) { stopped = true; }
};

// Ticks per operation, of `timed()`, which returns the ticks that `operations` of them took, and nothing else.
template <typename F>
double ticks_each(double operations, F&& timed) {
  const double overhead = tick_overhead();
  std::vector<double> samples;
  const auto sample = [&] { samples.push_back(static_cast<double>(timed()) - overhead); };
  for (int warm_up = 0; warm_up < 100; ++warm_up) sample();
  samples.clear();
  (void)median_batch_ns(sample);
  return median_of(std::move(samples)) / operations;
}

void say_overhead(const std::string& name, double each_ticks) {
  say_figure(name + "_ns", each_ticks * ns_per_tick());
  say_figure(name + "_cycles", each_ticks);
}

class Sender {
 public:
  Sender(am::Node& node, State& state) : node_(node), state_(state) {}

  void say_send() {
    say_overhead("send", ticks_each(burst, [&] {
                   const std::uint64_t start = ticks();
                   for (std::uint64_t i = 0; i < burst; ++i) node_.request<&State::take>(1, i);
                   const std::uint64_t taken = ticks() - start;
                   const std::uint64_t expected = state_.acknowledged + 1;
                   node_.request<&State::acknowledge>(1);
                   node_.wait_until([&] { return state_.acknowledged == expected; });
                   return taken;
                 }));
  }

  void say_dispatch() {
    say_overhead("dispatch", ticks_each(burst, [&] {
                   const std::uint64_t expected = state_.taken + burst;
                   node_.request<&State::send_burst>(1);
                   const double arrived = now_ns() + arrival_ns;
                   while (now_ns() < arrived) {
                   }
                   const std::uint64_t start = ticks();
                   while (state_.taken != expected) node_.poll();
                   return ticks() - start;
                 }));
  }

  void say_empty_poll() {
    constexpr int polls = 1000;
    say_overhead("empty_poll", ticks_each(polls, [&] {
                   const std::uint64_t start = ticks();
                   for (int i = 0; i < polls; ++i) node_.poll();
                   return ticks() - start;
                 }));
  }

  void say_critical_section() {
    constexpr int sections = 1000;
    say_overhead("critical_section", ticks_each(sections, [&] {
                   const std::uint64_t start = ticks();
                   for (int i = 0; i < sections; ++i) {
                     const am::CriticalSection quiet(node_);
                     keep(quiet);
                   }
                   return ticks() - start;
                 }));
  }

  void say_round_trips() {
    node_.wait_until([&] { return static_cast<bool>(state_.guarded); });
    say_round_trip("round_trip", [&] {
      const std::uint64_t expected = state_.answered + 1;
      node_.request<&State::ask>(1, expected);
      node_.wait_until([&] { return state_.answered == expected; });
      return am::GuardStatus::ok;
    });
    std::uint64_t value = 0;
    say_round_trip("guarded_get", [&] { return am::get(node_, state_.guarded, value); });
    say_round_trip("guarded_put", [&] { return am::put(node_, state_.guarded, value); });
  }

 private:
  template <typename F>
  static void say_round_trip(const char* name, F trip) {
    constexpr int trips = 100;
    say_overhead(name, ticks_each(trips, [&] {
                   const std::uint64_t start = ticks();
                   for (int i = 0; i < trips; ++i) {
                     if (trip() != am::GuardStatus::ok)
                       throw std::runtime_error("an access through a guarded pointer is refused");
                   }
                   return ticks() - start;
                 }));
  }

  am::Node& node_;
  State& state_;
};

void serve_bursts(am::Node& node, const State& state) {
  for (std::uint64_t sent = 0; !state.stopped;) {
    node.wait_until([&] { return state.stopped || state.bursts_wanted != sent; });
    for (; sent != state.bursts_wanted; ++sent) {
      for (std::uint64_t i = 0; i < burst; ++i) node.request<&State::take>(0, i);
    }
  }
}

void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  if (node.id() == 1) {
    const auto guarded = am::guard(node, &state.guarded_memory, 1, am::Rights::read_write);
    node.reply_to<&State::hand_out>(0, guarded);
  }
  const auto measure = [&] {
    Sender sender(node, state);
    sender.say_empty_poll();
    if (node.size() == 2) {
      sender.say_send();
      sender.say_dispatch();
      sender.say_critical_section();
      sender.say_round_trips();
    }
    node.request<&State::stop>(1);
  };
  run_with_others_asleep(node, measure, [&] { serve_bursts(node, state); });
}

void add_row(Report& report, const Series& series, const std::string& title, int nodes,
             const std::string& prefix, const std::string& name) {
  Row& row = report.rows.emplace_back(title);
  row.key("nodes", nodes);
  row.figure(name + "_ns", "time", series.at(prefix + name + "_ns"));
  row.figure(name + "_cycles", "cycles at the counter's rate", series.at(prefix + name + "_cycles"));
}

Report measure_overheads(const Options& options) {
  const int nodes = options.nodes != 0 ? options.nodes : 128;
  const std::string many = std::to_string(nodes) + "/";
  Report report = report_of(measure, options, nodes);
  Series series;
  Progress progress("overheads", options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    const Finished two_nodes = run_job("overheads", 2);
    report.cpus = two_nodes.cpus();
    for (const auto& [name, value] : two_nodes.figures()) series.add("2/" + name, value);
    for (const auto& [name, value] : run_job("overheads", nodes).figures()) series.add(many + name, value);
  }
  add_row(report, series, "send of 8 bytes", 2, "2/", "send");
  add_row(report, series, "poll that finds nothing, 2 nodes", 2, "2/", "empty_poll");
  Row& row =
      report.rows.emplace_back("poll that finds nothing, " + std::to_string(nodes) + " connected nodes");
  row.key("nodes", nodes);
  row.figure("empty_poll_ns", "time", series.at(many + "empty_poll_ns"));
  row.figure("empty_poll_cycles", "cycles at the counter's rate", series.at(many + "empty_poll_cycles"));
  row.figure("to_two_nodes_ratio", "against 2 nodes",
             ratios(series.at(many + "empty_poll_ns"), series.at("2/empty_poll_ns")));
  add_row(report, series, "poll that dispatches, per message", 2, "2/", "dispatch");
  add_row(report, series, "critical section entered and left", 2, "2/", "critical_section");
  add_row(report, series, "request and reply of 8 bytes, round trip", 2, "2/", "round_trip");
  for (const std::string name : {"get", "put"}) {
    add_row(report, series, "guarded " + name + " of 8 bytes, round trip", 2, "2/", "guarded_" + name);
    report.rows.back().figure("to_plain_ratio", "against the request and its reply",
                              ratios(series.at("2/guarded_" + name + "_ns"), series.at("2/round_trip_ns")));
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "overheads",
    .meaning = "send, empty poll, dispatch, critical section, guarded put and get: ns and cycles",
    .least_nodes = 3,
    .measure = measure_overheads,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::overheads
