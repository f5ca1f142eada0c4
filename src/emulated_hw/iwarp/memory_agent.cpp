#include "emulated_hw/iwarp/memory_agent.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace am::iwarp {

namespace {

constexpr bool ends_message(Tag tag) noexcept { return tag == Tag::message_end || tag == Tag::pathway_end; }

}  // namespace

unsigned MemoryAgent::set_up(const Spool& spool, bool is_in) {
  const std::size_t words = is_in ? 1 : spool.words;
  if (spool.limit > memory_.size() || spool.address >= spool.limit || words > spool.limit - spool.address)
    throw std::invalid_argument("iwarp: cell " + std::to_string(agent_.cell()) + " spools words " +
                                std::to_string(spool.address) + " to " + std::to_string(spool.limit) +
                                " of " + std::to_string(memory_.size()));
  const auto free = std::ranges::find(gates_, State::free, &Gate::state);
  if (free == gates_.end())
    throw std::length_error("iwarp: cell " + std::to_string(agent_.cell()) +
                            ": all spooling gates are in use");
  *free = {.its = spool, .state = State::active, .is_in = is_in};
  if (is_in) agent_.bind(spool.channel, true);
  return static_cast<unsigned>(free - gates_.begin());
}

void MemoryAgent::extend(Channel from, Channel to, std::size_t address, std::size_t limit) {
  const unsigned in = set_up({.channel = from, .address = address, .limit = limit}, true);
  const unsigned out = set_up({.channel = to, .address = address, .limit = limit}, true);
  gates_[out].is_in = false;
  gates_[in].partner = out;
  gates_[out].partner = in;
}

/// Free, of an in-gate; or filled.
std::size_t MemoryAgent::space(const Gate& gate) const {
  const std::size_t all = gate.its.limit - gate.its.address;
  if (gate.partner == nobody) return all - gate.moved;
  const std::size_t other = gates_[gate.partner].moved;
  return gate.is_in ? all - (gate.moved - other) : other - gate.moved;
}

std::size_t MemoryAgent::movable(const Gate& gate) const {
  std::size_t words = std::min({double_word, space(gate), gate.its.words - gate.moved});
  if (!gate.is_in) return std::min<std::size_t>(words, agent_.room(gate.its.channel));
  words = std::min<std::size_t>(words, agent_.readable(gate.its.channel));
  if (!gate.its.to_end) return words;
  for (std::size_t i = 0; i < words; ++i) {
    if (ends_message(agent_.front(gate.its.channel, i).tag)) return i;
  }
  return words;
}

bool MemoryAgent::is_ready(Gate& gate) {
  const std::size_t words = movable(gate);
  if (words != 1) gate.alone_since = agent_.now();
  return words == double_word || (words == 1 && agent_.now() >= gate.alone_since + costs::pairing);
}

/// At the end of the message, or of the buffer.
void MemoryAgent::find_end(Gate& gate) {
  if (!gate.is_in || agent_.readable(gate.its.channel) == 0) return;
  if (gate.its.to_end && ends_message(agent_.front(gate.its.channel).tag)) {
    static_cast<void>(agent_.pop(gate.its.channel));
    is_over(gate, State::over);
  } else if (gate.partner == nobody && space(gate) == 0) {
    is_over(gate, State::overflow);
  }
}

void MemoryAgent::is_over(Gate& gate, State state) {
  gate.state = state;
  if (gate.is_in) agent_.bind(gate.its.channel, false);
}

bool MemoryAgent::step() {
  kit::Requests ready = 0;
  for (unsigned at = 0; at < most_gates; ++at) {
    Gate& gate = gates_[at];
    if (gate.state == State::active) find_end(gate);
    if (gate.state == State::active && is_ready(gate)) ready |= kit::request(at);
  }
  if (ready == 0) return false;
  const unsigned at = turns_.pick(ready);
  turns_.had_its_turn(at);
  move(gates_[at]);
  ++stolen_;
  return true;
}

void MemoryAgent::move(Gate& gate) {
  Tag tag = Tag::data;
  for (std::size_t words = movable(gate); words != 0; --words) {
    Word& there = memory_[gate.its.address + gate.moved % (gate.its.limit - gate.its.address)];
    if (gate.is_in) {
      there = agent_.pop(gate.its.channel);
    } else {
      agent_.push(gate.its.channel, there);
    }
    tag = there.tag;
    ++gate.moved;
  }
  if (gate.partner != nobody && tag == Tag::pathway_end) {
    if (gate.is_in) return;
    gates_[gate.partner] = {};
    gate = {};
  } else if (gate.moved == gate.its.words) {
    is_over(gate, State::over);
  }
}

}  // namespace am::iwarp
