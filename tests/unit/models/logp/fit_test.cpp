// Numbers of networks found again in series that were made of them: a model of a sender, with noise from a seed.
#include <gmock/gmock.h>
#include <am/logp/fit.hpp>

#include <functional>
#include <limits>

#include "support/random.hpp"

namespace am::logp::fit_test {

using testing::HasSubstr;

// Time to send a burst on a network that gives way once in each gap: after each request its delay, then the replies that have come.
double time_of_burst(const Network& network, int requests, double delay) {
  double now = 0;
  double gives_way = 0;
  std::vector<double> replies;
  std::size_t handled = 0;
  for (int sent = 0; sent < requests; ++sent) {
    now += network.o_send;
    gives_way = std::max(gives_way + network.gap, now);
    replies.push_back(gives_way - network.o_send + round_trip(network) - network.o_recv);
    now += delay;
    // No more requests are on their way than fit into one round trip, and a queue of four.
    const double window = 4 + round_trip(network) / interval(network);
    while (static_cast<double>(replies.size() - handled) > window) {
      now = std::max(now, replies[handled]) + network.o_recv;
      ++handled;
    }
    for (; handled < replies.size() && replies[handled] <= now; ++handled) now += network.o_recv;
  }
  return now;
}

Samples samples_of(const Network& network) {
  Samples samples;
  for (const double bytes : {0.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0})
    samples.round_trips.push_back({bytes, round_trip(network, bytes, bytes)});
  const auto add = [&](int requests, double delay) {
    samples.bursts.push_back({static_cast<double>(requests), delay, time_of_burst(network, requests, delay)});
  };
  for (const int requests : {1, 2, 3, 4, 8, 128, 256, 512}) add(requests, 0);
  for (const double trips : {0.5, 1.0, 2.0, 4.0})
    for (const int requests : {32, 64, 128}) add(requests, trips * round_trip(network));
  return samples;
}

// Every time up to `part` longer, one in 20 five times as long: the kernel had something else to do.
void disturb(Samples& samples, double part, test::Random& random) {
  const auto noise = [&](double& time) {
    time *= 1 + part * static_cast<double>(random.below(1000)) / 1000;
    if (random.one_in(20)) time *= 5;
  };
  for (Samples::RoundTrip& sample : samples.round_trips) noise(sample.time);
  for (Samples::Burst& sample : samples.bursts) noise(sample.time);
}

void expect_close(const Network& fitted, const Network& truth, double part) {
  const double trip = round_trip(truth);
  EXPECT_NEAR(fitted.o_send, truth.o_send, part * trip);
  EXPECT_NEAR(fitted.o_recv, truth.o_recv, part * trip);
  EXPECT_NEAR(fitted.latency, truth.latency, part * trip);
  EXPECT_NEAR(fitted.gap, truth.gap, part * truth.gap);
  EXPECT_NEAR(fitted.gap_per_byte, truth.gap_per_byte, part * truth.gap_per_byte);
}

const std::vector<Network> networks{
    {.o_send = 8, .o_recv = 20, .latency = 40, .gap = 30, .gap_per_byte = 0.05},  // shared memory, in ns
    {.o_send = 300, .o_recv = 900, .latency = 3000, .gap = 1500, .gap_per_byte = 0.2},  // sockets
    {.o_send = 5, .o_recv = 5, .latency = 30, .gap = 10, .gap_per_byte = 1},  // a machine, in cycles
    // Culler's workstations
    {.o_send = 2900, .o_recv = 3100, .latency = 4000, .gap = 12'000, .gap_per_byte = 20},
};

TEST(Fit, FindsTheNumbersThatTheSeriesAreMadeOf) {
  for (const Network& network : networks) {
    SCOPED_TRACE(network.o_send);
    expect_close(fit(samples_of(network)), network, 0.02);
  }
}

TEST(Fit, NoiseMovesThemLittle) {
  test::Random random(test::seed());
  for (const Network& network : networks) {
    SCOPED_TRACE(network.o_send);
    Samples samples;
    for (int times = 0; times < 30; ++times) {
      Samples more = samples_of(network);
      disturb(more, 0.02, random);
      samples.round_trips.insert(samples.round_trips.end(), more.round_trips.begin(), more.round_trips.end());
      samples.bursts.insert(samples.bursts.end(), more.bursts.begin(), more.bursts.end());
    }
    expect_close(fit(samples), network, 0.15);
  }
}

// Where a message is there before its send returns, the numbers give the round trip all the same.
TEST(Fit, LatencyIsWhatOverheadsLeave) {
  Samples samples = samples_of(networks[1]);
  for (Samples::RoundTrip& sample : samples.round_trips) sample.time = 2000 + sample.bytes;
  const Network network = fit(samples);
  EXPECT_NEAR(network.latency, 1000 - 300 - 900, 1);
  EXPECT_NEAR(round_trip(network), 2000, 1e-9);
}

std::string refusal_of(const std::function<void(Samples&)>& spoil) {
  Samples samples = samples_of(networks[0]);
  spoil(samples);
  try {
    (void)fit(samples);
  } catch (const Error& error) {
    EXPECT_EQ(error.what_failed(), "fit a network");
    EXPECT_FALSE(error.remedy().empty());
    return error.what();
  }
  return "none";
}

TEST(Fit, SaysWhatIsMissing) {
  EXPECT_EQ(refusal_of([](Samples&) {}), "none");
  EXPECT_THAT(refusal_of([](Samples& samples) { samples.round_trips.erase(samples.round_trips.begin()); }),
              HasSubstr("at round trips: none is of short messages (measure one of 0 bytes of payload)"));
  EXPECT_THAT(refusal_of([](Samples& samples) { samples.round_trips.resize(2); }),
              HasSubstr("at lengths of payloads: it takes two different ones"));
  const auto without = [](const std::function<bool(const Samples::Burst&)>& such) {
    return refusal_of([&](Samples& samples) { std::erase_if(samples.bursts, such); });
  };
  EXPECT_THAT(without([](const auto& burst) { return burst.requests < 32; }),
              HasSubstr("bursts that end before a reply is back"));
  EXPECT_THAT(without([](const auto& burst) { return burst.requests > 8 && burst.delay == 0; }),
              HasSubstr("bursts that last for four round trips"));
  EXPECT_THAT(without([](const auto& burst) { return burst.delay > 0; }),
              HasSubstr("measure some with longer delays"));
}

TEST(Fit, NamesTheSampleThatCannotBe) {
  const double infinite = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double time : {0.0, -1.0, infinite, nan}) {
    EXPECT_THAT(refusal_of([&](Samples& samples) { samples.round_trips[1].time = time; }),
                HasSubstr("at round trip of 1024.0"));
    EXPECT_THAT(refusal_of([&](Samples& samples) { samples.bursts[0].time = time; }),
                HasSubstr("at burst of 1.0"));
  }
  for (const double length : {-1.0, infinite, nan}) {
    EXPECT_THAT(refusal_of([&](Samples& samples) { samples.round_trips[1].bytes = length; }),
                HasSubstr("it has taken"));
    EXPECT_THAT(refusal_of([&](Samples& samples) { samples.bursts[0].delay = length; }),
                HasSubstr("it has taken"));
  }
  EXPECT_THAT(refusal_of([](Samples& samples) { samples.bursts[0].requests = 0; }),
              HasSubstr("at burst of 0.0"));
}

}  // namespace am::logp::fit_test
