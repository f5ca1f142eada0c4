#include "limits/ring_limit.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>

#include "timing.hpp"

namespace ambench {

namespace {

constexpr std::uint64_t pingpong_slots = 64;
constexpr std::size_t words_per_slot = 7;

struct alignas(64) Slot {
  std::atomic<std::uint64_t> sequence;  // 1 + position of the message it holds
  std::array<std::uint64_t, words_per_slot> words;
};
static_assert(sizeof(Slot) == 64);

// The words beside the slots; the consumer writes both.
struct Control {
  alignas(128) std::atomic<std::uint64_t> freed;
  alignas(
      128) std::atomic<std::uint64_t> checksum;  // 1 + the sum, when the consumer has seen the last message
};

// A ring of a power of two of slots in zeroed memory.
class Ring {
 public:
  Ring(std::byte* memory, std::uint64_t slots)
      : control_(std::launder(reinterpret_cast<Control*>(memory))),
        slots_(std::launder(reinterpret_cast<Slot*>(memory + sizeof(Control)))),
        mask_(slots - 1) {}

  static std::size_t bytes(std::uint64_t slots) { return sizeof(Control) + slots * sizeof(Slot); }
  [[nodiscard]] std::uint64_t slots() const { return mask_ + 1; }
  [[nodiscard]] Slot& at(std::uint64_t position) const { return slots_[position & mask_]; }
  [[nodiscard]] Control& control() const { return *control_; }

 private:
  Control* control_;
  Slot* slots_;
  std::uint64_t mask_;
};

struct TwoRings {
  explicit TwoRings(std::byte* memory)
      : there(memory, pingpong_slots), back(memory + Ring::bytes(pingpong_slots), pingpong_slots) {}
  Ring there;
  Ring back;
};

void send_word(const Ring& ring, std::uint64_t position, std::uint64_t word) {
  Slot& slot = ring.at(position);
  slot.words[0] = word;
  slot.sequence.store(position + 1, std::memory_order_release);  // pairs with the acquire of receive_word
}

std::uint64_t receive_word(const Ring& ring, std::uint64_t position) {
  Slot& slot = ring.at(position);
  while (slot.sequence.load(std::memory_order_acquire) != position + 1) {
  }
  return slot.words[0];
}

constexpr std::uint64_t last_word = ~std::uint64_t{0};

double ask(const TwoRings& rings) {
  constexpr std::uint64_t round_trips = 100;
  std::uint64_t position = 0;
  const auto batch = [&] {
    for (const std::uint64_t end = position + round_trips; position < end; ++position) {
      send_word(rings.there, position, position);
      if (receive_word(rings.back, position) != position) throw std::runtime_error("ring limit: wrong word");
    }
  };
  (void)median_batch_ns(batch, warm_up_ns);
  const double batch_ns = median_batch_ns(batch);
  send_word(rings.there, position, last_word);
  return batch_ns / (2.0 * round_trips);
}

void answer(const TwoRings& rings) {
  for (std::uint64_t position = 0;; ++position) {
    const std::uint64_t word = receive_word(rings.there, position);
    if (word == last_word) return;
    send_word(rings.back, position, word);
  }
}

class Producer {
 public:
  explicit Producer(const Ring& ring) : ring_(ring) {}

  void send(std::uint64_t first_word) {
    while (position_ - freed_ == ring_.slots())
      freed_ = ring_.control().freed.load(std::memory_order_acquire);  // see publish
    Slot& slot = ring_.at(position_);
    slot.words = {first_word, position_, 3, 4, 5, 6, 7};
    checksum_ += first_word + position_ + 3 + 4 + 5 + 6 + 7;
    slot.sequence.store(++position_, std::memory_order_release);  // pairs with the acquire in consume
  }

  // Waits until the consumer has read everything.
  void finish() {
    send(last_word);
    std::uint64_t seen = 0;
    while ((seen = ring_.control().checksum.load(std::memory_order_acquire)) == 0) {
    }
    if (seen != checksum_ + 1) throw std::runtime_error("ring limit: a message was damaged");
  }

