// On the CM-5: by CMAM, whose programs poll. A block goes by its xfer, four words to a message.
#include "emulated_hw/across/on_machines.hpp"
#include "emulated_hw/cm5/programs/cmam.hpp"

namespace am::across {

namespace {

class OnCm5 final : public Machine {
  using Cmam = cm5::Cmam;
  using Processor = cm5::Processor;
  static constexpr cm5::Word received_at =
      Machine::most_block;  // behind what it sends, a segment for each node

 public:
  explicit OnCm5(NodeNumber nodes)
      : Machine(nodes),
        machine_(nodes, received_at + std::size_t{nodes} * most_block),
        computations_(nodes) {}

  [[nodiscard]] Cycle cycles() const override { return machine_.processor_cycles(); }

  void run(NodeNumber node, Computation computation) override {
    if (placed_.empty()) place_handlers();
    computations_[node] = std::move(computation);
    for (unsigned at = 0; at < most_block; ++at) machine_.node(node).memory()[at] = block_word(node, at);
    machine_.node(node).run([this, node](Processor&) { return computations_[node](); });
  }
  void run_or_throw(const std::function<bool()>& pred) override { machine_.run_or_throw(pred, 200'000); }

  Program request(NodeNumber here, NodeNumber to, unsigned handler, Words words) override {
    return cmam_.request(machine_.node(here), to, placed_[handler], {here, words[0], words[1], words[2]});
  }
  Program put(NodeNumber here, NodeNumber to, unsigned words, unsigned handler) override {
    cmam_.open_segment(to, here, {.at = segment_of(here), .words = words, .handler = blocks_[handler]});
    return cmam_.xfer(machine_.node(here), to, here, 0, words);
  }
  Program compute(NodeNumber here, unsigned cycles) override { co_await machine_.node(here).cycles(cycles); }
  Program wait(NodeNumber here, std::function<bool()> until) override {
    Processor& cpu = machine_.node(here);
    while (!until()) co_await cmam_.poll(cpu);
  }
  Program poll(NodeNumber here) override { return cmam_.poll(machine_.node(here)); }

 private:
  [[nodiscard]] static constexpr cm5::Word segment_of(NodeNumber from) noexcept {
    return received_at + from * most_block;
  }
  void place_handlers() {
    for (unsigned handler = 0; handler < handlers(); ++handler) {
      placed_.push_back(cmam_.place([this, handler](Processor& cpu, Cmam::Incoming& in) {
        const auto& [from, first, second, third] = in.arguments;
        return take(cpu, handler, from, {first, second, third});
      }));
      blocks_.push_back(cmam_.place([this, handler](Processor& cpu, Cmam::Incoming& in) {
        const auto& [from, words, unused, unused_too] = in.arguments;
        const auto word = [&cpu, at = segment_of(from)](unsigned i) { return cpu.memory().at(at + i); };
        return take(cpu, handler, from, {sum_of(words, word)});
      }));
    }
  }
  Program take(Processor& cpu, unsigned handler, NodeNumber from, Words words) {
    Incoming incoming{
        cpu.node(), from, words, [this, &cpu, from](unsigned with, Words answer) {
          return cmam_.reply(cpu, from, placed_[with], {cpu.node(), answer[0], answer[1], answer[2]});
        }};
    co_await handle(handler, incoming);
  }

  cm5::Machine machine_;
  Cmam cmam_;
  std::vector<Word> placed_;  // what Cmam calls each handler, for messages
  std::vector<Word> blocks_;  // and for blocks
  std::vector<Computation> computations_;
};

}  // namespace

std::unique_ptr<Machine> on_cm5(NodeNumber nodes) { return std::make_unique<OnCm5>(nodes); }

}  // namespace am::across
