// On the nCUBE/2: by the kernel's traps and interrupts. A block is one message, which stays in the buffer that it came in.
#include "emulated_hw/across/on_machines.hpp"
#include "emulated_hw/ncube2/programs/cmam.hpp"

namespace am::across {

namespace {

class OnNcube2 final : public Machine {
  using Cmam = ncube2::Cmam;
  using Processor = ncube2::Processor;
  static constexpr unsigned look_cycles = ncube2::costs::load + ncube2::costs::compare_and_branch;
  static constexpr ncube2::Word block_at = 256;  // behind Cmam's own buffers

 public:
  explicit OnNcube2(unsigned dimensions)
      : Machine(NodeNumber{1} << dimensions),
        machine_(dimensions, block_at + most_message + buffers(nodes()) * most_message),
        cmam_(machine_, buffers(nodes()), most_message),
        computations_(nodes()) {}

  [[nodiscard]] Cycle cycles() const override { return machine_.now(); }

  void run(NodeNumber node, Computation computation) override {
    if (placed_.empty()) place_handlers();
    computations_[node] = std::move(computation);
    for (unsigned at = 0; at < most_block; ++at)
      machine_.node(node).memory()[block_at + Cmam::message_words + at] = block_word(node, at);
    machine_.node(node).run([this, node](Processor&) { return computations_[node](); });
  }
  void run_or_throw(const std::function<bool()>& pred) override { machine_.run_or_throw(pred, 1'000'000); }

  Program request(NodeNumber here, NodeNumber to, unsigned handler, Words words) override {
    return cmam_.request(machine_.node(here), to, placed_[handler], {0, words[0], words[1], words[2]});
  }
  Program put(NodeNumber here, NodeNumber to, unsigned words, unsigned handler) override {
    return cmam_.send_block(machine_.node(here), to, block_at, placed_[handler], {words, 0, 0, 0});
  }
  Program compute(NodeNumber here, unsigned cycles) override { co_await machine_.node(here).cycles(cycles); }
  Program wait(NodeNumber here, std::function<bool()> until) override {
    Processor& cpu = machine_.node(here);
    while (!until()) co_await cpu.cycles(look_cycles);
  }
  Program poll(NodeNumber /*here*/) override { co_return; }

 private:
  static constexpr ncube2::Word most_message = Cmam::message_words + most_block;
  /// So many that all nodes may send it two messages at once, and that it may have as many answers under way.
  static constexpr unsigned buffers(NodeNumber nodes) noexcept { return 4 * nodes; }

  void place_handlers() {
    for (unsigned handler = 0; handler < handlers(); ++handler)
      placed_.push_back(cmam_.place([this, handler](Processor& cpu, Cmam::Incoming& in) -> Program {
        const auto& [block, first, second, third] = in.arguments;
        Words words{first, second, third};
        if (block != 0) {
          const Word at = in.received.at + Cmam::message_words - ncube2::header_words;
          words = {sum_of(block, [&cpu, at](unsigned i) { return cpu.memory().at(at + i); })};
        }
        Incoming incoming{cpu.node(), in.from, words, [this, &cpu, &in](unsigned with, Words answer) {
                            return cmam_.reply(cpu, in, placed_[with], {0, answer[0], answer[1], answer[2]});
                          }};
        co_await handle(handler, incoming);
      }));
  }

  ncube2::Machine machine_;
  Cmam cmam_;
  std::vector<Word> placed_;  // what Cmam calls each handler
  std::vector<Computation> computations_;
};

}  // namespace

std::unique_ptr<Machine> on_ncube2(unsigned dimensions) { return std::make_unique<OnNcube2>(dimensions); }

}  // namespace am::across
