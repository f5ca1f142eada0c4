// `ambench logp`: LogP's numbers of the transport (am/logp.hpp), fitted to what was measured on two nodes (signature.hpp), and how well
// they predict three programs of the same job that were not fitted: a burst of requests that are answered, a payload longer than those
// of the fit, and a program in phases on both nodes.
//
// Every repetition is a new job.

#include <am/am.hpp>
#include <am/logp.hpp>

#include <array>
#include <string>

#include "job.hpp"
#include "measure.hpp"
#include "signature.hpp"

namespace ambench::logp {

namespace {

constexpr std::uint64_t burst_requests = 64;
constexpr std::size_t long_payload_bytes = 65536;
constexpr std::uint64_t phase_messages = 16;
constexpr double phase_round_trips = 4;  // of computation

struct Number {
  const char* name;
  const char* label;
  double am::logp::Network::*of;
};
constexpr std::array<Number, 5> numbers{
    {{"o_send_ns", "o_send: busy with a send", &am::logp::Network::o_send},
     {"o_recv_ns", "o_recv: busy with a receive", &am::logp::Network::o_recv},
     {"latency_ns", "L: in between; below 0 where sends deliver", &am::logp::Network::latency},
     {"gap_ns", "g: between requests of a burst, which are answered", &am::logp::Network::gap},
     {"gap_per_byte_ns", "G: a byte of payload", &am::logp::Network::gap_per_byte}}};

struct Program {
  const char* name;
  const char* title;
};
constexpr std::array<Program, 3> programs{
    {{"burst", "64 requests, to the last reply"},
     {"payload", "payload of 65536 bytes, half round trip"},
     {"phase", "phase on both nodes: 4 round trips of computation, 16 messages each way"}}};

void say_program(const std::string& name, double measured_ns, double predicted_ns) {
  say_figure(name + "/measured_ns", measured_ns);
  say_figure(name + "/predicted_ns", predicted_ns);
}

void say_programs(Signature& signature, const am::logp::Network& network) {
  using namespace am::logp;
  say_program("burst", signature.answered_burst_ns(burst_requests),
              answered_burst(network, static_cast<double>(burst_requests)));
  say_program("payload", signature.round_trip_ns(long_payload_bytes) / 2,
              one_way(network, static_cast<double>(long_payload_bytes)));
  const double computation_ns = phase_round_trips * round_trip(network);
  const Phase phase{.computation = computation_ns, .messages = static_cast<double>(phase_messages)};
  say_program("phase", signature.phase_ns(computation_ns, phase_messages),
              execution_time(phase, overheads_of(network)));
}

void run_node(am::Node& node, std::span<const std::string>) {
  SignatureState state;
  node.attach(state);
  say_place(node);
  node.barrier();
  if (node.id() == 0) {
    Signature signature(node, state);
    const am::logp::Network network = am::logp::fit(signature.samples());
    for (const Number& number : numbers) say_figure(number.name, network.*number.of);
    say_programs(signature, network);
    signature.stop();
  } else {
    answer_signature(node, state);
  }
  node.barrier();
}

Report measure_logp(const Options& options) {
  Report report = report_of(measure, options, 2);
  const Series series = measure_pairs(measure, options, report);
  Row& fitted = report.rows.emplace_back("short messages of a word, payloads of 4 to 32 KiB");
  fitted.key("what", "network");
  for (const Number& number : numbers) fitted.figure(number.name, number.label, series.at(number.name));
  for (const Program& program : programs) {
    const std::string prefix = std::string(program.name) + "/";
    const std::vector<double>& measured = series.at(prefix + "measured_ns");
    const std::vector<double>& predicted = series.at(prefix + "predicted_ns");
    Row& row = report.rows.emplace_back(program.title);
    row.key("what", program.name);
    row.figure("measured_ns", "measured", measured);
    row.figure("predicted_ns", "predicted by these numbers", predicted);
    row.figure("predicted_to_measured_ratio", "  predicted / measured", ratios(predicted, measured));
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "logp",
    .meaning = "LogP's numbers of a transport, and how well they predict",
    .measure = measure_logp,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::logp
