#include "core/once.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "transports/shm/clock.hpp"

namespace am::core {

namespace {

// What was said last, in one word: when, in milliseconds of the job's clock, and a hash of the text.
constexpr unsigned time_bits = 40;
constexpr std::uint64_t time_mask = (std::uint64_t{1} << time_bits) - 1;

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

void sleep_for(std::uint64_t ns) noexcept {
  timespec left = shm::timespec_of(ns);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace

bool first_to_say(const shm::Segment& segment, std::string_view text, std::uint64_t for_ns) noexcept {
  shm::JobHeader& job = segment.job();
  const std::uint64_t hash = hash_of(text);
  std::atomic<std::uint64_t>& said = job.said[hash % std::size(job.said)];
  const std::uint64_t now_ms = (shm::monotonic_ns() - job.epoch_ns) / 1'000'000 + 1;  // 0: nothing said
  const std::uint64_t ours = (hash & ~time_mask) | (now_ms & time_mask);
  std::uint64_t before = said.load(std::memory_order_relaxed);
  do {
    const std::uint64_t before_ms = before & time_mask;
    const bool same = before_ms != 0 && ((before ^ ours) & ~time_mask) == 0;
    if (same && now_ms < before_ms + for_ns / 1'000'000) return false;
  } while (!said.compare_exchange_weak(before, ours, std::memory_order_relaxed));
  return true;
}

void let_one_end_the_job(const shm::Segment& segment, NodeId self, std::string_view text) noexcept {
  const bool survives = segment.card(self).survives.load(std::memory_order_relaxed) != 0;
  if (!survives && !first_to_say(segment, text, for_good_ns)) sleep_for(5'000'000'000);
}

void let_lower_ranks_speak(int rank) noexcept {
  constexpr std::uint64_t each_ns = 500'000'000;
  constexpr int most = 10;
  sleep_for(each_ns * static_cast<std::uint64_t>(std::clamp(rank, 0, most)));
}

}  // namespace am::core
