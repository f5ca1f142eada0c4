#include "emulated_hw/ncube2/processor.hpp"

#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace am::ncube2 {

Processor::Processor(Network& network, NodeNumber node, std::size_t words)
    : CoreOf(node, {.dispatch = costs::trap,
                    .handler_return = costs::reti,
                    .access = dram_cycles,
                    .next_access = page_cycles}),
      network_(network),
      engines_(network, node, words) {
  uses(engines_.memory_port(), Engines::processor);
}

const Processor::Code* Processor::pending() const noexcept {
  const Status& status = engines_.status();
  const auto first = [](unsigned bits, const auto& vectors) -> const Code* {
    return bits == 0 ? nullptr : &vectors[static_cast<unsigned>(std::countr_zero(bits))];
  };
  const Code* input = first(psw_.inputs ? status.input_ready & enabled_.inputs : 0u, input_vectors_);
  if (input != nullptr) return input;
  return first(psw_.outputs ? status.output_ready & enabled_.outputs : 0u, output_vectors_);
}

void Processor::step() {
  catch_up();
  const Code* const interrupt = can_be_preempted() ? pending() : nullptr;
  if (interrupt != nullptr) {
    saved_.push_back(std::exchange(psw_, no_interrupts));
    preempt(in_kernel((*interrupt)(*this)));
  }
  if (Core::step()) {
    psw_ = saved_.back();
    saved_.pop_back();
    resume_if_halted();
  }
  if (engines_.step()) access_is_over();
}

Program Processor::in_kernel(Program service) {
  co_await accesses(costs::push * costs::saved_registers, costs::saved_words);
  co_await service;
  co_await accesses(costs::pop * costs::saved_registers, costs::saved_words);
}

Program Processor::trap(Program service) {
  const Psw before = psw_;
  co_await set_psw(costs::trap, no_interrupts);
  co_await in_kernel(std::move(service));
  co_await set_psw(costs::reti, before);
}

void Processor::add_waits(kit::Waits& waits) const {
  if (has_ended() && !is_in_handler()) return;
  const std::string name = "node " + std::to_string(node());
  std::string line = name + (is_in_handler() ? ": runs a handler"
                             : is_idle()     ? ": its program waits for an interrupt"
                                             : ": its program goes on");
  std::vector<std::string> behind;
  for (unsigned dimension = 0; dimension < network_.dimensions(); ++dimension) {
    if (!engines_.is_sending(dimension)) continue;
    line += "; port " + std::to_string(dimension) + " sends a message that does not get on";
    behind.push_back(network_.place_at(network_.out_of(node(), dimension)));
  }
  waits.add(name, std::move(line), std::move(behind));
}

}  // namespace am::ncube2
