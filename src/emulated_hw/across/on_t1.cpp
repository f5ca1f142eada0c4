// On the T1: messages are sent by one instruction, and their handlers preempt the computation. A block goes by vector registers, of 32 words each.
#include <algorithm>
#include <map>

#include "emulated_hw/across/on_machines.hpp"
#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/nistat.hpp"
#include "emulated_hw/t1/programs/instructions.hpp"
#include "emulated_hw/t1/programs/sending.hpp"

namespace am::across {

namespace {

class OnT1 final : public Machine {
  using Priority = t1::Priority;
  using Processor = t1::Processor;

 public:
  explicit OnT1(const t1::Shape& shape)
      : Machine(shape.rows * shape.columns), machine_(shape), computations_(nodes()), sums_(nodes()) {}

  [[nodiscard]] Cycle cycles() const override { return machine_.now(); }

  void run(NodeNumber node, Computation computation) override {
    place_handlers(node);
    computations_[node] = std::move(computation);
    machine_.node(node).run([this, node](Processor&) { return computations_[node](); });
  }
  void run_or_throw(const std::function<bool()>& pred) override { machine_.run_or_throw(pred, 200'000); }

  Program request(NodeNumber here, NodeNumber to, unsigned handler, Words words) override {
    return send(here, Priority::low, to, handler, words);
  }
  Program put(NodeNumber here, NodeNumber to, unsigned words, unsigned handler) override {
    Processor& cpu = machine_.node(here);
    for (unsigned at = 0; at < words; at += t1::most_vector) {
      const unsigned piece = std::min(words - at, t1::most_vector);
      const bool is_last = at + piece == words;
      cpu.registers().data = {here, at, handler};
      for (unsigned i = 0; i < piece; ++i) cpu.registers().vr1[i] = block_word(here, at + i);
      co_await cpu.cycles(4 * t1::costs::move + t1::costs::vector(piece) + 2 * t1::costs::branch);
      co_await t1::send_until_accepted(cpu, {.scalars = 3, .vector = true}, to,
                                       is_last ? last_piece : next_piece, piece);
    }
  }
  Program compute(NodeNumber here, unsigned cycles) override { co_await machine_.node(here).cycles(cycles); }
  Program wait(NodeNumber here, std::function<bool()> until) override {
    Processor& cpu = machine_.node(here);
    while (!until()) co_await cpu.cycles(t1::costs::look);
  }
  Program poll(NodeNumber /*here*/) override { co_return; }

 private:
  static constexpr t1::Address first_handler = 0x1000;
  static constexpr t1::Address next_piece = 0x100;
  static constexpr t1::Address last_piece = 0x200;

  void place_handlers(NodeNumber node) {
    Processor& cpu = machine_.node(node);
    for (unsigned handler = 0; handler < handlers(); ++handler)
      cpu.place(first_handler + 4 * handler, [this, node, handler](Processor& on) -> Program {
        const auto& data = on.registers().data;
        co_await take(node, handler, data[0], {data[1], data[2], data[3]});
      });
    cpu.place(next_piece, [this, node](Processor& on) { return store(on, node); });
    cpu.place(last_piece, [this, node](Processor& on) -> Program {
      co_await store(on, node);
      const NodeNumber from = on.registers().data[0];
      const Word sum = std::exchange(sums_[node][from], 0);
      co_await take(node, on.registers().data[2], from, {sum});
    });
  }
  /// The vector into memory.
  Program store(Processor& cpu, NodeNumber node) {
    const unsigned words = t1::nistat::vlen(co_await cpu.cfc2(t1::Register::nistat));
    const auto& [from, at, handler, unused, unused_too] = cpu.registers().data;
    for (unsigned i = 0; i < words; ++i) sums_[node][from] += cpu.registers().vr1[i] * (at + i + 1);
    co_await cpu.cycles(t1::costs::move + t1::costs::vector(words));
  }
  Program take(NodeNumber node, unsigned handler, NodeNumber from, Words words) {
    Incoming incoming{node, from, words, [this, node, from](unsigned with, Words answer) {
                        return send(node, Priority::high, from, with, answer);
                      }};
    co_await handle(handler, incoming);
  }
  Program send(NodeNumber here, Priority priority, NodeNumber to, unsigned handler, Words words) {
    Processor& cpu = machine_.node(here);
    cpu.registers().data = {here, words[0], words[1], words[2]};
    co_await cpu.cycles(4 * t1::costs::move);
    co_await t1::send_until_accepted(cpu, {.scalars = 4, .priority = priority}, to,
                                     first_handler + 4 * handler);
    co_await cpu.cycles(t1::costs::branch);
  }

  t1::Machine machine_;
  std::vector<Computation> computations_;
  std::vector<std::map<NodeNumber, Word>> sums_;  // of blocks that come, by receiver and sender
};

}  // namespace

std::unique_ptr<Machine> on_t1(unsigned rows, unsigned columns) {
  return std::make_unique<OnT1>(t1::Shape{.rows = rows, .columns = columns});
}

}  // namespace am::across
