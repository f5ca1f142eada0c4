#include "transports/faults/plan.hpp"

#include <algorithm>
#include <am/error.hpp>
#include <charconv>
#include <string>
#include <vector>

namespace am::faults {

namespace {

constexpr const char* accepted_form =
    "AM_FAULTS is like seed=7,refuse=0.1,delay=0.05,reorder=0.2,kill=1@1000: probabilities from 0 to 1, "
    "kill=NODE@COMMIT counts a node's commits from 1, each part at most once";

template <class T>
bool read_number(std::string_view text, T& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_probability(std::string_view text, double& value) noexcept {
  return read_number(text, value) && value >= 0 && value <= 1;  // not a number fails both
}

bool read_kill(std::string_view text, std::optional<Kill>& kill) noexcept {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return false;
  kill.emplace();
  return read_number(text.substr(0, at), kill->node) && read_number(text.substr(at + 1), kill->commit) &&
         kill->commit != 0;
}

bool read_part(std::string_view key, std::string_view value, Plan& plan) noexcept {
  if (key == "seed") return read_number(value, plan.seed);
  if (key == "refuse") return read_probability(value, plan.refuse);
  if (key == "delay") return read_probability(value, plan.delay);
  if (key == "reorder") return read_probability(value, plan.reorder);
  if (key == "kill") return read_kill(value, plan.kill);
  return false;
}

[[noreturn]] void malformed(std::string_view part, const char* why) {
  throw Error("read the fault plan", "\"" + std::string(part) + "\" " + why, accepted_form);
}

}  // namespace

Plan parse_plan(std::string_view text) {
  Plan plan;
  std::vector<std::string_view> seen;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::string_view key = part.substr(0, part.find('='));
    if (key.size() == part.size() || !read_part(key, part.substr(key.size() + 1), plan))
      malformed(part, "is no part of a fault plan");
    if (std::ranges::find(seen, key) != seen.end()) malformed(key, "is given twice");
    seen.push_back(key);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) malformed("", "after the last comma is no part of a fault plan");
  }
  return plan;
}

}  // namespace am::faults
