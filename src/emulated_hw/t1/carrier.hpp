// Whoever moves messages through the live network, from router to router (live_mesh.hpp): a few numbers on a stack. A template, so that
// a test can stop or end it before each of its accesses to what it shares with others.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

#include "emulated_hw/kit/live_move.hpp"
#include "emulated_hw/t1/live_mesh.hpp"

namespace am::t1 {

struct NoPause {
  void operator()() const noexcept {}
};

/// `Pause` is called before each access.
template <class Pause = NoPause>
class Carrier {
 public:
  explicit Carrier(LiveMesh& mesh, Pause pause = {}) noexcept : mesh_(mesh), pause_(pause) {}

  /// Steps `first`, of which `inputs` hold something that is new there, and whatever has got something to do by that, until there is
  /// nothing left: at most so many steps.
  void run(NodeNumber first, kit::Requests inputs, unsigned most_steps) {
    to_do(first, inputs);
    while (count_ != 0) {
      const ToDo next = to_do_[--count_];
      if (most_steps-- == 0) {
        for (leave(next); count_ != 0; --count_) leave(to_do_[count_ - 1]);
        break;
      }
      step(next.node, next.inputs);
    }
    for (; arrived_ != 0; --arrived_) show(arrivals_[arrived_ - 1]);
  }
  /// The same at a router of which it is not known whether there is anything: what is marked there, and now and then, or when `all`
  /// says so, whatever lies there. Where there is nothing then, `work` forgets the router. Whether anything has moved.
  bool look_after(NodeNumber node, bool all, unsigned most_steps) {
    LiveRouter& router = mesh_.routers_[node];
    router.looks.add(1);
    all = all || router.looks % looks_at_all == 0;
    if (!all && see(router.waiting) == 0) return false;
    moved_ = false;
    run(node, all ? every_input : 0, most_steps);
    if (all && is_empty(router)) rest(node);
    return moved_;
  }

  /// Has this router looked after.
  void watch(NodeNumber node) const {
    const LiveMesh::Bit its = mesh_.work(node);
    if ((see(its.word) & its.bit) == 0) add_bits(its.word, its.bit);
  }

  // For kit::LiveMove.

  [[nodiscard]] kit::Word see(const std::atomic<kit::Word>& word) const {
    pause_();
    return word.load(std::memory_order_seq_cst);
  }
  bool change(std::atomic<kit::Word>& word, kit::Word seen, kit::Word to) const {
    pause_();
    return word.compare_exchange_strong(seen, to, std::memory_order_seq_cst);
  }
  [[nodiscard]] static constexpr unsigned inputs() noexcept { return channels; }
  [[nodiscard]] kit::LiveChannel& input(unsigned number) const noexcept { return here().inputs[number]; }
  [[nodiscard]] kit::LiveEnds ends(unsigned input, std::uint32_t packet) const {
    const Carried message = carried(packet);
    const Way way = way_of(mesh_.grid_, at_, input, header_of(message));
    kit::LiveEnds ends(end(way.output[0], input, message, packet));
    if (way.count == 2) ends.add(end(way.output[1], input, message, packet));
    return ends;
  }
  void has_come(const kit::LiveEnd& end, unsigned input) {
    if (end.channel != nullptr) {
      const LiveMesh::Behind behind = mesh_.behind(at_, end.output);
      watch(behind.node);
      to_do(behind.node, kit::request(behind.input));
    } else if (end.entries != nullptr) {
      const Carried message = Carried::of(end.packet);
      const Arrival arrival{at_, message.source, counted_as(message, input)};
      pause_();
      mesh_.nodes_.arrived(arrival.at, arrival.from, arrival.what);
      if (arrived_ == arrivals_.size()) show(arrivals_[--arrived_]);
      arrivals_[arrived_++] = arrival;
    }
  }
  void has_moved(const kit::LiveEnds& ends) {
    moved_ = true;
    for (const kit::LiveEnd& end : ends)
      (end.channel != nullptr ? end.channel->flits : here().to_node).add(Carried::of(end.packet).flits);
  }
  void has_left(unsigned input, kit::Word number) {
    LiveRouter& router = here();
    const kit::Requests bit = kit::request(input);
    if (router.inputs[input].at(number + 1, see()).is_there) {
      to_do(at_, bit);
    } else if ((see(router.waiting) & bit) != 0) {
      to_do(at_, forget(router, bit));
    }
    if ((see(router.starved) & bit) == 0) return;
    remove_bits(router.starved, bit);
    if (input == answers) {
      to_do(at_, 0);  // fetches that wait here
    } else if (const unsigned port = input / vcs; port != 0) {
      const NodeNumber before = mesh_.grid_.neighbour(at_, port);
      if (before != kit::Grid::nowhere) to_do(before, 0);  // nowhere: another has scribbled here
    } else {
      pause_();
      mesh_.nodes_.has_room(at_);
    }
  }

