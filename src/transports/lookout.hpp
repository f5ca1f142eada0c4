// What a handler thread looks at while its node computes: enough to see that something may have come, and nothing that it
// may look at only while it is in the node (Inbox belongs to whoever is).
//
// Filled by the thread that is in the node; then read by the handler thread alone. Stale entries do no harm: a packet
// that somebody else has taken meanwhile changed the header for good, so it reads as news, and looking is cheap. A ring that
// became hot since then changes its inbox's generation.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace am {

class Lookout {
 public:
  void clear() noexcept { places_.clear(); }
  /// Relaxed, here and in news(): it is a hint; the packet itself is received with its acquire.
  void watch(const std::atomic<std::uint64_t>& place) {
    places_.push_back({&place, place.load(std::memory_order_relaxed)});
  }
  /// The same for a place whose news is any other value than this.
  void watch(const std::atomic<std::uint64_t>& place, std::uint64_t expected) {
    places_.push_back({&place, expected});
  }
  /// A stale place may lie in a payload by now, that its sender is just writing, byte by byte: any value will do, so this
  /// one race is meant.
  [[nodiscard]]
#if defined(__SANITIZE_THREAD__)
  [[gnu::no_sanitize("thread"), gnu::noinline]]
#endif
  bool
  news() const noexcept {
    for (const Place& place : places_) {
      if (__atomic_load_n(reinterpret_cast<const std::uint64_t*>(place.at), __ATOMIC_RELAXED) != place.seen)
        return true;
    }
    return false;
  }

 private:
  struct Place {
    const std::atomic<std::uint64_t>* at;
    std::uint64_t seen;
  };
  std::vector<Place> places_;
};

}  // namespace am
