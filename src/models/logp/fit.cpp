#include <am/logp/fit.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace am::logp {

namespace {

constexpr double round_trips_of_a_long_burst = 4;

struct Point {
  double x;
  double y;
};

[[noreturn]] void refuse(const std::string& where, const std::string& why, const std::string& remedy) {
  throw Error("fit a network", where, why, remedy);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Nothing where all points have one x.
std::vector<double> slopes_between(const std::vector<Point>& points) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (points[i].x != points[j].x)
        slopes.push_back((points[i].y - points[j].y) / (points[i].x - points[j].x));
    }
  }
  return slopes;
}

double slope_of(const std::vector<Point>& points, const std::string& what, const std::string& remedy) {
  std::vector<double> slopes = slopes_between(points);
  if (slopes.empty()) refuse(what, "it takes two different ones", remedy);
  return median_of(std::move(slopes));
}

// -- what cannot have been measured

bool is_time(double value) { return std::isfinite(value) && value > 0; }
bool is_length(double value) { return std::isfinite(value) && value >= 0; }

void check(const Samples& samples) {
  const std::string remedy = "times are positive numbers, lengths are not negative";
  for (const Samples::RoundTrip& sample : samples.round_trips) {
    if (!is_time(sample.time) || !is_length(sample.bytes))
      refuse("round trip of " + std::to_string(sample.bytes) + " bytes",
             "it has taken " + std::to_string(sample.time), remedy);
  }
  for (const Samples::Burst& sample : samples.bursts) {
    if (!is_time(sample.time) || !is_length(sample.delay) || !is_length(sample.requests) ||
        sample.requests < 1)
      refuse("burst of " + std::to_string(sample.requests) + " requests with a delay of " +
                 std::to_string(sample.delay),
             "it has taken " + std::to_string(sample.time), remedy);
  }
}

// -- round trips

double short_round_trip(const Samples& samples) {
  std::vector<double> times;
  for (const Samples::RoundTrip& sample : samples.round_trips)
    if (sample.bytes == 0) times.push_back(sample.time);
  if (times.empty()) refuse("round trips", "none is of short messages", "measure one of 0 bytes of payload");
  return median_of(std::move(times));
}

double gap_per_byte(const Samples& samples) {
  std::vector<Point> points;
  for (const Samples::RoundTrip& sample : samples.round_trips)
    if (sample.bytes > 0) points.push_back({sample.bytes, sample.time / 2});
  return slope_of(points, "lengths of payloads", "measure round trips of two lengths or more");
}

// -- bursts

class Bursts {
 public:
  Bursts(const std::vector<Samples::Burst>& bursts, double round_trip)
      : bursts_(bursts), round_trip_(round_trip) {}

  // Of bursts that are over in half of a round trip, before a reply can be back. On some networks not even one is, as sends deliver;
  // but that one has seen none, and none at all takes no time.
  [[nodiscard]] double o_send() const {
    std::vector<Point> points{{0, 0}};
    for (const Samples::Burst& burst : bursts_)
      if (burst.delay == 0 && (burst.requests <= 1 || burst.time < round_trip_ / 2))
        points.push_back({burst.requests, burst.time});
    if (points.size() == 1)
      refuse("bursts that end before a reply is back", "there are none",
             "measure bursts of 1, 2 and 4 requests without a delay");
    return median_of(slopes_between(points));
  }
  [[nodiscard]] double gap() const {
    std::vector<Point> points;
    for (const Samples::Burst& burst : bursts_)
      if (burst.delay == 0 && is_long(burst)) points.push_back({burst.requests, burst.time});
    return slope_of(points, "lengths of bursts that last for four round trips",
                    "measure bursts of some hundred requests without a delay");
  }
  // What the processor does for a request and its reply where it waits for neither: a network that carries one at a time has the reply
  // back after a round trip.
  [[nodiscard]] double busy() const {
    std::map<double, std::vector<Point>> by_delay;
    for (const Samples::Burst& burst : bursts_)
      if (burst.delay >= round_trip_ && is_long(burst))
        by_delay[burst.delay].push_back({burst.requests, burst.time});
    std::vector<double> busy_times;
    for (const auto& [delay, points] : by_delay) {
      for (const double slope : slopes_between(points)) busy_times.push_back(slope - delay);
    }
    if (busy_times.empty())
      refuse("bursts with a delay",
             "no two lengths last for four round trips with a delay of a round trip or more",
             "measure some with longer delays");
    return median_of(std::move(busy_times));
  }

 private:
  [[nodiscard]] bool is_long(const Samples::Burst& burst) const {
    return burst.time >= round_trips_of_a_long_burst * round_trip_;
  }

  const std::vector<Samples::Burst>& bursts_;
  double round_trip_;
};

// A sum of differences of measured times: noise may leave it below.
double not_negative(double time) { return std::max(0.0, time); }

}  // namespace

Network fit(const Samples& samples) {
  check(samples);
  const double round_trip = short_round_trip(samples);
  const Bursts bursts(samples.bursts, round_trip);
  Network network;
  network.o_send = not_negative(bursts.o_send());
  network.gap = not_negative(bursts.gap());
  network.o_recv = not_negative(bursts.busy() - network.o_send);
  network.latency = round_trip / 2 - network.o_send - network.o_recv;
  network.gap_per_byte = not_negative(gap_per_byte(samples));
  return network;
}

}  // namespace am::logp
