#include "amsim/machines.hpp"

namespace amsim {

namespace {

void check_range(const std::string& what, bool is_within, unsigned least, unsigned most) {
  if (!is_within)
    throw UsageError(what + " to be from " + std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

std::vector<Rectangle> rectangles(const Parameters& parameters, const std::string& width,
                                  const std::string& height, unsigned most) {
  const auto is_within = [=](unsigned extent) { return extent >= 1 && extent <= most; };
  std::vector<Rectangle> all;
  for (const unsigned across : parameters[width].numbers<unsigned>()) {
    for (const unsigned down : parameters[height].numbers<unsigned>()) {
      check_range(width + " and " + height + " have", is_within(across) && is_within(down), 1, most);
      if (across * down == 1) throw UsageError(width + "=1 " + height + "=1 has no network");
      all.push_back({across, down});
    }
  }
  return all;
}

std::vector<unsigned> sizes(const Parameters& parameters, const std::string& name, unsigned least,
                            unsigned most) {
  std::vector<unsigned> all = parameters[name].numbers<unsigned>();
  for (const unsigned size : all) check_range(name + " has", size >= least && size <= most, least, most);
  return all;
}

std::vector<unsigned> distances_to(unsigned farthest) {
  std::vector<unsigned> all;
  for (unsigned each = 1; each < farthest; each *= 2) all.push_back(each);
  all.push_back(farthest);
  return all;
}

std::string plural(unsigned count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

}  // namespace amsim