 private:
  struct ToDo {
    NodeNumber node;
    kit::Requests inputs;  // beside those that wait
  };
  struct Arrival {
    NodeNumber at;
    NodeNumber from;
    Counted what;
  };

  [[nodiscard]] LiveRouter& here() const noexcept { return mesh_.routers_[at_]; }
  [[nodiscard]] auto see() const {
    return [this](const std::atomic<kit::Word>& word) { return see(word); };
  }
  void add_bits(std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    pause_();
    word.fetch_or(bits, std::memory_order_seq_cst);
  }
  void remove_bits(std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    pause_();
    word.fetch_and(~bits, std::memory_order_seq_cst);
  }
  void to_do(NodeNumber node, kit::Requests inputs) {
    if (count_ != 0 && to_do_[count_ - 1].node == node) {
      to_do_[count_ - 1].inputs |= inputs;
    } else if (count_ != to_do_.size()) {
      to_do_[count_++] = {node, inputs};
    } else {
      leave({node, inputs});
    }
  }
  /// To whoever comes by.
  void leave(const ToDo& left) const {
    if (left.inputs != 0) add_bits(mesh_.routers_[left.node].waiting, left.inputs & every_input);
    watch(left.node);
  }

  /// One that was not written by this, but scribbled by another, is at its end here, and does not count.
  [[nodiscard]] Carried carried(std::uint32_t packet) const noexcept {
    const Carried message = Carried::of(packet);
    const bool is_one = message.destination < mesh_.grid_.nodes() && message.source < mesh_.grid_.nodes() &&
                        !(message.multicast && message.who != For::processor);
    return is_one ? message : Carried{.destination = at_, .source = at_, .counts = false};
  }
  static constexpr Header header_of(const Carried& message) noexcept {
    return {message.destination, message.multicast};
  }
  static constexpr Counted counted_as(const Carried& message, unsigned input) noexcept {
    switch (message.who) {
      case For::store:
        return Counted::stored;
      case For::answer:
        return Counted::answered;
      default:
        return counted(priority_of(input));
    }
  }
  /// Whether it ends here, in the interface, which answers.
  static constexpr bool turns(unsigned output, const Carried& message) noexcept {
    return output < vcs && message.who == For::fetch;
  }
  [[nodiscard]] kit::LiveEnd end(unsigned output, unsigned input, const Carried& message,
                                 std::uint32_t packet) const {
    if (output >= vcs) {
      kit::LiveChannel& channel = mesh_.channel_behind(at_, output);
      return {output, &channel.entries, &channel, packet};
    }
    if (turns(output, message)) {
      kit::LiveChannel& channel = here().inputs[answers];
      return {answers, &channel.entries, &channel, message.answered().bits()};
    }
    if (!message.counts) return {output, nullptr, nullptr, packet};
    return {output, &mesh_.nodes_.arrivals(at_, message.source, counted_as(message, input)), nullptr, packet};
  }

  /// One decision at a router and what follows from it.
  void step(NodeNumber at, kit::Requests inputs) {
    at_ = at;
    const kit::Requests waiting = see(here().waiting);
    const kit::Requests occupied = (waiting | inputs) & every_input;
    if (kit::is_one(occupied)) {
      step_alone(static_cast<unsigned>(std::countr_zero(occupied)), waiting);
    } else if (occupied != 0) {
      step_among(occupied, waiting);
    }
  }

  void step_alone(unsigned input, kit::Requests waiting) {
    LiveRouter& router = here();
    const kit::LiveChannel::First first = router.inputs[input].first(see());
    if (!first.is_there) {
      if (waiting != 0) to_do(at_, forget(router, waiting));
      return;
    }
    const kit::LiveEnds ends = this->ends(input, first.packet);
    switch (kit::LiveMove(*this).run(input, first, ends)) {
      case kit::Moved::yes:
        return router.turns.goes_alone(input);
      case kit::Moved::already:
        return to_do(at_, kit::request(input));
      case kit::Moved::no_room:
        router.inputs[input].refused.add(1);
        if (wait_for_room(router, kit::request(input), kit::request(ends.first().output)))
          to_do(at_, kit::request(input));
    }
  }

