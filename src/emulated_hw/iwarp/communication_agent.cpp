#include "emulated_hw/iwarp/communication_agent.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "emulated_hw/kit/fingerprint.hpp"

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
    const Tag tag = input.queue[count++].word.tag;
    if (tag == Tag::message_end || tag == Tag::pathway_end) break;
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
  input.head_since = now();  // what is there is matched anew
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

void CommunicationAgent::step() {
  kit::for_each(full_, [this](unsigned channel) { go_on(static_cast<Channel>(channel)); });
  grant();
  for (unsigned bus = 0; bus < directions; ++bus) transmit(static_cast<Direction>(bus));
}

void CommunicationAgent::go_on(Channel channel) {
  Input& input = inputs_[channel];
  switch (input.state) {
    case State::idle:
      return route(channel);
    case State::discards:
      if (pop(channel).tag == Tag::pathway_end) input.state = State::idle;
      return;
    case State::passes:
      return;
    case State::own:
      if (input.out == no_channel) return announce(channel);
      joining_[input.out] |= kit::request(channel);
      return;
    case State::ends_here:
      if (input.out == no_channel) return at_its_end(channel);
      if (head(input).tag == Tag::pathway_end && outputs_[input.out].holder == channel)
        message_has_left(input.out);  // without an end
  }
}

/// Of a pathway whose begin marker is here.
void CommunicationAgent::route(Channel channel) {
  Input& input = inputs_[channel];
  if (head(input).tag != Tag::pathway_begin)
    throw std::logic_error("iwarp: cell " + std::to_string(cell_) + ": a word came outside any pathway");
  if (now() < input.head_since + costs::match) return;
  const Data data = head(input).data;
  const Sign sign = Sign::of(data);
  const MatchCam::Match match = cam_.match(data);
  if (match == MatchCam::Match::own) return lose(channel);
  if (match == MatchCam::Match::none) return ask_for(channel, opposite(*input.bus), sign.pool);
  if (!sign.turn) {
    input.state = State::ends_here;
    input.origin = sign.origin;
    static_cast<void>(pop(channel));
    return post(Event::pathway_begin, channel);
  }
  if (now() < input.head_since + costs::corner || input.queue.size() < 2) return;
  ask_for(channel, *sign.turn, Sign::of(input.queue[1].word.data).pool);
}

void CommunicationAgent::ask_for(Channel channel, Direction bus, Pool pool) {
  if (on_bus_[port(bus)] == 0) return lose(channel);
  asking_[request_of(bus, pool)] |= kit::request(channel);
}

void CommunicationAgent::lose(Channel channel) {
  inputs_[channel].state = State::discards;
  inputs_[channel].origin = Sign::of(head(inputs_[channel]).data).origin;
  post(Event::lost, channel);
}

/// Of a pathway that ends here: a message goes on by its joint, or the program gets the word.
void CommunicationAgent::at_its_end(Channel channel) {
  Input& input = inputs_[channel];
  const Word& word = head(input);
  if (word.tag == Tag::message_begin && input.default_out != no_channel && !input.is_split) {
    if (now() < input.head_since + costs::match) return;
    input.is_split = cam_.match(word.data) == MatchCam::Match::here;
    if (!input.is_split) {
      joining_[input.default_out] |= kit::request(channel);
      return;
    }
  }
  announce(channel);
  if (word.tag == Tag::pathway_end && !input.is_bound) static_cast<void>(pop(channel));
}

void CommunicationAgent::post(Event event, Channel channel) noexcept {
  const auto at = static_cast<unsigned>(event);
  posted_[at] |= watched_[at] & kit::request(channel);
}

void CommunicationAgent::announce(Channel channel) {
  Input& input = inputs_[channel];
  const Tag tag = head(input).tag;
  if (tag != Tag::data && !std::exchange(input.is_announced, true)) post(event_of(tag), channel);
}

// -- outputs

std::optional<Channel> CommunicationAgent::free_output(Direction bus, Pool pool) const {
  std::optional<Channel> found;
  kit::for_each(on_bus_[port(bus)], [&](unsigned number) {
    const Output& output = outputs_[number];
    if (!found && !output.is_assigned && output.pool == pool) found = static_cast<Channel>(number);
  });
  return found;
}

