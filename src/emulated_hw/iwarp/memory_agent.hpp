// The memory agent of an iWarp cell: eight gates that spool words between channels and memory (Borkar et al. 1990, 7.2).
//
// "Like a DMA device": a gate is given a channel and a place, and the processor goes on. It ends by a count, or at the marker that ends the
// message, and never goes over its limit register: it stops there, and what is left stays in the channel.
//
// The bus to memory carries a double word in a cycle, 160 MB/s. Gates that are ready have it in turns, so one that stalls wastes nothing. Each
// cycle of it is stolen from the computation agent. A queue at its peak of 40 MB/s takes a quarter of both.
//
// extend() makes a queue as long as a piece of memory: what comes by one channel goes there, and from there into an own channel, from which the
// program reads as before. Its head is spooled out while its tail comes in.
//
// Assumed: memory keeps a word's tag; a word goes alone when no second one has come for 4 cycles.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "emulated_hw/iwarp/communication_agent.hpp"

namespace am::iwarp {

class MemoryAgent {
 public:
  static constexpr unsigned most_gates = 8;
  static constexpr std::size_t no_count = ~std::size_t{0};
  static constexpr std::size_t double_word = 2;

  /// Words at `address` and behind it, before `limit`.
  struct Spool {
    Channel channel = no_channel;
    std::size_t address = 0;
    std::size_t limit = 0;
    std::size_t words = no_count;  ///< then it is over; of what goes out, always
    bool to_end = false;           ///< over at the marker that ends the message, or its pathway
  };
  enum class State : std::uint8_t { free, active, over, overflow };
  struct Result {
    State state = State::free;
    std::size_t words = 0;
    friend bool operator==(const Result&, const Result&) = default;
  };

  MemoryAgent(CommunicationAgent& agent, std::size_t words) : agent_(agent), memory_(words) {}

  [[nodiscard]] std::vector<Word>& memory() noexcept { return memory_; }

  // Each gives the number of its gate. Throw std::length_error when all eight are in use, std::invalid_argument where there is no such memory,
  // or no room for a word.

  unsigned spool_in(const Spool& spool) { return set_up(spool, true); }
  unsigned spool_out(const Spool& spool) { return set_up(spool, false); }
  /// Two gates, which are free again when the pathway has ended and all of it is read.
  void extend(Channel from, Channel to, std::size_t address, std::size_t limit);

  [[nodiscard]] Result result(unsigned gate) const { return {gates_.at(gate).state, gates_[gate].moved}; }
  void release(unsigned gate) { gates_.at(gate) = {}; }

  /// One cycle, before the processor's. Whether it has the memory.
  bool step();
  /// Cycles that it has taken.
  [[nodiscard]] std::uint64_t stolen() const noexcept { return stolen_; }

 private:
  static constexpr unsigned nobody = most_gates;
  struct Gate {
    Spool its{};
    State state = State::free;
    bool is_in = false;
    std::size_t moved = 0;
    unsigned partner = nobody;  // of an extended queue: the other end of it
    Cycle alone_since = 0;      // that a word waits for a second one
  };

  unsigned set_up(const Spool& spool, bool is_in);
  [[nodiscard]] std::size_t space(const Gate& gate) const;
  void find_end(Gate& gate);
  [[nodiscard]] std::size_t movable(const Gate& gate) const;
  [[nodiscard]] bool is_ready(Gate& gate);
  void move(Gate& gate);
  void is_over(Gate& gate, State state);

  CommunicationAgent& agent_;
  std::vector<Word> memory_;
  std::array<Gate, most_gates> gates_{};
  kit::RoundRobin turns_{};
  std::uint64_t stolen_ = 0;
};

}  // namespace am::iwarp
