#include "signature.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "timing.hpp"

namespace ambench {

namespace {

using am::logp::Samples;
using State = SignatureState;

constexpr double series_time_ns = 10e6;  // of one kind of burst
constexpr std::array<std::size_t, 5> payload_sizes{0, 4096, 8192, 16384, 32768};
constexpr std::array<std::uint64_t, 5> short_bursts{1, 2, 3, 4, 8};
constexpr std::array<std::uint64_t, 3> delayed_bursts{8, 16, 32};
constexpr std::array<double, 3> delays_in_round_trips{1.5, 3, 6};
constexpr std::size_t least_samples = 25;  // of one kind
constexpr std::uint64_t trial_burst = 128;
constexpr double trips_of_a_long_burst = 4;
constexpr std::uint64_t phases_in_turn = 16;

// As many instructions at once as the processor takes: where a program leaves it idle, messages cost it less than they do here.
// The same instructions wherever it is called.
[[gnu::noinline]] void compute_densely(std::uint64_t iterations) {
  std::array<std::uint64_t, 4> values{1, 2, 3, 4};
  for (std::uint64_t i = 0; i < iterations; ++i) {
    for (std::uint64_t& x : values) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      asm volatile("" : "+r"(x));
    }
  }
}

void run_phases(am::Node& node, State& state, am::NodeId other) {
  for (; state.phases > 0; --state.phases) {
    state.awaited += state.messages_in_phase;
    for (std::uint64_t i = 0; i < state.messages_in_phase; ++i) {
      compute_densely(state.iterations_in_message);
      node.request<&State::take>(other, i);
      node.poll();
    }
    node.wait_until([&] { return state.taken >= state.awaited; });
  }
}

// Of times of which some are those of others that had the processor. Not the least, as the counter's steps may be long (10 ns) beside
// what is measured.
double mean_of_faster_half(std::vector<double> values) {
  const auto half = static_cast<std::ptrdiff_t>((values.size() + 1) / 2);
  std::ranges::nth_element(values, values.begin() + half - 1);
  return std::accumulate(values.begin(), values.begin() + half, 0.0) / static_cast<double>(half);
}

// What `measure` gives, again and again for a while.
template <typename F>
double typical_of_many(F&& measure) {
  std::vector<double> values;
  for (const double end = now_ns() + series_time_ns; now_ns() < end || values.size() < least_samples;)
    values.push_back(measure());
  return mean_of_faster_half(std::move(values));
}

}  // namespace

Signature::Signature(am::Node& node, SignatureState& state)
    : node_(node), state_(state), ns_per_tick_(ns_per_tick()), tick_overhead_(tick_overhead()) {}

double Signature::ns_between(std::uint64_t begin, std::uint64_t end) const {
  return std::max(1.0, static_cast<double>(end - begin) - tick_overhead_) * ns_per_tick_;
}

double Signature::round_trip_ns(std::size_t payload_bytes) {
  const int count = payload_bytes == 0 ? 20 : 2;
  const std::vector<std::byte> payload(payload_bytes);
  const auto round_trips = [&] {
    const std::uint64_t begin = ticks();
    for (int i = 0; i < count; ++i) {
      const std::uint64_t expected = state_.replies + 1;
      if (payload.empty()) {
        node_.request<&State::ask>(1, expected);
      } else {
        node_.request<&State::ask_with>(1, payload);
      }
      node_.wait_until([&] { return state_.replies == expected; });
    }
    return ns_between(begin, ticks()) / count;
  };
  (void)median_batch_ns(round_trips, warm_up_ns);
  return typical_of_many(round_trips);
}

Signature::Times Signature::burst(std::uint64_t requests, std::uint64_t iterations) {
  const std::uint64_t expected = state_.replies + requests;
  const std::uint64_t begin = ticks();
  for (std::uint64_t i = 0; i < requests; ++i) {
    node_.request<&State::ask>(1, i);
    compute_densely(iterations);
    node_.poll();
  }
  const std::uint64_t sent = ticks();
  node_.wait_until([&] { return state_.replies == expected; });
  const std::uint64_t answered = ticks();
  return {.sent_ns = ns_between(begin, sent), .answered_ns = ns_between(begin, answered)};
}

double Signature::answered_burst_ns(std::uint64_t requests) {
  return typical_of_many([&] { return burst(requests, 0).answered_ns; });
}

// Of one of several computations. Where processors share a core it depends on what the other node does, which polls meanwhile.
double Signature::computation_once_ns(std::uint64_t iterations) const {
  constexpr int count = 8;
  const std::uint64_t begin = ticks();
  for (int i = 0; i < count; ++i) compute_densely(iterations);
  return ns_between(begin, ticks()) / count;
}

std::uint64_t Signature::iterations_in(double time_ns) const {
  constexpr std::uint64_t trial = 1000;
  const double trial_ns = typical_of_many([&] { return computation_once_ns(trial); });
  return 1 + static_cast<std::uint64_t>(time_ns * static_cast<double>(trial) / trial_ns);
}

// In turn, so that what else the machine does is in all of them, and each delay as long as it was then.
void Signature::add_bursts(std::span<const std::uint64_t> lengths, std::uint64_t iterations,
                           Samples& samples) {
  std::vector<std::vector<double>> times(lengths.size());
  std::vector<double> delays;
  for (const double end = now_ns() + series_time_ns; now_ns() < end || delays.size() < least_samples;) {
    for (std::size_t i = 0; i < lengths.size(); ++i)
      times[i].push_back(burst(lengths[i], iterations).sent_ns);
    delays.push_back(iterations > 0 ? computation_once_ns(iterations) : 0);
  }
  const double delay = mean_of_faster_half(std::move(delays));
  for (std::size_t i = 0; i < lengths.size(); ++i)
    samples.bursts.push_back(
        {static_cast<double>(lengths[i]), delay, mean_of_faster_half(std::move(times[i]))});
}

Samples Signature::samples() {
  Samples samples;
  for (const std::size_t bytes : payload_sizes)
    samples.round_trips.push_back({static_cast<double>(bytes), round_trip_ns(bytes)});
  const double round_trip = samples.round_trips.front().time;
  add_bursts(short_bursts, 0, samples);
  const double trial_ns = typical_of_many([&] { return burst(trial_burst, 0).sent_ns; });
  const auto trials = static_cast<std::uint64_t>(1 + trips_of_a_long_burst * round_trip / trial_ns);
  add_bursts(std::array{trial_burst * trials, trial_burst * trials * 2, trial_burst * trials * 3}, 0,
             samples);
  for (const double round_trips : delays_in_round_trips)
    add_bursts(delayed_bursts, iterations_in(round_trips * round_trip), samples);
  return samples;
}

double Signature::phase_ns(double computation_ns, std::uint64_t messages) {
  const std::uint64_t iterations = iterations_in(computation_ns / static_cast<double>(messages));
  const double all_ns = typical_of_many([&] {
    const double begin = now_ns();
    node_.request<&State::begin_phases>(1, phases_in_turn, messages, iterations);
    state_.begin_phases_here(phases_in_turn, messages, iterations);
    run_phases(node_, state_, 1);
    return now_ns() - begin;
  });
  return all_ns / static_cast<double>(phases_in_turn);
}

void answer_signature(am::Node& node, State& state) {
  while (!state.stopped) {
    node.wait_until([&] { return state.stopped || state.phases > 0; });
    run_phases(node, state, 0);
  }
}

}  // namespace ambench