  void step_among(kit::Requests occupied, kit::Requests waiting) {
    LiveRouter& router = here();
    std::array<kit::LiveChannel::First, channels> firsts;
    kit::Requests found = 0;    // inputs
    kit::Requests blocked = 0;  // outputs
    kit::Requests picked = 0;   // inputs
    decide(
        mesh_.grid_, at_, occupied, ~kit::Ports{0}, ~kit::Ports{0}, router.turns, mesh_.patience_,
        [&](unsigned input) -> std::optional<Header> {
          firsts[input] = router.inputs[input].first(see());
          if (!firsts[input].is_there) return std::nullopt;
          found |= kit::request(input);
          return header_of(carried(firsts[input].packet));
        },
        [&](unsigned input, unsigned output) {
          const kit::LiveChannel::First& first = firsts[input];
          if (output < vcs) {
            if (!turns(output, carried(first.packet))) return true;
            output = answers;
          }
          const kit::LiveChannel& channel = mesh_.channel_behind(at_, output);
          const kit::Entry last{see(channel.entries)};
          return last.names(input, first.number) || channel.has_room(last, see());
        },
        [&](unsigned input, unsigned output) {
          router.inputs[input].refused.add(1);
          blocked |= kit::request(turns(output, carried(firsts[input].packet)) ? answers : output);
        },
        [&](unsigned input, const Way&) { picked |= kit::request(input); });
    if ((waiting & ~found) != 0) {
      const kit::Requests come = forget(router, waiting & ~found);
      found |= come;  // they have not been looked at: there may be room behind them
      if (come != 0 && picked == 0) return to_do(at_, found);
    }
    if (picked == 0) {
      if (found != 0 && wait_for_room(router, found, blocked)) to_do(at_, found);
      return;
    }
    kit::for_each(picked, [&](unsigned input) {
      const kit::LiveChannel::First& first = firsts[input];
      if (kit::LiveMove(*this).run(input, first, ends(input, first.packet)) == kit::Moved::yes)
        found &= ~kit::request(input);
    });
    if (found != 0) to_do(at_, found);
  }

  /// These inputs hold nothing that waits: those that do after all, since a moment ago.
  kit::Requests forget(LiveRouter& router, kit::Requests inputs) {
    remove_bits(router.waiting, inputs);
    kit::Requests come = 0;
    kit::for_each(inputs & every_input, [&](unsigned input) {
      if (router.inputs[input].first(see()).is_there) come |= kit::request(input);
    });
    if (come != 0) add_bits(router.waiting, come);
    return come;
  }

  // After all that goes through the routers: nodes look at what is written here all the time, and so make it slow to write.
  void show(const Arrival& arrival) const {
    pause_();
    mesh_.nodes_.show(arrival.at, arrival.from, arrival.what);
  }

  /// Says where room is missing. True when there is some by now.
  bool wait_for_room(LiveRouter& router, kit::Requests inputs, kit::Requests outputs) {
    add_bits(router.waiting, inputs);
    bool room = false;
    kit::for_each(outputs, [&](unsigned output) {
      const LiveMesh::Behind behind = mesh_.behind(at_, output);
      add_bits(mesh_.routers_[behind.node].starved, kit::request(behind.input));
      room = room || mesh_.channel_behind(at_, output).has_room(see());
    });
    return room;
  }

  [[nodiscard]] bool is_empty(const LiveRouter& router) const {
    for (const kit::LiveChannel& input : router.inputs) {
      if (input.first(see()).is_there) return false;
    }
    return see(router.waiting) == 0;
  }
  /// There was nothing here a moment ago.
  void rest(NodeNumber node) const {
    const LiveMesh::Bit its = mesh_.work(node);
    remove_bits(its.word, its.bit);
    if (!is_empty(mesh_.routers_[node])) add_bits(its.word, its.bit);
  }

  static constexpr std::uint32_t looks_at_all = 16;  // of one at all inputs
  static constexpr kit::Requests every_input = kit::request(channels) - 1;

  LiveMesh& mesh_;
  const Pause pause_;
  NodeNumber at_ = 0;
  std::array<ToDo, 64> to_do_;
  unsigned count_ = 0;
  std::array<Arrival, 8> arrivals_;  // to be shown
  unsigned arrived_ = 0;
  bool moved_ = false;  // anything, since look_after() began
};

}  // namespace am::t1
