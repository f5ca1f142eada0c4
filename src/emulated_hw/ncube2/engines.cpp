#include "emulated_hw/ncube2/engines.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace am::ncube2 {

namespace {

constexpr unsigned quadword = 2;  // words
constexpr unsigned quadword_cycles = dram_cycles + page_cycles;

constexpr unsigned user_of_output(unsigned dimension) noexcept { return dimension; }
constexpr unsigned user_of_input(unsigned dimension) noexcept { return most_dimensions + dimension; }

}  // namespace

Engines::Engines(Network& network, NodeNumber node, std::size_t words)
    : network_(network), node_(node), memory_(words) {}

void Engines::send(unsigned dimension, Word address, Word words, bool last) {
  if (words == 0 || address > memory_.size() || words > memory_.size() - address)
    throw std::out_of_range("ncube2: node " + std::to_string(node_) +
                            " sends nothing, or what is not in its memory");
  Output& output = outputs_.at(dimension);
  const std::uint32_t message = output.last ? begun(address) : output.message;
  output = {.address = address, .left = words, .ready = 0, .message = message, .last = last, .active = true};
  sending_ |= bit(dimension);
}

void Engines::receive(unsigned dimension, Word address) {
  inputs_.at(dimension) = {.address = address, .word = 0, .active = true};
  network_.accept(network_.into(node_, dimension));
}

std::uint32_t Engines::begun(Word address) const {
  if (trace_ == nullptr) return kit::Trace::nothing;
  const std::uint32_t message = trace_->begins(node_, Address::of(memory_[address]).node, 0);
  trace_->passes(message, node_, kit::Trace::injection, network_.now(), 1);
  return message;
}

bool Engines::has_nothing_to_do() const noexcept {
  if (sending_ != 0 || !port_.is_idle()) return false;
  for (unsigned dimension = 0; dimension < network_.dimensions(); ++dimension) {
    if (is_receiving(dimension) && network_.front(network_.into(node_, dimension)) != nullptr) return false;
  }
  return true;
}

bool Engines::step() {
  for (unsigned dimension = 0; dimension < network_.dimensions(); ++dimension) {
    if ((sending_ & bit(dimension)) != 0) push(dimension);
    if (inputs_[dimension].active) take(dimension);
  }
  bool processors = false;
  port_.step([&](unsigned user) {
    processors = user == processor;
    if (!processors) over(user);
  });
  return processors;
}

/// The next word goes when the one before is on its way; the next quadword is fetched when there is none in hand.
void Engines::push(unsigned dimension) {
  Output& output = outputs_[dimension];
  const kit::WireNumber wire = network_.out_of(node_, dimension);
  const bool goes = network_.is_drained(wire);
  if (output.ready != 0 && goes) {
    network_.send(wire, {memory_[output.address++], 0, output.message});
    --output.left;
    --output.ready;
  } else if (output.left == 0 && goes) {
    network_.send(wire,
                  {0, static_cast<std::uint8_t>(output.last ? Tag::end : Tag::segment), output.message});
    output.active = false;
    sending_ &= static_cast<std::uint16_t>(~bit(dimension));
    status_.output_ready |= bit(dimension);
  }
  if (output.ready == 0 && output.left != 0 && !port_.is_asked_by(user_of_output(dimension)))
    port_.ask(user_of_output(dimension), output.left == 1 ? dram_cycles : quadword_cycles);
}

void Engines::take(unsigned dimension) {
  Input& input = inputs_[dimension];
  const kit::WireNumber wire = network_.into(node_, dimension);
  const Network::Flit* const flit = network_.front(wire);
  if (flit == nullptr || port_.is_asked_by(user_of_input(dimension))) return;
  if (flit->tag != static_cast<std::uint8_t>(Tag::word)) {
    input.active = false;
    status_.input_ready |= bit(dimension);
    if (flit->tag == static_cast<std::uint8_t>(Tag::end)) {
      status_.message_ready |= bit(dimension);
      if (trace_ != nullptr) trace_->comes(flit->message, node_, network_.now());
    }
    network_.refuse(wire);
  } else if (input.address == drop) {
    network_.accept(wire);
  } else {
    input.word = flit->word;
    port_.ask(user_of_input(dimension), dram_cycles);
  }
  network_.take(wire);
}

/// An access ends.
void Engines::over(unsigned user) {
  if (user < most_dimensions) {
    Output& output = outputs_[user];
    output.ready = std::min<Word>(output.left, quadword);
    return;
  }
  const unsigned dimension = user - most_dimensions;
  Input& input = inputs_[dimension];
  if (input.address >= memory_.size())
    throw std::out_of_range("ncube2: a message to node " + std::to_string(node_) + " by port " +
                            std::to_string(dimension) + " runs over the end of its memory");
  memory_[input.address++] = input.word;
  const kit::WireNumber wire = network_.into(node_, dimension);
  const Network::Flit* const next = network_.front(wire);
  if (next == nullptr) network_.accept(wire);  // else it is the end
}

}  // namespace am::ncube2
