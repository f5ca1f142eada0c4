// The processor of a CM-5 node under the clock: a SPARC that runs a program with explicit costs, and moves each word between itself and the network
// interface (von Eicken 1993, 3.2.1, 3.2.3).
//
//   cpu.run([](Processor& cpu) -> Program {
//     co_await cpu.send_first(Side::left, {.length = 2, .tag = 1}, 5, 10);   // node 5, and a word: 4 cycles
//     co_await cpu.send_data(Side::left, 20);
//     while (!(co_await cpu.status(Side::left)).receive_ok) {}               // 7 each
//   });
//
// A store is in the write buffer when it has taken its cycles, and at the interface when the bus is through with it; a fifth one waits. A load
// from the bus waits until all stores before it are over.
//
// Assumed: that loads wait so; interrupts are not built, since the user cannot turn them on (3.2.4), and CMAM polls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "emulated_hw/cm5/costs.hpp"
#include "emulated_hw/cm5/memory.hpp"
#include "emulated_hw/cm5/network_interface.hpp"
#include "emulated_hw/kit/core.hpp"
#include "emulated_hw/kit/waits.hpp"

namespace am::cm5 {

using Program = kit::Program;

class Processor final : public kit::CoreOf<Processor> {
  /// To the interface, in the write buffer.
  struct Store {
    Side side = Side::left;
    bool is_first = false;  // of a message
    Header header{};
    unsigned words = 0;
    std::array<Word, 2> what{};
    kit::Cycle over_at = 0;
  };

  /// From now on, until it has been that time.
  [[nodiscard]] unsigned until(kit::Cycle time) const noexcept {
    return static_cast<unsigned>(std::max(time, counts().all) - counts().all);
  }
  template <class F>
  [[nodiscard]] kit::Core::Instruction<F> put_store(unsigned cycles, F f) noexcept {
    return instruction({.cycles = std::max(cycles, until(buffer_.has_entry_at()))}, f);
  }
  [[nodiscard]] auto to_interface(Store store) noexcept {
    return put_store(store.words == 1 ? costs::store.word : costs::store.two_words, [this, store]() mutable {
      store.over_at = buffer_.put(counts().all, costs::interface_write);
      stores_.push_back(store);
    });
  }
  template <class F>
  [[nodiscard]] kit::Core::Instruction<F> from_bus(unsigned cycles, F f) noexcept {
    const unsigned for_the_bus = std::max(costs::before_bus, until(buffer_.is_empty_at()));
    return instruction({.cycles = for_the_bus + cycles - costs::before_bus}, f);
  }
  template <class F>
  [[nodiscard]] kit::Core::Instruction<F> from_memory(Word address, unsigned cycles, F f) noexcept {
    const bool hit = cache_.reads(address);
    return hit ? instruction({.cycles = cycles}, f) : from_bus(cycles + costs::line_read, f);
  }

 public:
  /// Of a node with so many words of memory. The interface outlives it.
  Processor(NetworkInterface& interface, NodeNumber node, std::size_t words)
      : CoreOf(node, {.dispatch = 0, .handler_return = 0}), interface_(interface), memory_(words) {}

  [[nodiscard]] std::vector<Word>& memory() noexcept { return memory_; }

  /// One cycle of the processor. Throws what its program throws.
  void step() {
    catch_up();
    for (; !stores_.empty() && stores_.front().over_at <= counts().all; stores_.pop_front())
      reaches_interface(stores_.front());
    Core::step();
  }
  [[nodiscard]] bool has_nothing_to_do() const noexcept { return is_idle() && stores_.empty(); }
  /// Adds its node as a place, unless its program has ended.
  void add_waits(kit::Waits& waits) const {
    const std::string name = "node " + std::to_string(node());
    if (!has_ended()) waits.add(name, name + ": its program goes on");
  }

  // -- what a program waits for, beside cycles(n)

  using TwoWords = std::array<Word, 2>;

  /// Throw what NetworkInterface does.
  [[nodiscard]] auto send_first(Side side, const Header& header, Word destination) noexcept {
    return to_interface({side, true, header, 1, {destination}});
  }
  [[nodiscard]] auto send_first(Side side, const Header& header, Word destination, Word first) noexcept {
    return to_interface({side, true, header, 2, {destination, first}});
  }
  [[nodiscard]] auto send_data(Side side, Word word) noexcept {
    return to_interface({side, false, {}, 1, {word}});
  }
  [[nodiscard]] auto send_data(Side side, const TwoWords& words) noexcept {
    return to_interface({side, false, {}, 2, words});
  }
  [[nodiscard]] auto status(Side side) noexcept {
    return from_bus(costs::interface_read.word, [this, side] { return interface_.status(side); });
  }
  [[nodiscard]] auto receive(Side side) noexcept {
    return from_bus(costs::interface_read.word, [this, side] { return interface_.receive(side); });
  }
  [[nodiscard]] auto receive_two(Side side) noexcept {
    return from_bus(costs::interface_read.two_words, [this, side] {
      const Word first = interface_.receive(side);
      return TwoWords{first, interface_.receive(side)};
    });
  }
  /// Throw std::out_of_range where there is no such memory. Two words are of an even address.
  [[nodiscard]] auto load(Word address) noexcept {
    return from_memory(address, costs::cache_read.word, [this, address] { return memory_.at(address); });
  }
  [[nodiscard]] auto load_two(Word address) noexcept {
    return from_memory(address, costs::cache_read.two_words, [this, address] {
      return TwoWords{memory_.at(address), memory_.at(address + 1)};
    });
  }
  [[nodiscard]] auto store(Word address, Word word) noexcept {
    return put_store(costs::store.word, [this, address, word] {
      memory_.at(address) = word;
      buffer_.put(counts().all, costs::memory_write.word);
    });
  }
  [[nodiscard]] auto store_two(Word address, const TwoWords& words) noexcept {
    return put_store(costs::store.two_words, [this, address, words] {
      std::copy(words.begin(), words.end(), &memory_.at(address + 1) - 1);
      buffer_.put(counts().all, costs::memory_write.two_words);
    });
  }

 private:
  void reaches_interface(const Store& store) {
    if (store.is_first) {
      interface_.send_first(store.side, store.header, store.what[0]);
    } else {
      interface_.send_data(store.side, store.what[0]);
    }
    if (store.words == 2) interface_.send_data(store.side, store.what[1]);
  }

  NetworkInterface& interface_;
  std::vector<Word> memory_;
  Cache cache_;
  WriteBuffer buffer_;
  std::deque<Store> stores_;
};

}  // namespace am::cm5
