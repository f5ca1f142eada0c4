#include "core/reports/once.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "host/clock.hpp"
#include "host/hash.hpp"

namespace am::core {

namespace {

// What was said last, in one word: when, in milliseconds of the job's clock, and a hash of the text.
constexpr unsigned time_bits = 40;
constexpr std::uint64_t time_mask = (std::uint64_t{1} << time_bits) - 1;

void sleep_for(std::uint64_t ns) noexcept {
  timespec left = host::timespec_of(ns);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace

bool first_to_say(const host::Board& board, std::string_view text, std::uint64_t for_ns) noexcept {
  host::JobHeader& job = board.job();
  const std::uint64_t hash = host::hash_of(text);
  std::atomic<std::uint64_t>& said = job.said[hash % std::size(job.said)];
  const std::uint64_t now_ms =
      (host::monotonic_ns() - job.epoch_ns.load(std::memory_order_relaxed)) / 1'000'000 +
      1;  // 0: nothing said
  const std::uint64_t ours = (hash & ~time_mask) | (now_ms & time_mask);
  std::uint64_t before = said.load(std::memory_order_relaxed);
  do {
    const std::uint64_t before_ms = before & time_mask;
    const bool same = before_ms != 0 && ((before ^ ours) & ~time_mask) == 0;
    if (same && now_ms < before_ms + for_ns / 1'000'000) return false;
  } while (!said.compare_exchange_weak(before, ours, std::memory_order_relaxed));
  return true;
}

void let_one_end_the_job(const host::Board& board, NodeId self, std::string_view text) noexcept {
  const bool survives = board.card(self).survives.load(std::memory_order_relaxed) != 0;
  if (!survives && !first_to_say(board, text, for_good_ns)) sleep_for(5'000'000'000);
}

void let_lower_ranks_speak(int rank) noexcept {
  constexpr std::uint64_t each_ns = 500'000'000;
  constexpr int most = 10;
  sleep_for(each_ns * static_cast<std::uint64_t>(std::clamp(rank, 0, most)));
}

}  // namespace am::core
