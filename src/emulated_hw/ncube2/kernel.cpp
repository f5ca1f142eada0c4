#include "emulated_hw/ncube2/kernel.hpp"

#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

namespace am::ncube2 {

namespace {

constexpr unsigned first_of(std::uint16_t dimensions) noexcept {
  return static_cast<unsigned>(std::countr_zero(dimensions));
}

constexpr unsigned length_bits = 16;  // of the kernel's word; above is the sender
constexpr Word kernel_word(NodeNumber from, Word words) noexcept { return from << length_bits | words; }

}  // namespace

Kernel::Kernel(Processor& cpu, const Setting& setting)
    : cpu_(cpu), setting_(setting), segment_(static_cast<Word>(cpu.memory().size())) {
  if (setting.most_words < header_words || setting.most_words >> length_bits != 0 ||
      setting.buffers > segment_ / setting.most_words)
    throw std::invalid_argument("ncube2: node " + std::to_string(cpu.node()) + ": " +
                                std::to_string(setting.buffers) + " buffers of " +
                                std::to_string(setting.most_words) + " words");
  segment_ -= setting.buffers * setting.most_words;
  for (Word buffer = segment_; buffer != cpu.memory().size(); buffer += setting.most_words)
    free_.push_back(buffer);
  for (unsigned dimension = 0; dimension < cpu.engines().dimensions(); ++dimension) {
    cpu.on_input(dimension, [this, dimension](Processor&) { return come(dimension); });
    cpu.on_output(dimension, [this, dimension](Processor&) { return gone(dimension); });
    if (setting.interrupts) cpu.enabled().inputs |= bit(dimension);
    if (free_.empty()) {
      without_buffer_ |= bit(dimension);
      continue;
    }
    input_[dimension] = free_.back();
    free_.pop_back();
    cpu.engines().receive(dimension, input_[dimension]);
  }
}

bool Kernel::may_send(const Message& message) const noexcept {
  return message.to >= setting_.first && message.to - setting_.first < setting_.nodes &&
         message.to != cpu_.node() && message.words >= header_words && message.words <= setting_.most_words &&
         message.at <= segment_ && message.words <= segment_ - message.at;
}

Program Kernel::check_and_submit(Message message, WhenBusy when_busy, Sent& sent) {
  co_await cpu_.cycles(costs::check);
  sent = Sent::refused;
  if (may_send(message))
    co_await submit(message.to, {.at = message.at, .words = message.words}, when_busy, sent);
}

/// "If that DMA is busy, the kernel can either queue the message or suspend the user process."
Program Kernel::submit(NodeNumber to, Outgoing outgoing, WhenBusy when_busy, Sent& sent) {
  const Address address{.node = to};
  const unsigned dimension = first_dimension(cpu_.node(), address);
  co_await cpu_.cycles(costs::find_engine);
  co_await cpu_.store(outgoing.at, address.word());
  co_await cpu_.store(outgoing.at + 1, kernel_word(cpu_.node(), outgoing.words));
  sent = Sent::going;
  if (is_busy(dimension) && when_busy == WhenBusy::fail) {
    sent = Sent::busy;
    co_return;
  }
  while (is_busy(dimension)) {
    co_await cpu_.enable_output(dimension);
    if (when_busy == WhenBusy::queue) {
      co_await cpu_.cycles(costs::queue);
      outputs_[dimension].queue.push_back(outgoing);
      sent = Sent::queued;
      co_return;
    }
    co_await cpu_.halt();
  }
  co_await go(dimension, outgoing);
}

/// The bit of the message before is cleared, so that it does not interrupt. Where somebody waits for the end of this one, that does.
Program Kernel::go(unsigned dimension, Outgoing outgoing) {
  Output& output = outputs_[dimension];
  co_await cpu_.clear_output(dimension);
  if (outgoing.is_buffer || !output.queue.empty()) co_await cpu_.enable_output(dimension);
  if (outgoing.is_buffer) output.releases = outgoing.at;
  co_await cpu_.send(dimension, outgoing.at, outgoing.words);
}

/// An output interrupt.
Program Kernel::gone(unsigned dimension) {
  Output& output = outputs_[dimension];
  co_await cpu_.disable_output(dimension);
  const std::optional<Word> free = std::exchange(output.releases, {});
  co_await cpu_.cycles(costs::load + costs::compare_and_branch);
  if (!output.queue.empty()) {
    const Outgoing next = output.queue.front();
    output.queue.pop_front();
    co_await go(dimension, next);
  }
  if (free) co_await give_back(*free);
}

/// An input interrupt: "the kernel can inspect the message header. At that time, the kernel typically restarts the DMA for the next message."
Program Kernel::come(unsigned dimension) {
  const Word buffer = input_[dimension];
  co_await cpu_.clear_input(dimension);
  const Word word = co_await cpu_.load(buffer + 1);
  without_buffer_ |= bit(dimension);
  co_await cpu_.cycles(costs::find_buffer);
  if (!free_.empty()) {
    const Word next = free_.back();
    free_.pop_back();
    co_await give_back(next);
  }
  Received received{.from = word >> length_bits,
                    .at = buffer + header_words,
                    .words = (word & kernel_word(0, ~Word{0} >> length_bits)) - header_words};
  if (!upcall_) {
    co_await cpu_.cycles(costs::queue);
    received_.push_back(received);
    co_return;
  }
  co_await cpu_.cycles(costs::jump);
  co_await upcall_(cpu_, received);
  if (!received.kept) co_await give_back(buffer);
}

/// To a port that is off, or to the others that are free.
Program Kernel::give_back(Word buffer) {
  if (without_buffer_ == 0) {
    co_await cpu_.cycles(costs::store);
    free_.push_back(buffer);
    co_return;
  }
  const unsigned dimension = first_of(without_buffer_);
  without_buffer_ &= static_cast<std::uint16_t>(~bit(dimension));
  input_[dimension] = buffer;
  co_await cpu_.receive(dimension, buffer);
}

Program Kernel::take(Delivery how, Word to, Received& received) {
  co_await cpu_.cycles(costs::load + costs::compare_and_branch);
  received = {};
  if (received_.empty()) co_return;
  received = received_.front();
  received_.pop_front();
  if (how == Delivery::map) {
    co_await cpu_.cycles(costs::map);
    co_return;
  }
  const Word from = received.at;
  for (Word word = 0; word < received.words; ++word)
    co_await cpu_.store(to + word, co_await cpu_.load(from + word, costs::copy_load), costs::copy_store);
  received.at = to;
  co_await give_back(from - header_words);
}

Program Kernel::look() {
  for (;;) {
    const Status status = co_await cpu_.read_status();
    co_await cpu_.cycles(costs::compare_and_branch);
    if (status.input_ready == 0) co_return;
    co_await cpu_.cycles(costs::first_bit);
    co_await come(first_of(status.input_ready));
  }
}

Program Kernel::reply(Received& received, NodeNumber to, Word words) {
  Sent sent{};
  received.kept = true;
  co_await submit(to, {.at = received.at - header_words, .words = words, .is_buffer = true}, WhenBusy::queue,
                  sent);
}

}  // namespace am::ncube2
