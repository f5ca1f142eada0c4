#include "limits/stream_limit.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <vector>

#include "timing.hpp"
#include "words.hpp"

namespace ambench {

namespace {

enum class Way { copied, in_place };

constexpr std::size_t page = 4096;

struct Progress {
  alignas(128) std::atomic<std::uint64_t> filled;
  alignas(128) std::atomic<std::uint64_t> emptied;
  alignas(128) std::atomic<std::uint64_t> last;  // 1 + the number of blocks, once it is known
};

// So many slots that neither side waits for the other's last word. Long blocks go round in more than a second-level cache
// holds: to write where the other's cache has what it has just read takes several times as long.
std::uint64_t slots_for(std::size_t bytes) {
  constexpr std::size_t round = std::size_t{2} << 20;
  return std::clamp<std::uint64_t>(round / bytes, 2, 64);
}

class Slots {
 public:
  Slots(std::byte* memory, std::size_t bytes)
      : progress_(*std::launder(reinterpret_cast<Progress*>(memory))),
        first_(memory + page),
        bytes_(bytes),
        slots_(slots_for(bytes)) {}
  static std::size_t memory_for(std::size_t bytes) { return page + slots_for(bytes) * bytes; }

  [[nodiscard]] std::span<std::byte> at(std::uint64_t block) const {
    return {first_ + block % slots_ * bytes_, bytes_};
  }
  [[nodiscard]] Progress& progress() const { return progress_; }
  [[nodiscard]] std::uint64_t count() const { return slots_; }

 private:
  Progress& progress_;
  std::byte* first_;
  std::size_t bytes_;
  std::uint64_t slots_;
};

double produce(std::byte* memory, std::size_t bytes, Way way) {
  const Slots slots(memory, bytes);
  Progress& progress = slots.progress();
  const std::vector<std::byte> source(bytes, std::byte{1});
  std::uint64_t filled = 0;
  const std::uint64_t blocks = std::max<std::uint64_t>(4, (std::size_t{1} << 22) / bytes);
  const auto batch = [&] {
    for (const std::uint64_t end = filled + blocks; filled < end;) {
      while (filled - progress.emptied.load(std::memory_order_acquire) == slots.count()) {
      }
      const std::span<std::byte> slot = slots.at(filled);
      if (way == Way::copied) {
        std::memcpy(slot.data(), source.data(), bytes);
      } else {
        write_words(slot, filled);
      }
      progress.filled.store(++filled, std::memory_order_release);  // pairs with the acquire of consume
    }
  };
  (void)median_batch_ns(batch, warm_up_ns);
  const double batch_ns = median_batch_ns(batch);
  progress.last.store(1 + filled, std::memory_order_release);
  return static_cast<double>(blocks) * static_cast<double>(bytes) / batch_ns;
}

void consume(std::byte* memory, std::size_t bytes, Way way) {
  const Slots slots(memory, bytes);
  Progress& progress = slots.progress();
  std::vector<std::byte> target(bytes);
  for (std::uint64_t emptied = 0;;) {
    while (progress.filled.load(std::memory_order_acquire) == emptied) {
      if (progress.last.load(std::memory_order_acquire) == 1 + emptied) return;
    }
    const std::span<const std::byte> slot = slots.at(emptied);
    if (way == Way::copied) {
      std::memcpy(target.data(), slot.data(), bytes);
      keep(target.front());
    } else if (sum_of_words(slot) != sum_written(bytes, emptied)) {
      throw std::runtime_error("stream limit: a block was damaged");
    }
    progress.emptied.store(++emptied, std::memory_order_release);  // pairs with the acquire of produce
  }
}

double stream(CorePair cores, std::size_t bytes, Way way) {
  return run_pair(
      cores, Slots::memory_for(bytes), [=](std::byte* memory) { return produce(memory, bytes, way); },
      [=](std::byte* memory) { consume(memory, bytes, way); });
}

}  // namespace

double two_copy_stream_gb_per_s(CorePair cores, std::size_t bytes) {
  return stream(cores, bytes, Way::copied);
}
double in_place_stream_gb_per_s(CorePair cores, std::size_t bytes) {
  return stream(cores, bytes, Way::in_place);
}

}  // namespace ambench
