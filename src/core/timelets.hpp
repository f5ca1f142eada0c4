// Timelets that wait for their time (T1 report, appendix A.2.2 and A.9.3): a queue in front of the one compare register
// that the T1 has, so that several may wait. Pure: it is told the time.
#pragma once

#include <am/message.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <utility>

namespace am::core {

class Timelets {
 public:
  using Function = std::function<void(LowEvent&)>;

  explicit Timelets(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : waiting_(memory) {}

  std::uint64_t add(std::uint64_t when, Function&& f) {
    const std::uint64_t id = ++last_id_;
    waiting_.emplace(std::pair{when, id}, std::move(f));
    return id;
  }
  /// Takes it out, for the caller to destroy; empty when it has run already.
  [[nodiscard]] Function cancel(std::uint64_t id) noexcept {
    Function f;
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (it->first.second != id) continue;
      f = std::move(it->second);
      waiting_.erase(it);
      break;
    }
    return f;
  }
  void clear() noexcept { waiting_.clear(); }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// When the next one is due; only if not empty.
  [[nodiscard]] std::uint64_t next() const noexcept { return waiting_.begin()->first.first; }
  /// Takes the first one, which is due, out of the queue: `tp` is cleared by the event itself.
  [[nodiscard]] Function take() {
    Function f = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    return f;
  }

 private:
  std::pmr::map<std::pair<std::uint64_t, std::uint64_t>, Function>
      waiting_;  // by time, then by order of asking
  std::uint64_t last_id_ = 0;
};

}  // namespace am::core
