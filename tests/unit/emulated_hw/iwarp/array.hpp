// An array of cells for tests, in place of their programs: sources send as soon as there is room, cells take what comes.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "emulated_hw/iwarp/network.hpp"
#include "emulated_hw/iwarp/routes.hpp"

namespace am::iwarp::test {

inline constexpr Word pathway_end{0, Tag::pathway_end};
inline constexpr Word message_end{0, Tag::message_end};

struct Array {
  template <class... Setting>
  explicit Array(Setting&&... setting)
      : network(std::forward<Setting>(setting)...), is_deaf(network.cells()) {
    for (CellNumber cell = 0; cell < network.cells(); ++cell) {
      for (Channel channel = 0; channel < most_channels; ++channel) network.agent(cell).bind(channel, true);
    }
  }

  struct Source {
    CellNumber cell = 0;
    Channel own = no_channel;
    Channel output = no_channel;
    std::deque<Word> words;
    std::size_t accepted = 0;
  };
  struct Came {
    Word word;
    Cycle at;
  };

  /// A pathway's header, from an own channel; nothing where no channel is free.
  Source* open(CellNumber from, const Route& route) {
    CommunicationAgent& agent = network.agent(from);
    const auto own = agent.take_own();
    const auto output = own ? agent.assign(*own, route.first, route.pool()) : std::nullopt;
    if (!output) {
      if (own) agent.release_own(*own);
      return nullptr;
    }
    Source& source = sources.emplace_back(Source{from, *own, *output, {}, 0});
    for (const Sign& sign : route.signs)
      source.words.push_back({sign.data(), source.words.empty() ? Tag::pathway_begin : Tag::data});
    return &source;
  }
  Source* open(CellNumber from, std::initializer_list<Leg> legs) {
    return open(from, along(network.wiring(), from, legs));
  }
  static void send(Source* source, Data first, unsigned words) {
    for (unsigned i = 0; i < words; ++i) source->words.push_back({first + i});
  }

  void step(std::span<const CellNumber> order = {}) {
    for (Source& source : sources) {
      CommunicationAgent& agent = network.agent(source.cell);
      for (; !source.words.empty() && agent.room(source.own) != 0; ++source.accepted) {
        agent.push(source.own, source.words.front());
        source.words.pop_front();
      }
    }
    for (CellNumber cell = 0; cell < network.cells(); ++cell) {
      if (!is_deaf[cell]) take(network.agent(cell));
    }
    network.step(order);
  }
  void take(CommunicationAgent& agent) {
    for (Channel channel = 0; channel < most_channels; ++channel) {
      if (agent.input(channel).state != Input::State::ends_here) continue;
      for (unsigned words = agent.readable(channel); words != 0; --words) {
        const CellNumber origin = agent.input(channel).origin;
        came[{agent.cell(), origin}].push_back({agent.pop(channel), network.now()});
      }
    }
  }
  void run(Cycle cycles) {
    for (Cycle cycle = 0; cycle < cycles; ++cycle) step();
  }
  /// Until nothing moves for some time.
  void run_dry() {
    run(100);
    while (network.still_for() < 100) step();
  }
  /// What came to a cell from another, as data of words; markers apart.
  [[nodiscard]] std::vector<Data> data(CellNumber to, CellNumber from) const {
    std::vector<Data> all;
    if (const auto found = came.find({to, from}); found != came.end()) {
      for (const Came& one : found->second) {
        if (one.word.tag == Tag::data) all.push_back(one.word.data);
      }
    }
    return all;
  }
  /// Channels of that bus that a pathway has.
  [[nodiscard]] unsigned assigned(CellNumber cell, Direction bus) {
    unsigned count = 0;
    for (Channel channel = 0; channel < network.agent(cell).outputs(); ++channel) {
      const Output& output = network.agent(cell).output(channel);
      count += output.bus == bus && output.is_assigned ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] unsigned assigned() {
    unsigned count = 0;
    for (CellNumber cell = 0; cell < network.cells(); ++cell) {
      for (unsigned bus = 0; bus < directions; ++bus) count += assigned(cell, static_cast<Direction>(bus));
    }
    return count;
  }

  Network network;
  std::deque<Source> sources;
  std::map<std::pair<CellNumber, CellNumber>, std::vector<Came>> came;  // by cell and origin
  std::vector<bool> is_deaf;
};

inline std::vector<Data> count(Data first, unsigned words) {
  std::vector<Data> all(words);
  std::iota(all.begin(), all.end(), first);
  return all;
}

/// Cycles from a marker's departure until it has come to a cell: where that does not take it, it is the first word there.
inline Cycle arrival(Array& array, CellNumber cell) {
  for (Cycle cycles = 0; cycles < 1000; ++cycles, array.step()) {
    const CommunicationAgent& agent = array.network.agent(cell);
    for (Channel channel = 0; channel < most_channels; ++channel) {
      if (!agent.input(channel).queue.empty()) return cycles - 1;  // it came in the step before
    }
  }
  return 0;
}

}  // namespace am::iwarp::test
