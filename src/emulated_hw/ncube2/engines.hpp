// The DMA engines of an nCUBE/2 node, a pair for each port, and the memory that they share with the processor (von Eicken 1993, 3.1.1, 3.1.3,
// Figures 3-3 and 3-4).
//
// An output engine is given an address and a count, fetches the words by quadwords, and sends them as the network takes them. An input engine
// is blind: it is given an address alone, and writes there whatever comes, however long it is. Until it is set up, what comes waits in the
// network. Each stops when its segment is over, and sets its bit in a status register: a message may be several segments, each of its own
// operation, which go the same way one behind the other. An input address of -1 drops the next segment.
//
// The privileged instructions: lptr and lcnt are send() and receive() (a receiver's count is ignored), ldpr and stpr read and write status().
//
// Assumed: a segment's end travels as the message's does; an output engine has one quadword in hand, an input engine one word; a quadword is two
// words, the second of which is in the DRAM page of the first; who asks for memory has it in turns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulated_hw/kit/memory_port.hpp"
#include "emulated_hw/ncube2/network.hpp"

namespace am::ncube2 {

/// Cycles of an access to 32 bits of DRAM (3.1.1).
inline constexpr unsigned page_cycles = 2;
inline constexpr unsigned dram_cycles = 5;

[[nodiscard]] constexpr std::uint16_t bit(unsigned dimension) noexcept {
  return static_cast<std::uint16_t>(1u << dimension);
}

/// A bit for each dimension.
struct Status {
  std::uint16_t output_ready = 0;   ///< outtrr: a segment has been sent
  std::uint16_t input_ready = 0;    ///< inrdy: one has come
  std::uint16_t message_ready = 0;  ///< and it was the last of its message
};

class Engines {
 public:
  static constexpr Word drop = ~Word{0};  ///< in place of an input address
  static constexpr unsigned processor =
      2 * most_dimensions;  ///< as a user of the memory port; engines are below

  /// Of a node with so many words of memory. The network outlives it, and is told nothing of it.
  Engines(Network& network, NodeNumber node, std::size_t words);

  [[nodiscard]] unsigned dimensions() const noexcept { return network_.dimensions(); }
  [[nodiscard]] std::vector<Word>& memory() noexcept { return memory_; }
  [[nodiscard]] kit::MemoryPort& memory_port() noexcept { return port_; }
  [[nodiscard]] Status& status() noexcept { return status_; }
  [[nodiscard]] const Status& status() const noexcept { return status_; }

  /// The engine is idle. More segments of the message follow unless it is the last. Throws std::out_of_range where there is no such memory.
  void send(unsigned dimension, Word address, Word words, bool last = true);
  /// What comes next by that port goes there; or to `drop`.
  void receive(unsigned dimension, Word address);
  [[nodiscard]] bool is_sending(unsigned dimension) const noexcept { return outputs_[dimension].active; }
  [[nodiscard]] bool is_receiving(unsigned dimension) const noexcept { return inputs_[dimension].active; }

  /// One cycle, before the network's. Whether an access of the processor has ended. Throws std::out_of_range where a message runs over the
  /// end of memory: it has no limit.
  bool step();
  /// So that nothing changes here until a flit comes.
  [[nodiscard]] bool has_nothing_to_do() const noexcept;
  /// Tells it from now on of messages that begin and that have come, until it is told otherwise. It outlives that.
  void record(kit::Trace* trace) noexcept { trace_ = trace; }

 private:
  struct Output {
    Word address = 0;
    Word left = 0;       // words of the segment
    unsigned ready = 0;  // of these, those that have been fetched
    std::uint32_t message = kit::Trace::nothing;
    bool last = true;
    bool active = false;
  };
  struct Input {
    Word address = 0;
    Word word = 0;  // that is being written
    bool active = false;
  };

  [[nodiscard]] std::uint32_t begun(Word address) const;
  void push(unsigned dimension);
  void take(unsigned dimension);
  void over(unsigned user);

  Network& network_;
  const NodeNumber node_;
  std::vector<Word> memory_;
  kit::MemoryPort port_;
  std::array<Output, most_dimensions> outputs_{};
  std::array<Input, most_dimensions> inputs_{};
  std::uint16_t sending_ = 0;  // output engines at work
  Status status_{};
  kit::Trace* trace_ = nullptr;
};

}  // namespace am::ncube2
