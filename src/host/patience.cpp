#include "host/patience.hpp"

#include <algorithm>
#include <climits>

#include "host/clock.hpp"

namespace am::host {

Wait::Wait(const Patience& patience)
    : patience_(patience),
      began_ns_(monotonic_ns()),
      reported_(patience.report_after_ns == 0 || !patience.report) {}

std::uint64_t Wait::so_far_ns() const noexcept { return monotonic_ns() - began_ns_; }

bool Wait::is_over() const noexcept {
  return patience_.timeout_ns != 0 && so_far_ns() >= patience_.timeout_ns;
}

void Wait::remind(const std::function<std::string()>& whom) {
  if (reported_ || so_far_ns() < patience_.report_after_ns) return;
  reported_ = true;
  patience_.report("waits for " + whom() + " since " + in_seconds(so_far_ns()));
}

int Wait::left_ms(int most_ms) const noexcept {
  const std::uint64_t until = std::min(reported_ ? UINT64_MAX : patience_.report_after_ns,
                                       patience_.timeout_ns == 0 ? UINT64_MAX : patience_.timeout_ns);
  if (until == UINT64_MAX) return most_ms;
  const std::uint64_t left = until - std::min(so_far_ns(), until);
  const int ms = static_cast<int>(std::min<std::uint64_t>(left / 1'000'000 + 1, INT_MAX));
  return most_ms < 0 ? ms : std::min(ms, most_ms);
}

std::string in_seconds(std::uint64_t duration_ns) {
  constexpr std::uint64_t second = 1'000'000'000;
  if (duration_ns >= second) return std::to_string(duration_ns / second) + " s";
  return "0." + std::to_string(duration_ns * 10 / second) + " s";
}

std::string name_nodes(std::span<const NodeId> nodes) {
  constexpr std::size_t most = 8;
  std::string text = nodes.size() == 1 ? "node " : "nodes ";
  const std::size_t named = nodes.size() <= most + 1 ? nodes.size() : most;
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == nodes.size() ? " and " : ", ";
    text += std::to_string(nodes[i]);
  }
  if (named < nodes.size()) text += " and " + std::to_string(nodes.size() - named) + " more";
  return text;
}

}  // namespace am::host
