#include "emulated_hw/iwarp/communication_agent.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace am::iwarp {

using State = Input::State;

CommunicationAgent::CommunicationAgent(CellNumber cell, Busses& busses)
    : cell_(cell), busses_(busses), cam_(cell) {
  watch(Event::pathway_begin, ~kit::Requests{0});
  watch(Event::lost, ~kit::Requests{0});
}

void CommunicationAgent::check(std::size_t channels) const {
  if (channels == most_channels)
    throw std::length_error("iwarp: cell " + std::to_string(cell_) +
                            " would have more than 20 channels one way");
}

Channel CommunicationAgent::add_output(Direction bus, Pool pool) {
  check(outputs_.size());
  const auto number = static_cast<Channel>(outputs_.size());
  outputs_.push_back({.bus = bus, .pool = pool, .room = busses_.setting.queue});
  on_bus_[port(bus)] |= kit::request(number);
  return number;
}

Channel CommunicationAgent::add_input(Direction bus, ChannelEnd from) {
  check(inputs_.size());
  inputs_.push_back({.bus = bus, .from = from});
  return static_cast<Channel>(inputs_.size() - 1);
}

void CommunicationAgent::add_own_inputs() {
  Input own;
  own.state = State::own;
  inputs_.resize(most_channels, own);
}

// -- what the computation agent does

std::optional<Channel> CommunicationAgent::take_own() {
  const auto own = std::ranges::find_if(
      inputs_, [](const Input& input) { return input.state == State::own && !input.is_in_use; });
  if (own == inputs_.end()) return {};
  own->is_in_use = true;
  return static_cast<Channel>(own - inputs_.begin());
}

std::optional<Channel> CommunicationAgent::assign(Channel own, Direction bus, Pool pool) {
  const std::optional<Channel> output = free_output(bus, pool);
  if (output) take(*output, own);
  return output;
}

void CommunicationAgent::push(Channel own, const Word& word) {
  Input& input = inputs_[own];
  if (input.queue.empty()) input.head_since = now();
  input.queue.push({word, now()});
  full_ |= kit::request(own);
  ++busses_.under_way;
  busses_.last_move = now();
}

unsigned CommunicationAgent::readable(Channel channel) const {
  const Input& input = inputs_[channel];
  if (input.out != no_channel) return 0;
  if (input.state == State::own) return static_cast<unsigned>(input.queue.size());
  if (input.state != State::ends_here || input.queue.empty()) return 0;
  if (head(input).tag == Tag::message_begin && input.default_out != no_channel && !input.is_split) return 0;
  unsigned count = 0;
  while (count < input.queue.size() && input.queue[count].came + busses_.setting.word <= now()) {
    if (input.queue[count++].word.tag == Tag::pathway_end) break;
  }
  return count;
}

Word CommunicationAgent::pop(Channel channel) {
  const Word word = dequeue(channel);
  Input& input = inputs_[channel];
  --busses_.under_way;
  if (word.tag != Tag::pathway_end) return word;
  input.is_in_use = false;  // own: of a queue that went on in memory
  if (input.state == State::ends_here) {
    input.state = State::idle;
    input.default_out = no_channel;
    input.is_split = false;
  }
  return word;
}

void CommunicationAgent::link(Channel channel, Channel output) {
  Input& input = inputs_.at(channel);
  Output& out = outputs_.at(output);
  if (input.state != State::ends_here || !out.is_assigned || inputs_[out.owner].state != State::own)
    throw std::invalid_argument("iwarp: a joint links a pathway that ends here to one that begins here");
  input.default_out = output;
  input.is_split = false;
  input.joined_at = now() + costs::join;
  out.is_joint = true;
  if (!out.is_in_message) out.holder = no_channel;
}

void CommunicationAgent::restore(Channel channel) {
  Input& input = inputs_.at(channel);
  input.is_split = false;
  input.joined_at = now() + costs::join;
}

void CommunicationAgent::redirect(Channel channel, Channel output) {
  Input& input = inputs_.at(channel);
  if (input.state != State::ends_here || !outputs_.at(output).is_assigned)
    throw std::invalid_argument("iwarp: only a message that has come may be redirected, to a pathway");
  input.out = output;
  input.joined_at = now() + costs::join;
  outputs_[output].holder = channel;
}

// -- what comes, and where it goes

void CommunicationAgent::arrives(Channel channel, const Word& word) {
  Input& input = inputs_[channel];
  if (input.queue.size() == busses_.setting.queue)
    throw std::logic_error("iwarp: a word was sent to a full queue");
  if (input.queue.empty()) input.head_since = now();
  input.queue.push({word, now()});
  full_ |= kit::request(channel);
}

/// The first word is gone, and the transmitter is told.
Word CommunicationAgent::dequeue(Channel channel) {
  Input& input = inputs_[channel];
  const Word word = input.queue.pop().word;
  input.head_since = now();
  input.is_announced = false;
  if (input.queue.empty()) full_ &= ~kit::request(channel);
  if (input.bus) busses_.dequeues.put(now() + busses_.setting.dequeue, input.from);
  busses_.last_move = now();
  return word;
}

// -- who waits

void CommunicationAgent::add_waits(Channel channel, kit::Waits& waits) const {
  const Input& input = inputs_[channel];
  const ChannelEnd here{cell_, channel};
  const auto add = [&](const std::string& what, std::vector<std::string> behind) {
    waits.add(place(here), place(here) + ": " + what, std::move(behind));
  };
  const std::string program = "cell " + std::to_string(cell_);
  if (input.queue.empty()) {
    if (input.state == State::own && input.out != no_channel)
      add("is empty, its program sends nothing", {program});
    return;
  }
  const std::string words = std::to_string(input.queue.size()) + " words";
  if (input.state == State::idle) {
    const Sign sign = Sign::of(head(input).data);
    const bool turns = cam_.match(head(input).data) == MatchCam::Match::here;
    const Direction bus = turns ? *sign.turn : opposite(*input.bus);
    std::vector<std::string> behind;
    kit::for_each(on_bus_[port(bus)], [&](unsigned number) {
      if (outputs_[number].is_assigned) behind.push_back(place({cell_, outputs_[number].owner}));
    });
    add("a pathway of cell " + std::to_string(sign.origin) + " waits for a channel", std::move(behind));
    const std::string pathway = pathway_of(sign.origin);
    return waits.add(pathway, pathway + " is at " + place(here), {place(here)});
  }
  const bool is_joining = head(input).tag == Tag::message_begin && !input.is_split;
  const Channel out = input.out == no_channel && is_joining ? input.default_out : input.out;
  if (out == no_channel) return add(words + " for its program", {program});
  const Output& output = outputs_[out];
  if (output.holder != channel && output.holder != no_channel)
    return add(words + " wait for the end of another message", {place({cell_, output.holder})});
  if (output.room == 0) add(words + " wait for room", {place(output.to)});
}

}  // namespace am::iwarp
