#include "emulated_hw/iwarp/processor.hpp"

#include <stdexcept>
#include <string>

namespace am::iwarp {

Processor::Processor(CommunicationAgent& agent, std::size_t words)
    : Core(agent.cell(), {.dispatch = costs::dispatch, .handler_return = costs::handler_return}),
      agent_(agent),
      memory_agent_(agent, words) {
  extends_.fill(no_channel);
}

void Processor::run(Code computation) {
  computation_ = std::move(computation);
  compute(computation_(*this));
}

void Processor::step() {
  const bool is_stolen = memory_agent_.step();
  handle_events();
  if (is_stolen) return;
  if (is_stalled()) {
    Stalled& stalled = *stalled_.back();
    if (stalled.begins()) {
      stalled_.pop_back();
      wait(stalled.who, stalled.step);
    } else {
      ++stalled_cycles_;
    }
  }
  static_cast<void>(Core::step());
}

void Processor::handle_events() {
  if (is_in_handler() || !can_be_preempted()) return;
  for (unsigned event = 0; event < events; ++event) {
    if (!handlers_[event]) continue;
    if (const auto channel = posted(static_cast<Event>(event)))
      return preempt(handlers_[event](*this, *channel));
  }
}

void Processor::stall(std::coroutine_handle<> who, Stalled& stalled) {
  wait(who, {});
  stalled.who = who;
  stalled.depth = depth();
  stalled_.push_back(&stalled);
}

// -- gates

void Processor::bind_in(unsigned gate, Channel channel) {
  if (in_.at(gate) != no_channel) agent_.bind(in_[gate], false);
  in_[gate] = channel;
  agent_.bind(channel, true);
}

Channel Processor::bound(const std::array<Channel, gates>& all, unsigned gate) const {
  if (all.at(gate) != no_channel) return all[gate];
  throw std::logic_error("iwarp: cell " + std::to_string(cell()) + " uses a gate that is not bound");
}

kit::Requests Processor::channels_of(unsigned ins, unsigned outs) const {
  kit::Requests channels = 0;
  kit::for_each(ins, [&](unsigned gate) { channels |= kit::request(bound(in_, gate)); });
  kit::for_each(outs, [&](unsigned gate) { channels |= kit::request(bound(out_, gate)); });
  return channels;
}

/// What all of these gates have, if each has something, and there is room.
std::optional<Words> Processor::read_gates(unsigned ins, unsigned outs) {
  bool all = true;
  kit::for_each(ins, [&](unsigned gate) { all &= agent_.readable(in_[gate]) != 0; });
  kit::for_each(outs, [&](unsigned gate) { all &= agent_.room(out_[gate]) != 0; });
  if (!all) return {};
  Words words{};
  kit::for_each(ins, [&](unsigned gate) { words[gate] = agent_.pop(in_[gate]); });
  return words;
}

// -- pathways

Program Processor::open(const Route& route, std::optional<Source>& source) {
  co_await cycles(costs::run_time);
  source = co_await request(route.first, route.pool());
  if (!source) co_return;
  for (const Sign& sign : route.signs) {
    const bool is_first = &sign == &route.signs.front();
    co_await send(source->own, {sign.data(), is_first ? Tag::pathway_begin : Tag::data},
                  is_first ? costs::begin : costs::address);
  }
}

Program Processor::open_next(Direction to, Source& source) {
  std::optional<Source> opened;
  const Route route{to, {{.cell = agent_.neighbour(to), .origin = cell()}}};
  co_await open(route, opened);
  if (!opened)
    throw std::runtime_error("iwarp: cell " + std::to_string(cell()) + " has no channel to the next one");
  source = *opened;
}

std::optional<Channel> Processor::posted(Event event, CellNumber origin) {
  std::optional<Channel> found;
  kit::for_each(agent_.posted(event), [&](unsigned number) {
    const auto channel = static_cast<Channel>(number);
    if (!found && (origin == kit::nowhere || agent_.input(channel).origin == origin)) found = channel;
  });
  if (found) agent_.clear(event, *found);
  return found;
}

void Processor::extend_queue(unsigned gate, const Area& area) {
  const auto own = agent_.take_own();
  if (!own)
    throw std::length_error("iwarp: cell " + std::to_string(cell()) + " has no channel to extend a queue");
  const Channel from = in_.at(gate);
  memory_agent_.extend(from, *own, area.address, area.address + area.words);
  extends_[*own] = from;
  in_[gate] = *own;
  agent_.bind(*own, true);
}

void Processor::add_waits(kit::Waits& waits) const {
  if (has_ended() && !is_in_handler()) return;
  const std::string name = "cell " + std::to_string(cell());
  if (!is_stalled()) return waits.add(name, name + ": its program goes on");
  std::vector<std::string> behind;
  kit::for_each(stalled_.back()->channels, [&](unsigned channel) {
    const Channel from = extends_[channel] != no_channel ? extends_[channel] : static_cast<Channel>(channel);
    const bool is_full = agent_.input(from).state == Input::State::own && agent_.room(from) == 0;
    if (is_full || agent_.readable(static_cast<Channel>(channel)) == 0)
      behind.push_back(CommunicationAgent::place({cell(), from}));
  });
  if (const CellNumber origin = stalled_.back()->pathway; origin != kit::nowhere)
    behind.push_back(CommunicationAgent::pathway_of(origin));
  std::string line = name + ": its program waits for " + (behind.empty() ? "an event" : "");
  for (const std::string& one : behind) line += (&one == &behind.front() ? "" : " and ") + one;
  waits.add(name, std::move(line), std::move(behind));
}

}  // namespace am::iwarp
