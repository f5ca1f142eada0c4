#include "emulated_hw/mmachine/costs/table_6_4.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/mmachine/costs/interface_model.hpp"

namespace am::mmachine::costs {

namespace {

constexpr std::size_t ping_column = 0;
constexpr std::size_t rpc_column = 1;
constexpr std::size_t dist_column = 2;

using Entry = std::pair<std::string_view, std::size_t>;

// parameters.hpp says which number.
constexpr std::array<Entry, 5> calibrated_on{{{"MM", ping_column},
                                              {"MM", dist_column},
                                              {"IMS", ping_column},
                                              {"ERB", ping_column},
                                              {"SWX", rpc_column}}};

std::vector<double> ranks(std::span<const double> values) {
  std::vector<double> result;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto equal = std::ranges::count(values, value);
    result.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return result;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double middle_a = mean(a);
  const double middle_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - middle_a) * (b[i] - middle_b);
  return sum;
}

}  // namespace

Standing standing(std::size_t model, std::size_t program) noexcept {
  const Entry entry{table_6_4[model].model, program};
  if (std::ranges::find(calibrated_on, entry) != calibrated_on.end()) return Standing::calibrated;
  return model < basic_models || program == dist_column ? Standing::in_view : Standing::predicted;
}

bool in_band(std::size_t model, double printed, double here) noexcept {
  return std::abs(here / printed - 1) <= band(model);
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.empty())
    throw std::invalid_argument("two columns of different lengths, or none");
  const std::vector<double> ranks_a = ranks(a);
  const std::vector<double> ranks_b = ranks(b);
  return covariance(ranks_a, ranks_b) /
         std::sqrt(covariance(ranks_a, ranks_a) * covariance(ranks_b, ranks_b));
}

std::size_t model_index(std::string_view name) {
  for (std::size_t i = 0; i < interface_models.size(); ++i) {
    if (interface_models[i].name == name) return i;
  }
  throw std::out_of_range("no message interface is called " + std::string(name));
}

}  // namespace am::mmachine::costs
