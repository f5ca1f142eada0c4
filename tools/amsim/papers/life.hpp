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

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated_hw/mmachine/machine.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"

namespace amsim::chapter_7 {

using namespace am::mmachine;
using am::mmachine::Machine;  // not that of reports

/// A torus of cells, by y * side + x.
using LifeBoard = std::vector<std::uint8_t>;

/// Calls f(cell) for the eight around it.
template <class F>
void for_each_neighbour(unsigned cell, unsigned side, F f) {
  const unsigned x = cell % side, y = cell / side;
  for (unsigned dy = side - 1; dy <= side + 1; ++dy) {
    for (unsigned dx = side - 1; dx <= side + 1; ++dx) {
      if (dx != side || dy != side) f((y + dy) % side * side + (x + dx) % side);
    }
  }
}

/// "Exactly 3 live neighbors" for a birth, "two or three" to survive.
inline std::uint8_t next_of(const LifeBoard& board, unsigned cell, unsigned side) {
  unsigned living = 0;
  for_each_neighbour(cell, side, [&](unsigned other) { living += board[other]; });
  return living == 3 || (living == 2 && board[cell] != 0) ? 1 : 0;
}
/// One generation further, by the rules alone.
[[nodiscard]] inline LifeBoard next_generation(const LifeBoard& board, unsigned side) {
  LifeBoard next(board.size());
  for (unsigned cell = 0; cell < board.size(); ++cell) next[cell] = next_of(board, cell, side);
  return next;
}

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
  Life(const LifeBoard& board, const Options& options)
      : options_(options), machine_(machine_of(options, board.size())) {
    for (NodeNumber number = 0; number < machine_.nodes(); ++number) {
      Node& node = *nodes_.emplace_back(std::make_unique<Node>());
      node.board = {board, board};
      Chip& chip = machine_.chip(number);
      chip.output().set_buffers(buffers);
      chip.delay(options.extra_latency);
      chip.burden(options.extra_occupancy);
      // One entry: a page of addresses for each node, in their order.
      chip.output().gtlb().write(
          0, {.valid = true,
              .log_width = static_cast<std::uint8_t>(std::bit_width(options.nodes_side) - 1),
              .log_height = static_cast<std::uint8_t>(std::bit_width(options.nodes_side) - 1)});
      chip.place(update_address, [this, &node](Thread& thread) { return update(thread, node); });
      chip.place(acknowledged_address, [](Thread& thread) -> Program { co_await thread.give_back_buffer(); });
    }
    give_cells();
    for (NodeNumber number = 0; number < machine_.nodes(); ++number) {
      Node& node = *nodes_[number];
      machine_.chip(number).thread(0, 0).run([this, &node](Thread& thread) { return compute(thread, node); },
                                             Privilege::user);
    }
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  /// So many generations further: the cycles that takes. Throws std::runtime_error when nodes wait for ever.
  Cycle run(unsigned generations) {
    const Cycle begin = machine_.now();
    until_ += generations;
    for (NodeNumber number = 0; number < machine_.nodes(); ++number)
      machine_.chip(number).thread(0, 0).fill(go_on);
    const auto has_ended = [this] {
      return std::ranges::all_of(nodes_, [this](const auto& node) { return node->generation == until_; });
    };
    // A node that sends nothing moves nothing.
    const Cycle patience = 100'000 + Cycle{generations} * options_.side * options_.side * cell_cycles;
    if (!machine_.run_until(has_ended, patience))
      throw std::runtime_error("life: nodes wait for ever:\n" + machine_.who_waits());
    return machine_.now() - begin;
  }
  [[nodiscard]] LifeBoard board() const {
    LifeBoard board(std::size_t{options_.side} * options_.side);
    for (const auto& node : nodes_) {
      for (const Cell& cell : node->cells)
        board[cell.number] = node->board[node->generation % 2][cell.number];
    }
    return board;
  }
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
  // Condition registers.
  static constexpr unsigned integers_fetched = 0;
  static constexpr unsigned floating_fetched = 1;
  static constexpr unsigned updates_are_here = 2;  // for each parity, from this one on
  static constexpr unsigned go_on = 4;             // there are generations to compute
  static constexpr unsigned words_of_update = 2;
  static constexpr unsigned buffers = 256;  // never used up
  static constexpr std::uint64_t update_address = 0x1000;
  static constexpr std::uint64_t acknowledged_address = 0x2000;

  static Machine machine_of(const Options& options, std::size_t cells) {
    const auto [side, nodes_side, latency, occupancy] = options;
    if (side < 2 || side > 64 || cells != std::size_t{side} * side)
      throw std::invalid_argument("life: a square board of 2 to 64 cells a side");
    if (!std::has_single_bit(nodes_side) || nodes_side > Mesh::most_extent || side % nodes_side != 0)
      throw std::invalid_argument("life: " + std::to_string(nodes_side) + " nodes a side for " +
                                  std::to_string(side) + " cells");
    return Machine({.width = nodes_side, .height = nodes_side});
  }
  void give_cells() {
    for (unsigned number = 0; number < options_.side * options_.side; ++number) {
      const unsigned home = node_of(number);
      Cell cell{number, {}};
      for_each_neighbour(number, options_.side, [&](unsigned other) {
        const unsigned there = node_of(other);
        if (there == home || std::ranges::find(cell.sent_to, there) != cell.sent_to.end()) return;
        cell.sent_to.push_back(there);
        ++nodes_[there]->expected;
      });
      nodes_[home]->cells.push_back(cell);
    }
  }
  Program compute(Thread& thread, Node& node) {
    for (const unsigned condition : {integers_fetched, floating_fetched}) thread.fill(condition);
    for (;;) {
      if (node.generation == until_) {
        thread.empty(go_on);
        co_await thread.full(go_on);
      }
      const unsigned parity = node.generation % 2;
      for (const Cell& cell : node.cells) {
        co_await thread.cycles(cell_cycles);
        const bool lives = next_of(node.board[parity], cell.number, options_.side) != 0;
        node.board[1 - parity][cell.number] = lives ? 1 : 0;
        co_await send_cell(thread, cell, 1 - parity, lives);
      }
      co_await thread.cycles(phase_cycles);
      if (node.expected != 0) {
        co_await thread.full(updates_are_here + 1 - parity);
        thread.empty(updates_are_here + 1 - parity);
      }
      ++node.generation;
    }
  }
  /// From the integer and the floating-point registers in turns, as the thesis pipelines messages (6.5.1): so none waits for the last one's
  /// words to be fetched.
  Program send_cell(Thread& thread, const Cell& cell, unsigned parity, bool lives) {
    for (const std::uint64_t to : cell.sent_to) {
      Node& node = *nodes_[node_of(cell.number)];
      node.floating = !node.floating;
      const unsigned condition = node.floating ? floating_fetched : integers_fetched;
      co_await thread.full(condition);
      auto& registers = node.floating ? thread.floating : thread.integers;
      registers[0] = {std::uint64_t{cell.number} << 1 | parity, false};
      registers[1] = {lives ? 1u : 0u, false};
      co_await thread.cycles(words_of_update * word_cycles);
      co_await thread.send({.instruction = node.floating ? Send::fsnd0 : Send::isnd0,
                            .destination = pointer_to(PointerType::read_write, to << Gtlb::page_bits),
                            .handler = pointer_to(PointerType::execute_message, update_address),
                            .argcount = words_of_update,
                            .condition = condition});
    }
  }
  Program update(Thread& thread, Node& node) {
    Opening opening;
    co_await open(thread, opening);
    const Word which = co_await thread.msg_body();
    const Word value = co_await thread.msg_body();
    const auto parity = static_cast<unsigned>(which.bits & 1);
    node.board[parity][which.bits >> 1] = static_cast<std::uint8_t>(value.bits);
    co_await thread.cycles(handler_cycles);
    if (++node.came[parity] == node.expected) {
      node.came[parity] = 0;
      co_await thread.cycles(handler_cycles);
      thread.chip().thread(0, 0).fill(updates_are_here + parity);
    }
    co_await thread.send({.instruction = Send::isnd1pnt,
                          .destination = opening.sender,
                          .handler = pointer_to(PointerType::execute_message, acknowledged_address)});
  }
  [[nodiscard]] unsigned node_of(unsigned cell) const noexcept {
    const unsigned block = options_.side / options_.nodes_side;
    return cell / options_.side / block * options_.nodes_side + cell % options_.side / block;
  }

  const Options options_;
  Machine machine_;
  std::vector<std::unique_ptr<Node>> nodes_;
  unsigned until_ = 0;  // the generation to compute
};

}  // namespace amsim::chapter_7