void CommunicationAgent::take(Channel output, Channel channel) {
  Output& out = outputs_[output];
  out.is_assigned = true;
  out.owner = out.holder = channel;
  inputs_[channel].out = output;
}

void CommunicationAgent::grant() {
  for (unsigned at = 0; at < asking_.size(); ++at) {
    const kit::Requests asking = std::exchange(asking_[at], 0);
    if (asking == 0) continue;
    const auto output = free_output(static_cast<Direction>(at / pools), static_cast<Pool>(at % pools));
    if (!output) continue;  // blocked, and repeated
    const auto channel = static_cast<Channel>(set_ups_[at].pick(asking));
    set_ups_[at].had_its_turn(channel);
    Input& input = inputs_[channel];
    input.turns_head_into_begin = cam_.match(head(input).data) == MatchCam::Match::here;
    if (input.turns_head_into_begin) static_cast<void>(pop(channel));
    input.state = State::passes;
    take(*output, channel);
  }
  for (unsigned at = 0; at < outputs_.size(); ++at) {
    const kit::Requests joining = std::exchange(joining_[at], 0);
    if (joining == 0 || outputs_[at].holder != no_channel) continue;
    const auto channel = static_cast<Channel>(joints_[at].pick(joining));
    joints_[at].had_its_turn(channel);
    outputs_[at].holder = channel;
    inputs_[channel].out = static_cast<Channel>(at);
  }
}

bool CommunicationAgent::may_leave(const Output& output) const {
  if (output.holder == no_channel || output.room == 0) return false;
  const Input& input = inputs_[output.holder];
  if (input.queue.empty() || now() < input.joined_at) return false;
  const Tag tag = head(input).tag;
  const bool was_matched = tag == Tag::pathway_begin || input.turns_head_into_begin ||
                           (tag == Tag::message_begin && input.state == State::ends_here);
  return input.state == State::own || was_matched || now() >= input.queue.front().came + busses_.setting.word;
}

void CommunicationAgent::transmit(Direction bus) {
  Cycle& free_at = bus_free_at_[port(bus)];
  if (free_at > now()) return;
  kit::Requests ready = 0;
  kit::for_each(on_bus_[port(bus)], [&](unsigned number) {
    if (may_leave(outputs_[number])) ready |= kit::request(number);
  });
  if (ready == 0) return;
  const unsigned number = turns_[port(bus)].pick(ready);
  turns_[port(bus)].had_its_turn(number);
  free_at = now() + costs::bus;
  send(outputs_[number], static_cast<Channel>(number));
}

void CommunicationAgent::send(Output& output, Channel number) {
  Word word = dequeue(output.holder);
  if (std::exchange(inputs_[output.holder].turns_head_into_begin, false)) word.tag = Tag::pathway_begin;
  --output.room;
  ++output.carried;
  busses_.words.put(now() + costs::bus, {output.to, word});
  busses_.fingerprint += kit::mixed(kit::mixed(now(), Data{word.data} << 3 | static_cast<unsigned>(word.tag)),
                                    std::uint64_t{cell_} << 8 | number);
  output.is_in_message |= word.tag == Tag::message_begin;
  if (word.tag == Tag::pathway_end) pathway_has_left(number);
  if (word.tag == Tag::message_end) message_has_left(number);
}

void CommunicationAgent::pathway_has_left(Channel number) {
  Output& output = outputs_[number];
  Input& input = inputs_[output.owner];
  if (input.state == State::passes) input.state = State::idle;
  input.out = no_channel;
  input.is_in_use = false;
  for (Input& other : inputs_) {
    if (other.default_out == number) other.default_out = no_channel;
  }
  output.is_assigned = output.is_joint = output.is_in_message = false;
  output.owner = output.holder = no_channel;
}

void CommunicationAgent::message_has_left(Channel number) {
  Output& output = outputs_[number];
  Input& input = inputs_[output.holder];
  if (input.state == State::ends_here) input.out = no_channel;
  output.is_in_message = false;
  output.holder = output.is_joint ? no_channel : output.owner;
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
