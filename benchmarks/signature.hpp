// The series from which am/logp/fit.hpp finds a network's five numbers, and programs whose times those predict: what node 0 of two
// measures, while node 1 answers. As in Culler and others, "Assessing Fast Network Interfaces", 1996: bursts of requests, computation
// after each, and a poll, in which the replies that have come are handled.

#pragma once

#include <am/logp.hpp>
#include <am/node.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ambench {

// What both nodes attach.
struct SignatureState {
  std::uint64_t replies = 0;
  std::uint64_t taken = 0;
  std::uint64_t awaited = 0;  // of `taken`; the other node may be ahead
  std::uint64_t phases = 0;   // asked for
  std::uint64_t messages_in_phase = 0;
  std::uint64_t iterations_in_message = 0;
  bool stopped = false;

  void ask(am::Request& request, std::uint64_t word) { request.reply<&SignatureState::answer>(word); }
  void answer(am::Reply&, std::uint64_t) { ++replies; }
  void ask_with(am::Request& request, am::Payload payload) {
    request.reply<&SignatureState::answer_with>(payload);
  }
  void answer_with(am::Reply&, am::Payload) { ++replies; }
  void take(am::Request&, std::uint64_t) { ++taken; }
  void begin_phases(am::Request&, std::uint64_t count, std::uint64_t messages, std::uint64_t iterations) {
    begin_phases_here(count, messages, iterations);
  }
  void begin_phases_here(std::uint64_t count, std::uint64_t messages, std::uint64_t iterations) {
    phases += count;  // the last one of before may still be under way
    messages_in_phase = messages;
    iterations_in_message = iterations;
  }
  void stop(am::Request&) { stopped = true; }
};

// Node 0. Times are in ns, typical ones of many.
class Signature {
 public:
  Signature(am::Node& node, SignatureState& state);

  // All that fit() takes, as long as this network needs it to be.
  [[nodiscard]] am::logp::Samples samples();

  // There and back again; 0 bytes are a word of 8.
  double round_trip_ns(std::size_t payload_bytes);
  // To the handler of the last reply.
  double answered_burst_ns(std::uint64_t requests);
  // A phase of a program on both nodes: each sends the other a message after each part of its computation, polls, and waits at the end
  // for as many.
  double phase_ns(double computation_ns, std::uint64_t messages);
  void stop() { node_.request<&SignatureState::stop>(1); }

 private:
  struct Times {
    double sent_ns;
    double answered_ns;
  };
  Times burst(std::uint64_t requests, std::uint64_t iterations);
  [[nodiscard]] double computation_once_ns(std::uint64_t iterations) const;
  [[nodiscard]] std::uint64_t iterations_in(double time_ns) const;
  void add_bursts(std::span<const std::uint64_t> lengths, std::uint64_t iterations,
                  am::logp::Samples& samples);
  [[nodiscard]] double ns_between(std::uint64_t begin, std::uint64_t end) const;

  am::Node& node_;
  SignatureState& state_;
  double ns_per_tick_;
  double tick_overhead_;
};

// Node 1, until node 0 stops it.
void answer_signature(am::Node& node, SignatureState& state);

}  // namespace ambench
