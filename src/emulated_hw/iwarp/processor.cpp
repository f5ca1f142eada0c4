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
  if (!pending_.empty() && pending_.back().depth == depth()) {
    if (pending_.back().stalled->begins()) {
      const Pending begun = pending_.back();
      pending_.pop_back();
      wait(begun.who, begun.step);
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

void Processor::stall(std::coroutine_handle<> who, const Step& step, Stalled& stalled) {
  wait(who, {});
  pending_.push_back({depth(), who, step, &stalled});
}

// -- gates

void Processor::bind_in(unsigned gate, Channel channel) {
  if (in_.at(gate) != no_channel) agent_.bind(in_[gate], false);
  in_[gate] = channel;
  agent_.bind(channel, true);
}

kit::Requests Processor::channels_of(unsigned ins, unsigned outs) const {
  kit::Requests channels = 0;
  kit::for_each(ins, [&](unsigned gate) { channels |= kit::request(in_.at(gate)); });
  kit::for_each(outs, [&](unsigned gate) { channels |= kit::request(out_.at(gate)); });
  return channels;
}

bool Processor::may_operate(unsigned ins, unsigned outs) const {
  bool all = true;
  kit::for_each(ins, [&](unsigned gate) { all &= agent_.readable(in_[gate]) != 0; });
  kit::for_each(outs, [&](unsigned gate) { all &= agent_.room(out_[gate]) != 0; });
  return all;
}

Words Processor::read_gates(unsigned ins) {
  Words words{};
  kit::for_each(ins, [&](unsigned gate) { words[gate] = agent_.pop(in_[gate]); });
  return words;
}

void Processor::write_gates(unsigned outs, const Words& words) {
  kit::for_each(outs, [&](unsigned gate) { agent_.push(out_[gate], words[gate]); });
}

// -- pathways

std::optional<Source> Processor::assign(Direction bus, Pool pool) {
  const auto own = agent_.take_own();
  if (!own) return {};
  const auto output = agent_.assign(*own, bus, pool);
  if (output) return Source{*own, *output};
  agent_.release_own(*own);
  return {};
}

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

std::optional<Channel> Processor::begun_by(CellNumber origin) {
  std::optional<Channel> found;
  kit::for_each(agent_.posted(Event::pathway_begin), [&](unsigned channel) {
    if (!found && agent_.input(static_cast<Channel>(channel)).origin == origin)
      found = static_cast<Channel>(channel);
  });
  if (found) agent_.clear(Event::pathway_begin, *found);
  return found;
}

std::optional<Channel> Processor::posted(Event event) {
  const kit::Requests channels = agent_.posted(event);
  if (channels == 0) return {};
  const auto channel = static_cast<Channel>(kit::first_of(channels));
  agent_.clear(event, channel);
  return channel;
}

void Processor::extend_queue(unsigned gate, std::size_t address, std::size_t limit) {
  const auto own = agent_.take_own();
  if (!own)
    throw std::length_error("iwarp: cell " + std::to_string(cell()) + " has no channel to extend a queue");
  const Channel from = in_.at(gate);
  memory_agent_.extend(from, *own, address, limit);
  extends_[*own] = from;
  in_[gate] = *own;
  agent_.bind(*own, true);
}

void Processor::add_waits(kit::Waits& waits) const {
  if (has_ended() && !is_in_handler()) return;
  const std::string name = "cell " + std::to_string(cell());
  const bool is_stalled = !pending_.empty() && pending_.back().depth == depth();
  if (!is_stalled) return waits.add(name, name + ": its program goes on");
  std::vector<std::string> behind;
  kit::for_each(pending_.back().stalled->channels, [&](unsigned channel) {
    if (channel >= most_channels) return;
    const Channel from = extends_[channel] != no_channel ? extends_[channel] : static_cast<Channel>(channel);
    const bool is_full = agent_.input(from).state == Input::State::own && agent_.room(from) == 0;
    if (is_full || agent_.readable(static_cast<Channel>(channel)) == 0)
      behind.push_back(CommunicationAgent::place({cell(), from}));
  });
  if (const CellNumber origin = pending_.back().stalled->pathway; origin != kit::nowhere)
    behind.push_back(CommunicationAgent::pathway_of(origin));
  std::string line = name + ": its program waits for " + (behind.empty() ? "an event" : "");
  for (const std::string& one : behind) line += (&one == &behind.front() ? "" : " and ") + one;
  waits.add(name, std::move(line), std::move(behind));
}

}  // namespace am::iwarp
