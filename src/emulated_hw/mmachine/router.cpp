#include "emulated_hw/mmachine/router.hpp"

#include <bit>
#include <utility>

namespace am::mmachine {

namespace {

/// Last stages first, so that nothing passes two in one cycle.
constexpr std::array<unsigned, 9> last_stage_first = {8, 2, 3, 6, 7, 0, 1, 4, 5};

std::string name_of(unsigned group, unsigned channel) {
  constexpr std::array<const char*, directions> names = {"x up", "x down", "y up", "y down"};
  return std::string(names[group % directions]) + (group < directions ? " channel " : " turn buffer ") +
         std::to_string(channel);
}

constexpr Turns turns_of(NodePlace here, const Header& header) noexcept {
  return {header.destination.x < here.x, header.destination.y < here.y, header.priority};
}

}  // namespace

std::string place_of_output(NodePlace node, Priority priority) {
  return to_text(node) + " network output P" + std::to_string(index(priority));
}
std::string place_of_input(NodePlace node, Priority priority) {
  return to_text(node) + " network input P" + std::to_string(index(priority));
}

Router::Router(NodePlace here, unsigned channels) noexcept : here_(here), channels_(channels) {
  for (auto& of_link : vacant_) of_link.fill(channel_flits);
}

unsigned Router::Turns2::pick(kit::Requests sources) noexcept {
  kit::Requests among = 0;
  for (unsigned group = 0; group < groups; ++group) {
    if ((sources & of_group(group)) != 0) among |= kit::request(group);
  }
  const unsigned group = among_groups_.pick(among);
  among_groups_.had_its_turn(group);
  const unsigned channel = in_group_[group].pick((sources & of_group(group)) >> group * most_channels);
  in_group_[group].had_its_turn(channel);
  return source_of(group, channel);
}

void Router::receive(Direction side, unsigned channel, const Flit& flit) noexcept {
  put(source_of(index(opposite(swapped(side))), channel), flit);
}

void Router::vacancy(Direction side, unsigned channel) noexcept { ++vacant_[index(swapped(side))][channel]; }

void Router::put(unsigned source, const Flit& flit) noexcept {
  buffers_[source / most_channels][source % most_channels].push(flit);
  filled_ |= kit::request(source);
  if (((waiting_ | active_) & kit::request(source)) == 0) begin(source, Header::of(flit.word.bits));
}

void Router::begin(unsigned source, const Header& header) noexcept {
  const unsigned sink = sink_of(source, header);
  first_[source] = {static_cast<std::uint8_t>(sink), 0, header.kind(), header};
  sinks_[sink].from |= kit::request(source);
  of_kind_[static_cast<std::size_t>(header.kind())] |= kit::request(source);
  waiting_ |= kit::request(source);
}

/// On in its dimension until the coordinate is that of the destination, then into the next one (4.4.1).
unsigned Router::sink_of(unsigned source, const Header& header) const noexcept {
  const unsigned group = source / most_channels;
  const unsigned turn_x = turn_groups + index(header.turns.x_down ? Direction::x_down : Direction::x_up);
  const unsigned turn_y = turn_groups + index(header.turns.y_down ? Direction::y_down : Direction::y_up);
  if (group == injection) return turn_x;
  const unsigned direction = group % directions;
  if (dimension_of(static_cast<Direction>(direction)) == 0)
    return header.destination.x == here_.x ? turn_y : direction;
  return header.destination.y == here_.y ? extraction : direction;
}

void Router::step(RouterPorts& ports) {
  if (extracting_ != 0) extract(ports);
  look_at_injection(ports);
  for (const unsigned sink : last_stage_first) {
    if (sinks_[sink].from == 0) continue;
    allocate(sink);
    forward(sink, ports);
  }
  counts_.waits += static_cast<unsigned>(std::popcount(waiting_));
  if (returning_ != 0) return_vacancies(ports);
}

void Router::look_at_injection(RouterPorts& ports) {
  for (const Priority priority : {Priority::p0, Priority::p1}) {
    const unsigned source = source_of(injection, static_cast<unsigned>(index(priority)));
    const Flit* const next = ports.injected(priority);
    if (next == nullptr) {
      filled_ &= ~kit::request(source);
      continue;
    }
    filled_ |= kit::request(source);
    if (((waiting_ | active_) & kit::request(source)) != 0) continue;
    Header header = Header::of(next->word.bits);
    header.turns = turns_of(here_, header);
    begin(source, header);
  }
}

void Router::allocate(unsigned sink) noexcept {
  const kit::Requests waiting = sinks_[sink].from & waiting_;
  if (waiting == 0) return;
  if (sink == extraction) return allocate_extraction(waiting);
  ChannelRequests requests;
  for (std::size_t kind = 0; kind < message_kinds; ++kind)
    requests.asks[kind] = (waiting & of_kind_[kind]) != 0;
  for (unsigned channel = 0; channel < channels_; ++channel) requests.free[channel] = is_free(sink, channel);
  requests.escape = sinks_[sink].escape.is_due();
  const ChannelAssignment given = assign_channels(requests);
  sinks_[sink].escape.saw(requests, given);
  for (std::size_t kind = 0; kind < message_kinds; ++kind) {
    if (!given[kind]) continue;
    give(sinks_[sink].allocation[kind].pick(waiting & of_kind_[kind]), static_cast<unsigned>(*given[kind]));
  }
}

/// One buffer for each priority, and whoever comes (4.4.1).
void Router::allocate_extraction(kit::Requests waiting) noexcept {
  std::array<kit::Requests, priorities> asking{};
  kit::for_each(waiting, [&](unsigned source) {
    asking[index(first_[source].header.turns.to)] |= kit::request(source);
  });
  for (unsigned priority = 0; priority < priorities; ++priority) {
    if (asking[priority] != 0 && is_free(extraction, priority))
      give(sinks_[extraction].allocation[priority].pick(asking[priority]), priority);
  }
}

void Router::give(unsigned source, unsigned channel) noexcept {
  First& first = first_[source];
  first.channel = static_cast<std::uint8_t>(channel);
  sinks_[first.sink].owned = static_cast<std::uint8_t>(sinks_[first.sink].owned | 1u << channel);
  waiting_ &= ~kit::request(source);
  active_ |= kit::request(source);
}

unsigned Router::room(unsigned sink, unsigned channel) const noexcept {
  if (sink == extraction) return static_cast<unsigned>(turn_flits - extraction_[channel].size());
  if (sink >= turn_groups) return static_cast<unsigned>(turn_flits - buffers_[sink][channel].size());
  return vacant_[sink][channel];
}

bool Router::is_free(unsigned sink, unsigned channel) const noexcept {
  return (sinks_[sink].owned >> channel & 1u) == 0 &&
         room(sink, channel) == (sink < turn_groups ? channel_flits : turn_flits);
}

void Router::forward(unsigned sink, RouterPorts& ports) {
  const kit::Requests ready = ready_for(sink);
  if (ready == 0) return;
  if (sink == extraction) return kit::for_each(ready, [&](unsigned source) { move(source, ports); });
  move(sinks_[sink].forwarding.pick(ready), ports);
}

kit::Requests Router::ready_for(unsigned sink) noexcept {
  kit::Requests ready = 0;
  kit::for_each(sinks_[sink].from & active_ & filled_, [&](unsigned source) {
    if (room(sink, first_[source].channel) != 0) {
      ready |= kit::request(source);
    } else {
      ++counts_.vacancy_stalls;
    }
  });
  return ready;
}

void Router::move(unsigned source, RouterPorts& ports) {
  const Flit flit = take(source, ports);
  const First& first = first_[source];
  if (flit.tail) {
    sinks_[first.sink].from &= ~kit::request(source);
    sinks_[first.sink].owned = static_cast<std::uint8_t>(sinks_[first.sink].owned & ~(1u << first.channel));
    of_kind_[static_cast<std::size_t>(first.kind)] &= ~kit::request(source);
    active_ &= ~kit::request(source);
  }
  if (first.sink == extraction) {
    extraction_[first.channel].push(flit);
    ++extracting_;
  } else if (first.sink >= turn_groups) {
    put(source_of(first.sink, first.channel), flit);
  } else {
    --vacant_[first.sink][first.channel];
    ++counts_.flits;
    ports.send(swapped(static_cast<Direction>(first.sink)), first.channel, flit);
  }
}

Flit Router::take(unsigned source, RouterPorts& ports) {
  const unsigned group = source / most_channels;
  const unsigned channel = source % most_channels;
  if (group == injection) {
    const auto priority = static_cast<Priority>(channel);
    Flit flit = *ports.injected(priority);
    const std::uint32_t recorded = ports.taken(priority);
    if (!std::exchange(started_[channel], !flit.tail)) flit.word.bits = first_[source].header.bits();
    return Flit::of(flit.word, flit.tail, recorded);
  }
  auto& buffer = buffers_[group][channel];
  const Flit flit = buffer.pop();
  if (buffer.empty()) filled_ &= ~kit::request(source);
  if (group < turn_groups) {
    ++to_return_[group][channel];
    ++returning_;
  }
  return flit;
}

void Router::extract(RouterPorts& ports) {
  for (const Priority priority : {Priority::p0, Priority::p1}) {
    auto& buffer = extraction_[index(priority)];
    if (buffer.empty() || !ports.accepts(priority)) continue;
    ports.extracted(priority, buffer.pop());
    --extracting_;
  }
}

void Router::return_vacancies(RouterPorts& ports) {
  for (unsigned direction = 0; direction < directions; ++direction) {
    kit::Requests waiting = 0;
    for (unsigned channel = 0; channel < most_channels; ++channel) {
      if (to_return_[direction][channel] != 0) waiting |= kit::request(channel);
    }
    if (waiting == 0) continue;
    const unsigned channel = turn_to_return_[direction].pick(waiting);
    turn_to_return_[direction].had_its_turn(channel);
    --to_return_[direction][channel];
    --returning_;
    ports.freed(swapped(opposite(static_cast<Direction>(direction))), channel);
  }
}

std::string Router::place_of(Direction side, unsigned channel) const {
  return to_text(here_) + ' ' + name_of(index(opposite(swapped(side))), channel);
}

/// Where a message goes on that leaves by a channel of `sink`.
std::string Router::place_of_sink(unsigned sink, unsigned channel, const Behind& behind) const {
  if (sink == extraction) return place_of_input(here_, static_cast<Priority>(channel));
  if (sink >= turn_groups) return to_text(here_) + ' ' + name_of(sink, channel);
  return behind(swapped(static_cast<Direction>(sink)), channel);
}

void Router::add_waits(kit::Waits& waits, const Behind& behind) const {
  kit::for_each(waiting_ | active_, [&](unsigned source) {
    const First& first = first_[source];
    const bool has_buffer = (active_ & kit::request(source)) != 0;
    if (has_buffer && room(first.sink, first.channel) != 0) return;
    std::vector<std::string> places;
    if (has_buffer) {
      places.push_back(place_of_sink(first.sink, first.channel, behind));
    } else if (first.sink == extraction) {
      places.push_back(
          place_of_sink(extraction, static_cast<unsigned>(index(first.header.turns.to)), behind));
    } else {
      for (unsigned channel = 0; channel < channels_; ++channel)
        places.push_back(place_of_sink(first.sink, channel, behind));
    }
    const unsigned group = source / most_channels;
    std::string place = group == injection
                            ? place_of_output(here_, static_cast<Priority>(source % most_channels))
                            : to_text(here_) + ' ' + name_of(group, source % most_channels);
    std::string line = place + ": message from " + to_text(first.header.sender) + " to " +
                       to_text(first.header.destination) +
                       (has_buffer ? " waits for room at " : " waits for a buffer at ") + places.front();
    if (places.size() > 1) line += ", or another channel";
    waits.add(std::move(place), std::move(line), std::move(places));
  });
}

}  // namespace am::mmachine
