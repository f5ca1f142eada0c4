// What a communication agent does in a cycle: words find their ways, ask for outputs, and leave by their busses.
#include <stdexcept>
#include <string>
#include <utility>

#include "emulated_hw/iwarp/communication_agent.hpp"
#include "emulated_hw/kit/fingerprint.hpp"

namespace am::iwarp {

using State = Input::State;

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
  return input.state == State::own || now() >= input.queue.front().came + busses_.setting.word;
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
  if (busses_.watcher) busses_.watcher(cell_, output.bus, word);
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

}  // namespace am::iwarp