 private:
  Ring ring_;
  std::uint64_t position_ = 0;
  std::uint64_t freed_ = 0;
  std::uint64_t checksum_ = 0;
};

double produce(const Ring& ring) {
  constexpr std::uint64_t messages = 16384;  // many times around the ring
  Producer producer(ring);
  const auto batch = [&] {
    for (std::uint64_t i = 0; i < messages; ++i) producer.send(i);
  };
  (void)median_batch_ns(batch, warm_up_ns);
  const double batch_ns = median_batch_ns(batch);
  producer.finish();
  return messages * 1e3 / batch_ns;
}

void consume(const Ring& ring) {
  const std::uint64_t quarter = ring.slots() / 4;
  std::uint64_t checksum = 0;
  for (std::uint64_t position = 0;; ++position) {
    Slot& slot = ring.at(position);
    while (slot.sequence.load(std::memory_order_acquire) != position + 1) {
    }
    for (const std::uint64_t word : slot.words) checksum += word;
    const bool last = slot.words[0] == last_word;
    if ((position + 1) % quarter == 0 || last) {
      ring.control().freed.store(position + 1,
                                 std::memory_order_release);  // publish: pairs with the acquire in send
    }
    if (last) break;
  }
  ring.control().checksum.store(checksum + 1, std::memory_order_release);  // pairs with the acquire in finish
}

// A ring of words alone: two counters, each kept by its end and published.
struct WordRing {
  static constexpr std::uint64_t words = 8192;
  alignas(128) std::atomic<std::uint64_t> written;
  alignas(128) std::atomic<std::uint64_t> read;
  alignas(128) std::array<std::uint64_t, words> word;
};

double write_words(WordRing& ring) {
  constexpr std::uint64_t batch_words = 8 * WordRing::words;
  std::uint64_t next = 0;
  std::uint64_t limit = WordRing::words;
  const auto write = [&](std::uint64_t word) {
    while (next == limit)
      limit = ring.read.load(std::memory_order_acquire) + WordRing::words;  // see read_words
    ring.word[next % WordRing::words] = word;
    ring.written.store(++next, std::memory_order_release);  // pairs with the acquire of read_words
  };
  const auto batch = [&] {
    for (std::uint64_t i = 0; i < batch_words; ++i) write(i);
  };
  (void)median_batch_ns(batch, warm_up_ns);
  const double batch_ns = median_batch_ns(batch);
  write(last_word);
  while (ring.read.load(std::memory_order_acquire) != next) {
  }
  return batch_words * 1e3 / batch_ns;
}

void read_words(WordRing& ring) {
  std::uint64_t next = 0;
  std::uint64_t limit = 0;
  for (std::uint64_t word = 0; word != last_word;) {
    while (next == limit) {
      ring.read.store(next, std::memory_order_release);
      limit = ring.written.load(std::memory_order_acquire);
      limit = std::min(limit, next + WordRing::words / 2);
    }
    word = ring.word[next++ % WordRing::words];
  }
  ring.read.store(next, std::memory_order_release);
}

}  // namespace

double ring_half_rtt_ns(CorePair cores) {
  return run_pair(
      cores, 2 * Ring::bytes(pingpong_slots), [](std::byte* memory) { return ask(TwoRings(memory)); },
      [](std::byte* memory) { answer(TwoRings(memory)); });
}

double ring_million_per_s(CorePair cores, std::uint64_t slots) {
  return run_pair(
      cores, Ring::bytes(slots), [slots](std::byte* memory) { return produce(Ring(memory, slots)); },
      [slots](std::byte* memory) { consume(Ring(memory, slots)); });
}

double ring_words_million_per_s(CorePair cores) {
  const auto ring = [](std::byte* memory) -> WordRing& {
    return *std::launder(reinterpret_cast<WordRing*>(memory));
  };
  return run_pair(
      cores, sizeof(WordRing), [ring](std::byte* memory) { return write_words(ring(memory)); },
      [ring](std::byte* memory) { read_words(ring(memory)); });
}

}  // namespace ambench
