// What a figure of a report is: minimum, median and maximum over repetitions; ratios of two figures that were measured in
// turn, formed repetition by repetition, because the speed of a machine drifts between them; and the high end of what one
// repetition saw, which the median hides.

#pragma once

#include <map>
#include <string>
#include <vector>

namespace results {

struct Summary {
  double min;
  double median;
  double max;
};

// `samples` must not be empty.
Summary summarize(std::vector<double> samples);
// Of what is the same in every run.
inline Summary exactly(double value) { return {value, value, value}; }

// The least of the samples that `percent` in a hundred of them are no greater than: the median for 50, the greatest for 100.
// `samples` must not be empty, and `percent` be above 0 and up to 100.
double percentile(std::vector<double> samples, int percent);

// What one repetition saw of a time that varies. Of fewer than 100 samples `p99` is the longest.
struct Spread {
  double median;
  double p99;  // 99 of 100 are no longer
  double longest;
};

// `samples` must not be empty.
Spread spread_of(const std::vector<double>& samples);

// numerator[i] / denominator[i]; both hold one value per repetition.
std::vector<double> ratios(const std::vector<double>& numerator, const std::vector<double>& denominator);

// Four digits that mean something, never an exponent.
std::string rounded(double value);

// The same, but whole numbers without decimals.
std::string counted(double value);

// What one repetition measured: figures by name.
using Figures = std::map<std::string, double>;

// NAME_ns, NAME_p99_ns and NAME_longest_ns.
Figures figures_of(const std::string& name, const Spread& times_ns);

// The same names, repetition after repetition.
class Series {
 public:
  void add(const Figures& repetition);
  void add(const std::string& name, double value) { samples_[name].push_back(value); }
  [[nodiscard]] bool has(const std::string& name) const { return samples_.contains(name); }
  // Throws std::runtime_error naming the figure when nothing of that name was measured.
  [[nodiscard]] const std::vector<double>& at(const std::string& name) const;

 private:
  std::map<std::string, std::vector<double>> samples_;
};

}  // namespace results
