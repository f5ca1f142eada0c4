// Conway's Life on an M-Machine, as the thesis has it (7.2, Figures 7-8 to 7-10): a torus of cells, a square block of it on each node. In each
// generation a node computes the new value of each of its cells, and sends it at once to each other node that has a neighbour of that cell:
// 4 (1 + sqrt(n)) messages of two words for n cells. It begins the next one when it has what it expects from the others.
//
// Messages are a user's: throttled, so each is acknowledged, in the handler (3.3.2). A node may be a generation ahead of its neighbours, no more:
// values are kept twice, by the generation's parity.
//
// Costs, in cycles. A cell: C_cell, "approximately 35" (7.2.1). A message: k_o + 2 v_o, 5 and 1 (7.2.2): SEND, and a word each. Behind its last
// message a node needs what it waits for after 6 (7.2.1). Assumed: a handler's own instructions, 4, and as many again of the last one
// of a generation, which wakes the thread in another cluster.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 7.2.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated_hw/mmachine/machine.hpp"

namespace am::mmachine {

/// A torus of cells, by y * side + x.
using LifeBoard = std::vector<std::uint8_t>;
/// One generation further, by the rules alone.
[[nodiscard]] LifeBoard next_generation(const LifeBoard& board, unsigned side);

class Life {
 public:
  static constexpr unsigned cell_cycles = 35;
  static constexpr unsigned word_cycles = 1;
  static constexpr unsigned phase_cycles = 6;
  static constexpr unsigned handler_cycles = 4;

  struct Options {
    unsigned side = 8;  ///< of the torus
    unsigned nodes_side =
        1;  ///< of the square of nodes: a power of two, as the GTLB's extents, and a divisor of side
    Cycle extra_latency = 0;       ///< of each message
    unsigned extra_occupancy = 0;  ///< of each SEND
  };
  /// Throws std::invalid_argument.
  Life(const LifeBoard& board, const Options& options);
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  /// So many generations further: the cycles that takes. Throws std::runtime_error when nodes wait for ever.
  Cycle run(unsigned generations);
  [[nodiscard]] LifeBoard board() const;
  /// Of each node in a generation.
  [[nodiscard]] unsigned messages() const noexcept { return nodes_.front()->expected; }
  /// A number that depends on everything that has passed the network, when and where.
  [[nodiscard]] std::uint64_t fingerprint() noexcept { return machine_.mesh().fingerprint(); }

 private:
  /// A cell of a block, and the nodes that have neighbours of it.
  struct Cell {
    unsigned number = 0;                 // in the torus
    std::vector<std::uint64_t> sent_to;  // by number, as the pages of their addresses
  };
  struct Node {
    std::vector<Cell> cells;
    unsigned expected = 0;             // messages in a generation
    std::array<unsigned, 2> came{};    // by parity
    std::array<LifeBoard, 2> board{};  // by parity, as far as it is known here
    unsigned generation = 0;
    bool floating = false;  // the registers of the last message
  };
  static constexpr std::uint64_t update_address = 0x1000;
  static constexpr std::uint64_t acknowledged_address = 0x2000;

  void give_cells();
  Program compute(Thread& thread, Node& node);
  Program send_cell(Thread& thread, const Cell& cell, unsigned parity, bool lives);
  Program update(Thread& thread, Node& node);
  [[nodiscard]] unsigned node_of(unsigned cell) const noexcept;

  const Options options_;
  Machine machine_;
  std::vector<std::unique_ptr<Node>> nodes_;
  unsigned until_ = 0;  // the generation to compute
};

}  // namespace am::mmachine
