// How long what a test waits for may take, and what is said meanwhile.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "host/patience.hpp"

namespace test {

inline constexpr std::uint64_t ms = 1'000'000;
inline constexpr std::uint64_t long_ns = 60'000 * ms;  // a test that hangs ends

inline am::host::Patience patience(std::uint64_t timeout_ns = long_ns) {
  return {.timeout_ns = timeout_ns, .report_after_ns = 0, .report = nullptr};
}

/// What a wait of this thread reports.
class Reports {
 public:
  [[nodiscard]] am::host::Patience patience(std::uint64_t timeout_ns, std::uint64_t after_ns = 1) {
    return {timeout_ns, after_ns, [this](const std::string& text) { texts_.push_back(text); }};
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

/// All nodes but node 0.
inline std::vector<am::NodeId> others(am::NodeId nodes) {
  std::vector<am::NodeId> all(nodes - 1);
  std::iota(all.begin(), all.end(), am::NodeId{1});
  return all;
}

}  // namespace test
