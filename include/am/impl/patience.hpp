// How long nothing has happened, and what is said of it: after AM_REPORT_AFTER a report, after AM_TIMEOUT a last one with the
// end of the node. For whoever may wait for ever.
//
// Used by whoever is in the node.
#pragma once

#include <cstdint>

namespace am::core {
class Engine;
}

namespace am::impl {

class Patience {
 public:
  static constexpr std::uint64_t endless = ~std::uint64_t{0};

  /// Something happened.
  void begin_anew() noexcept { began_ns_ = 0; }
  [[nodiscard]] bool is_tried() const noexcept { return began_ns_ != 0; }
  /// Nothing has happened; the first time it begins. Time in which this was not called does not count: the process was stopped; and
  /// neither does time in which amrun had stopped the job. `what` is waited for. Returns how long it may still take.
  std::uint64_t try_again(core::Engine& engine, const char* what);

 private:
  std::uint64_t began_ns_ = 0;   // 0: not tried since something happened
  std::uint64_t looked_ns_ = 0;  // when it was tried last
  std::uint64_t waited_ns_ = 0;  // since it began, without the time in which this process was stopped
  std::uint64_t next_report_ns_ = 0;
};

}  // namespace am::impl
