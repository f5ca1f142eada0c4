// How long to wait for other nodes while a job begins, and the words for who is missing.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace am::host {

struct Patience {
  std::uint64_t timeout_ns = 0;       ///< then the wait ends with an error; 0: never
  std::uint64_t report_after_ns = 0;  ///< then `report` is told, once, who is missing; 0: never
  std::function<void(const std::string&)> report;
};

/// One wait, from now on.
class Wait {
 public:
  explicit Wait(const Patience& patience);

  [[nodiscard]] std::uint64_t so_far_ns() const noexcept;
  [[nodiscard]] bool is_over() const noexcept;
  /// Reports "waits for WHOM since 10 s" when it is time for that. `whom` is called then only.
  void remind(const std::function<std::string()>& whom);
  /// Until the end or the report, at most `most_ms`, as poll takes it: -1 is for ever.
  [[nodiscard]] int left_ms(int most_ms = -1) const noexcept;

 private:
  const Patience& patience_;
  const std::uint64_t began_ns_;
  bool reported_;
};

inline constexpr const char* every_process_remedy =
    "every process of the job has to start libam, once; AM_TIMEOUT=0 waits for ever, for example for a "
    "debugger";
/// "12 s", below a second "0.2 s"
[[nodiscard]] std::string in_seconds(std::uint64_t duration_ns);
/// "node 3", "nodes 1, 2 and 7", "nodes 1, 2, 3, 4, 5, 6, 7, 8 and 23 more"
[[nodiscard]] std::string name_nodes(std::span<const NodeId> nodes);

}  // namespace am::host
