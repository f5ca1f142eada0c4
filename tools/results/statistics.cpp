#include "results/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace results {

Summary summarize(std::vector<double> samples) {
  if (samples.empty()) throw std::logic_error("a figure without a single repetition");
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const double median =
      samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {samples.front(), median, samples.back()};
}

double percentile(std::vector<double> samples, int percent) {
  if (samples.empty()) throw std::logic_error("a percentile of nothing");
  if (percent <= 0 || percent > 100) throw std::logic_error("a percentile of which there is none");
  const std::size_t many = (samples.size() * static_cast<std::size_t>(percent) + 99) / 100;  // rounded up
  const auto place = samples.begin() + static_cast<std::ptrdiff_t>(many - 1);
  std::nth_element(samples.begin(), place, samples.end());
  return *place;
}

Spread spread_of(const std::vector<double>& samples) {
  return {percentile(samples, 50), percentile(samples, 99), percentile(samples, 100)};
}

std::vector<double> ratios(const std::vector<double>& numerator, const std::vector<double>& denominator) {
  if (numerator.size() != denominator.size()) {
    throw std::logic_error("a ratio of two figures that were not measured in the same repetitions");
  }
  std::vector<double> quotients(numerator.size());
  for (std::size_t i = 0; i < numerator.size(); ++i) quotients[i] = numerator[i] / denominator[i];
  return quotients;
}

std::string rounded(double value) {
  const double size = value < 0 ? -value : value;
  const int decimals = size >= 999.5 ? 0 : size >= 99.95 ? 1 : size >= 0.9995 ? 2 : 3;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string counted(double value) {
  constexpr double most_exact = 1e15;
  const bool whole = value == std::floor(value) && std::abs(value) < most_exact;
  return whole ? std::to_string(static_cast<long long>(value)) : rounded(value);
}

Figures figures_of(const std::string& name, const Spread& times_ns) {
  return {{name + "_ns", times_ns.median},
          {name + "_p99_ns", times_ns.p99},
          {name + "_longest_ns", times_ns.longest}};
}

void Series::add(const Figures& repetition) {
  for (const auto& [name, value] : repetition) add(name, value);
}

const std::vector<double>& Series::at(const std::string& name) const {
  const auto found = samples_.find(name);
  if (found == samples_.end()) throw std::runtime_error("no repetition measured '" + name + "'");
  return found->second;
}

}  // namespace results
