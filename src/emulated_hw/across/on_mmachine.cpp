// On the M-Machine: handlers run in thread slots of their own, beside the computation. A block goes in messages of eight words of 64 bits and
// one that says where they belong, from both register files in turns.
//
// Assumed: the computation is the system's, so that messages are physically addressed and not throttled.
#include <algorithm>
#include <map>

#include "emulated_hw/across/on_machines.hpp"
#include "emulated_hw/mmachine/machine.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"

namespace am::across {

namespace {

class OnMMachine final : public Machine {
  using PointerType = mmachine::PointerType;
  using Send = mmachine::Send;
  using Thread = mmachine::Thread;
  static constexpr std::uint64_t first_handler = 0x1000;
  static constexpr std::uint64_t block_handler = 0x800;
  static constexpr unsigned words_of_piece = 16;  // two in each word of a message
  static constexpr unsigned word_cycles = 1;      // v_o (7.2.2)
  static constexpr unsigned look_cycles = 2;      // load, branch

 public:
  explicit OnMMachine(const mmachine::Mesh::Shape& shape)
      : Machine(shape.width * shape.height), machine_(shape), computations_(nodes()), blocks_(nodes()) {}

  [[nodiscard]] Cycle cycles() const override { return machine_.now(); }

  void run(NodeNumber node, Computation computation) override {
    place_handlers(node);
    computations_[node] = std::move(computation);
    Thread& thread = thread_of(node);
    for (const unsigned condition : {0u, 1u}) thread.fill(condition);
    thread.run([this, node](Thread&) { return computations_[node](); }, mmachine::Privilege::system);
  }
  void run_or_throw(const std::function<bool()>& pred) override { machine_.run_or_throw(pred, 200'000); }

  Program request(NodeNumber here, NodeNumber to, unsigned handler, Words words) override {
    Thread& thread = thread_of(here);
    co_await thread.full(0);
    co_await send(thread, Send::isnd0pnt, nid_of(to), handler, words);
  }
  Program put(NodeNumber here, NodeNumber to, unsigned words, unsigned handler) override {
    Thread& thread = thread_of(here);
    bool floating = false;
    for (unsigned at = 0; at < words; at += words_of_piece, floating = !floating) {
      const unsigned piece = (std::min(words - at, words_of_piece) + 1) / 2;
      co_await thread.full(floating ? 1 : 0);
      auto& registers = floating ? thread.floating : thread.integers;
      registers[0].bits = std::uint64_t{handler} << 40 | std::uint64_t{words} << 20 | at;
      for (unsigned i = 0; i < piece; ++i)
        registers[i + 1].bits =
            std::uint64_t{block_word(here, at + 2 * i + 1)} << 32 | block_word(here, at + 2 * i);
      co_await thread.cycles((piece + 1) * word_cycles);
      co_await thread.send({.instruction = floating ? Send::fsnd0pnt : Send::isnd0pnt,
                            .destination = {nid_of(to), false},
                            .handler = pointer_to(PointerType::execute_message, block_handler),
                            .argcount = piece + 1,
                            .condition = floating ? 1u : 0u});
    }
  }
  Program compute(NodeNumber here, unsigned cycles) override { co_await thread_of(here).cycles(cycles); }
  Program wait(NodeNumber here, std::function<bool()> until) override {
    Thread& thread = thread_of(here);
    while (!until()) co_await thread.cycles(look_cycles);
  }
  Program poll(NodeNumber /*here*/) override { co_return; }

 private:
  struct Block {
    unsigned come = 0;
    Word sum = 0;
  };

  [[nodiscard]] Thread& thread_of(NodeNumber node) { return machine_.chip(node).thread(0, 0); }
  [[nodiscard]] std::uint64_t nid_of(NodeNumber node) {
    return mmachine::nid_of(machine_.mesh().place_of(node));
  }
  [[nodiscard]] NodeNumber node_at(const mmachine::Word& nid) {
    return machine_.mesh().number_of(mmachine::place_of(nid.bits));
  }

  void place_handlers(NodeNumber node) {
    for (unsigned handler = 0; handler < handlers(); ++handler)
      machine_.chip(node).place(first_handler + handler, [this, node, handler](Thread& thread) -> Program {
        co_await thread.msg_body();
        const mmachine::Word sender = co_await thread.msg_body();
        co_await thread.msg_body();
        Words words{};
        for (Word& word : words) word = static_cast<Word>((co_await thread.msg_body()).bits);
        co_await thread.cycles(static_cast<unsigned>(words.size()) * word_cycles);
        co_await take(thread, node, handler, sender, words);
      });
    machine_.chip(node).place(block_handler, [this, node](Thread& thread) { return store(thread, node); });
  }
  Program store(Thread& thread, NodeNumber node) {
    const auto argcount = static_cast<unsigned>((co_await thread.msg_body()).bits);
    const mmachine::Word sender = co_await thread.msg_body();
    co_await thread.msg_body();
    const std::uint64_t what = (co_await thread.msg_body()).bits;
    const auto at = static_cast<unsigned>(what & 0xfffff);
    const auto words = static_cast<unsigned>(what >> 20 & 0xfffff);
    Block& block = blocks_[node][node_at(sender)];
    for (unsigned i = at; i < at + 2 * (argcount - 1) && i < words; i += 2) {
      const std::uint64_t two = (co_await thread.msg_body()).bits;
      block.sum += static_cast<Word>(two) * (i + 1);
      if (i + 1 < words) block.sum += static_cast<Word>(two >> 32) * (i + 2);
    }
    block.come += std::min(words - at, words_of_piece);
    co_await thread.cycles(argcount * word_cycles + look_cycles);  // and whether it was the last
    if (block.come != words) co_return;
    const Block whole = std::exchange(block, {});
    co_await take(thread, node, static_cast<unsigned>(what >> 40), sender, {whole.sum});
  }
  Program take(Thread& thread, NodeNumber node, unsigned handler, mmachine::Word sender, Words words) {
    Incoming incoming{node, node_at(sender), words, [this, &thread, sender](unsigned with, Words answer) {
                        return send(thread, Send::isnd1pnt, sender.bits, with, answer);
                      }};
    co_await handle(handler, incoming);
  }
  Program send(Thread& thread, Send instruction, std::uint64_t nid, unsigned handler, Words words) {
    for (std::size_t i = 0; i < words.size(); ++i) thread.integers[i] = {words[i], false};
    co_await thread.cycles(static_cast<unsigned>(words.size()) * word_cycles);
    co_await thread.send({.instruction = instruction,
                          .destination = {nid, false},
                          .handler = pointer_to(PointerType::execute_message, first_handler + handler),
                          .argcount = static_cast<unsigned>(words.size())});
  }

  mmachine::Machine machine_;
  std::vector<Computation> computations_;
  std::vector<std::map<NodeNumber, Block>> blocks_;  // that come, by receiver and sender
};

}  // namespace

std::unique_ptr<Machine> on_mmachine(unsigned height, unsigned width) {
  return std::make_unique<OnMMachine>(mmachine::Mesh::Shape{.width = width, .height = height});
}

}  // namespace am::across
