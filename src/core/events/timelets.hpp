// Timelets that wait for their time (T1 report, appendix A.2.2 and A.9.3): a queue in front of the one compare register
// that the T1 has, so that several may wait. Pure: it is told the time.
#pragma once

#include <am/message.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <unordered_map>
#include <utility>

namespace am::core {

class Timelets {
 public:
  using Function = std::function<void(LowEvent&)>;

  explicit Timelets(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : waiting_(memory), times_(memory) {}

  std::uint64_t add(std::uint64_t when, Function&& f) {
    const std::uint64_t id = ++last_id_;
    const auto time = times_.emplace(id, when).first;
    try {
      waiting_.emplace(std::pair{when, id}, std::move(f));
    } catch (...) {
      times_.erase(time);
      throw;
    }
    return id;
  }
  /// Takes it out, for the caller to destroy; empty when it has run already. As dear as add, however many wait.
  [[nodiscard]] Function cancel(std::uint64_t id) noexcept {
    const auto time = times_.find(id);
    return time != times_.end() ? take(waiting_.find({time->second, id})) : Function{};
  }
  void clear() noexcept {
    waiting_.clear();
    times_.clear();
  }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// When the next one is due; only if not empty.
  [[nodiscard]] std::uint64_t next() const noexcept { return waiting_.begin()->first.first; }
  /// Takes the first one, which is due, out of the queue: `tp` is cleared by the event itself.
  [[nodiscard]] Function take() noexcept { return take(waiting_.begin()); }

 private:
  using Waiting = std::pmr::map<std::pair<std::uint64_t, std::uint64_t>, Function>;

  Function take(Waiting::iterator timelet) noexcept {
    Function f = std::move(timelet->second);
    times_.erase(timelet->first.second);
    waiting_.erase(timelet);
    return f;
  }

  Waiting waiting_;                                              // by time, then by order of asking
  std::pmr::unordered_map<std::uint64_t, std::uint64_t> times_;  // of those that wait, by id
  std::uint64_t last_id_ = 0;
};

}  // namespace am::core
