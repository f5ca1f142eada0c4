#include "emulated_hw/kit/waits.hpp"

#include <algorithm>
#include <utility>

namespace am::kit {

void Waits::add(std::string place, std::string line, std::vector<std::string> behind) {
  by_place_.emplace(place, all_.size());
  all_.push_back({std::move(place), std::move(line), std::move(behind)});
}

/// Depth first: whoever is met again on the way that led to it closes a circle.
std::vector<std::string> Waits::circle() const {
  struct Step {
    std::size_t one;
    std::size_t next = 0;  // of those that it waits for
  };
  std::vector<bool> seen(all_.size());
  for (std::size_t first = 0; first < all_.size(); ++first) {
    std::vector<Step> way;
    if (!seen[first]) way.push_back({first});
    seen[first] = true;
    while (!way.empty()) {
      Step& here = way.back();
      const One& one = all_[here.one];
      if (here.next == one.behind.size()) {
        way.pop_back();
        continue;
      }
      const auto found = by_place_.find(one.behind[here.next++]);
      if (found == by_place_.end()) continue;
      const std::size_t there = found->second;
      const auto met = std::ranges::find(way, there, &Step::one);
      if (met != way.end()) {
        std::vector<std::string> circle;
        for (auto step = met; step != way.end(); ++step) circle.push_back(all_[step->one].place);
        circle.push_back(circle.front());
        return circle;
      }
      if (!seen[there]) way.push_back({there});
      seen[there] = true;
    }
  }
  return {};
}

std::string Waits::text() const {
  std::string text;
  for (const std::string& place : circle()) text += (text.empty() ? "a circle: " : " -> ") + place;
  if (!text.empty()) text += '\n';
  for (const One& one : all_) text += one.line + '\n';
  return text;
}

}  // namespace am::kit
