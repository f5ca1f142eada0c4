#include "limits/copy_limit.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "clock.hpp"
#include "timing.hpp"

namespace ambench {

namespace {

constexpr std::size_t data_offset = 4096;

// Whose turn it is: odd turns are the writer's, even ones the copier's; `finished` ends the pair.
struct Turns {
  alignas(128) std::atomic<std::uint64_t> turn;
};
constexpr std::uint64_t finished = ~std::uint64_t{0};

Turns& turns_in(std::byte* memory) { return *std::launder(reinterpret_cast<Turns*>(memory)); }

void wait_for_turn(Turns& turns, std::uint64_t turn) {
  while (turns.turn.load(std::memory_order_acquire) !=
         turn) {  // pairs with the release stores of the other side
  }
}

double copy_repeatedly(std::byte* target, std::size_t bytes) {
  std::vector<std::byte> source(bytes, std::byte{1});
  const auto copies = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::memcpy(target, source.data(), bytes);
      keep(*target);
    }
  };
  const std::uint64_t count = std::max<std::uint64_t>(1, (std::uint64_t{1} << 20) / bytes);
  const auto batch = [&] { copies(count); };
  batch();
  return static_cast<double>(count) * static_cast<double>(bytes) / median_batch_ns(batch);
}

// Times each copy alone: between two copies the other core writes the whole source again.
double copy_after_writer(std::byte* memory, std::size_t bytes) {
  Turns& turns = turns_in(memory);
  std::vector<std::byte> target(bytes, std::byte{0});
  const double overhead = tick_overhead();
  std::vector<double> copy_ticks;
  std::uint64_t turn = 0;
  const auto copy_once = [&] {
    turns.turn.store(turn + 1, std::memory_order_release);  // pairs with the writer's load
    turn += 2;
    wait_for_turn(turns, turn);
    const std::uint64_t begin = ticks();
    std::memcpy(target.data(), memory + data_offset, bytes);
    keep(target.front());
    copy_ticks.push_back(static_cast<double>(ticks() - begin) - overhead);
  };
  for (int warm_up = 0; warm_up < 10; ++warm_up) copy_once();
  copy_ticks.clear();
  (void)median_batch_ns(copy_once);
  turns.turn.store(finished, std::memory_order_release);
  return static_cast<double>(bytes) / (median_of(std::move(copy_ticks)) * ns_per_tick());
}

void write_in_turn(std::byte* memory, std::size_t bytes) {
  Turns& turns = turns_in(memory);
  for (int value = 1;; ++value) {
    std::uint64_t turn = 0;
    while ((turn = turns.turn.load(std::memory_order_acquire)) % 2 == 0) {
    }
    if (turn == finished) return;
    std::memset(memory + data_offset, value, bytes);
    turns.turn.store(turn + 1, std::memory_order_release);  // pairs with the copier's wait_for_turn
  }
}

}  // namespace

double copy_gb_per_s(CorePair cores, std::size_t bytes) {
  return run_pair(
      cores, bytes, [bytes](std::byte* memory) { return copy_repeatedly(memory, bytes); }, [](std::byte*) {});
}

double copy_fresh_gb_per_s(CorePair cores, std::size_t bytes) {
  return run_pair(
      cores, data_offset + bytes, [bytes](std::byte* memory) { return copy_after_writer(memory, bytes); },
      [bytes](std::byte* memory) { write_in_turn(memory, bytes); });
}

}  // namespace ambench
