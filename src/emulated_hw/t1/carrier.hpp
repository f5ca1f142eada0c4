// Whoever moves messages through the live network, from router to router (live_mesh.hpp): a few numbers on a stack. A template, so that
// a test can stop or end it before each of its accesses to what it shares with others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

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
  /// says so, whatever lies there. Where there is nothing then, `work` forgets the router. Whether anything was done there.
  bool look_after(NodeNumber node, bool all, unsigned most_steps) {
    at_ = node;
    LiveRouter& router = here();
    router.looks.add(1);
    all = all || router.looks % looks_at_all == 0;
    const kit::Word before = see(router.turn);
    if (!all && see(router.waiting) == 0 && !kit::Turn{before}.has_move()) return false;
    run(node, all ? every_input : 0, most_steps);
    at_ = node;
    if (all && is_empty(router)) rest(router);
    return see(router.turn) != before;
  }

  /// Has this router looked after.
  void watch(NodeNumber node) const {
    std::atomic<std::uint64_t>& work = mesh_.shared_.work[node / 64];
    const std::uint64_t its = std::uint64_t{1} << node % 64;
    if ((see(work) & its) == 0) add_bits(work, its);
  }
  /// There is something new at an input, which is this carrier's to do.
  void announce(NodeNumber node, unsigned input) {
    watch(node);
    to_do(node, kit::request(input));
  }

  // For kit::complete.

  [[nodiscard]] kit::Word see(const std::atomic<kit::Word>& word) const {
    pause_();
    return word.load(std::memory_order_seq_cst);
  }
  bool change(std::atomic<kit::Word>& word, kit::Word seen, kit::Word to) const {
    pause_();
    return word.compare_exchange_strong(seen, to, std::memory_order_seq_cst);
  }
  [[nodiscard]] std::atomic<kit::Word>& turn() const { return here().turn; }
  [[nodiscard]] kit::LiveChannel& input(unsigned channel) const { return here().inputs[channel].channel; }
  bool put(kit::Turn turn, const kit::LiveMove::End& end, unsigned from, std::uint32_t packet) {
    return end.channel < vcs ? put_to_node(turn, end, from, packet) : put_on(turn, end, packet);
  }
  void freed(unsigned input) {
    LiveRouter& router = here();
    const kit::Requests bit = kit::request(input);
    if (head(router, input).is_full()) {
      behind_ |= bit;
    } else if ((see(router.waiting) & bit) != 0) {
      behind_ |= forget(router, bit);
    }
    if ((see(router.starved) & bit) == 0) return;
    remove_bits(router.starved, bit);
    if (const unsigned port = input / vcs; port != 0) {
      to_do(mesh_.grid_.neighbour(at_, port), 0);
    } else {
      pause_();
      mesh_.nodes_.has_room(at_);
    }
  }

 private:
  struct Pick {
    unsigned input;
    Way way;
  };

  [[nodiscard]] LiveRouter& here() const noexcept { return mesh_.routers_[at_]; }
  void add_bits(std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    pause_();
    word.fetch_or(bits, std::memory_order_seq_cst);
  }
  void remove_bits(std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    pause_();
    word.fetch_and(~bits, std::memory_order_seq_cst);
  }
  struct ToDo {
    NodeNumber node;
    kit::Requests inputs;  // beside those that wait
  };
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
  void leave(const ToDo& left) {
    if (left.inputs != 0) add_bits(mesh_.routers_[left.node].waiting, left.inputs & every_input);
    watch(left.node);
  }
  [[nodiscard]] kit::LiveChannel::Place head(LiveRouter& router, unsigned input) const {
    return router.inputs[input].channel.head([this](const auto& word) { return see(word); });
  }
  [[nodiscard]] kit::LiveChannel::Place tail(unsigned output) const {
    const LiveMesh::Behind behind = mesh_.behind(at_, output);
    return mesh_.routers_[behind.node].inputs[behind.input].channel.tail(
        [this](const auto& word) { return see(word); });
  }
  // What is not so was not written by this.
  [[nodiscard]] bool is_possible(const Carried& message) const noexcept {
    return message.destination < mesh_.grid_.nodes() && message.source < mesh_.grid_.nodes();
  }
  [[nodiscard]] bool leads(unsigned port) const noexcept {
    return port == 0 || mesh_.grid_.neighbour(at_, port) != kit::Grid::nowhere;
  }
  [[nodiscard]] bool is_possible(const kit::LiveMove& move) const noexcept {
    if (move.from.channel >= channels || !leads(move.from.channel / vcs)) return false;
    for (unsigned i = 0; i < move.count; ++i) {
      const unsigned port = move.to[i].channel / vcs;
      if (port >= ports || (port != 0 && mesh_.grid_.neighbour(at_, port) == kit::Grid::nowhere))
        return false;
    }
    return true;
  }
  [[nodiscard]] bool is_counted(const Carried& message) const noexcept {
    return message.counts && is_possible(message);
  }
  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(const Carried& message, unsigned from) const {
    return mesh_.nodes_.arrivals(at_, message.source, priority_of(from));
  }

  /// One decision at a router and what follows from it.
  void step(NodeNumber at, kit::Requests inputs) {
    at_ = at;
    LiveRouter& router = here();
    behind_ = 0;
    kit::Turn turn{see(router.turn)};
    if (turn.has_move()) {
      if (is_possible(turn.move())) {
        complete(*this, turn);
      } else {  // another has scribbled here
        change(router.turn, turn.word, turn.next().word);
      }
      return to_do(at, inputs | behind_);
    }
    const kit::Requests waiting = see(router.waiting);
    const kit::Requests occupied = (waiting | inputs) & every_input;
    if (occupied == 0) return;
    std::array<kit::LiveChannel::Place, channels> heads;
    std::array<kit::LiveChannel::Place, channels> tails;
    std::array<Pick, ports> picks;
    unsigned picked = 0;
    kit::Requests found = 0;    // inputs
    kit::Requests blocked = 0;  // outputs
    decide(
        mesh_.grid_, at, occupied, ~kit::Ports{0}, ~kit::Ports{0}, router.turns, mesh_.patience_,
        [&](unsigned input) -> std::optional<Header> {
          heads[input] = head(router, input);
          if (!heads[input].is_full()) return std::nullopt;
          found |= kit::request(input);
          const Carried message = Carried::of(heads[input].packet());
          if (!is_possible(message)) return Header{at, false};
          return Header{message.destination, message.multicast};
        },
        [&](unsigned output) {
          if (output < vcs) return true;
          tails[output] = tail(output);
          return !tails[output].is_full();
        },
        [&](unsigned input, unsigned output) {
          router.inputs[input].refused.add(1);
          blocked |= kit::request(output);
        },
        [&](unsigned input, const Way& way) {
          picks[picked++] = {input, way};
        });
    if ((waiting & ~found) != 0) {
      if (const kit::Requests come = forget(router, waiting & ~found); come != 0 && picked == 0)
        return to_do(at, found | come);  // they have not been looked at: there may be room behind them
    }
    if (picked == 0) {
      if (found != 0 && wait_for_room(router, found, blocked)) to_do(at, found);
      return;
    }
    for (const Pick& pick : std::span(picks).first(picked)) {
      const Carried message = Carried::of(heads[pick.input].packet());
      const kit::Turn begun = turn.with(move_of(pick, heads[pick.input], tails, message));
      if (!change(router.turn, turn.word, begun.word)) break;  // somebody else moves something here
      for (const std::uint8_t output : pick.way.outputs()) count(output, message.flits);
      complete(*this, begun);
      turn = begun.next();
      found &= ~kit::request(pick.input);
    }
    if ((found | behind_) != 0) to_do(at, found | behind_);
  }

  void count(unsigned output, unsigned flits) const noexcept {
    if (output < vcs) {
      here().to_node.add(flits);
    } else {
      const LiveMesh::Behind behind = mesh_.behind(at_, output);
      mesh_.routers_[behind.node].inputs[behind.input].flits.add(flits);
    }
  }

  [[nodiscard]] kit::LiveMove move_of(const Pick& pick, const kit::LiveChannel::Place& head,
                                      const std::array<kit::LiveChannel::Place, channels>& tails,
                                      const Carried& message) const {
    kit::LiveMove move;
    move.from = kit::LiveMove::End::at(pick.input, head);
    move.count = pick.way.count;
    for (unsigned i = 0; i < move.count; ++i) {
      const unsigned output = pick.way.output[i];
      if (output >= vcs) {
        move.to[i] = kit::LiveMove::End::at(output, tails[output]);
      } else {
        move.to[i] = {output, 0, is_counted(message) && (see(arrivals(message, pick.input)) & 1) != 0};
      }
    }
    return move;
  }

  bool put_to_node(kit::Turn turn, const kit::LiveMove::End& end, unsigned from, std::uint32_t packet) {
    const Carried message = Carried::of(packet);
    if (!is_counted(message)) return true;
    std::atomic<std::uint64_t>& count = arrivals(message, from);
    const std::uint64_t seen = see(count);
    if (see(this->turn()) != turn.word) return false;
    if (((seen & 1) != 0) == end.odd) change(count, seen, seen + 1);
    pause_();
    mesh_.nodes_.arrived(at_, message.source, priority_of(from));
    if (arrived_ == arrivals_.size()) show(arrivals_[--arrived_]);
    arrivals_[arrived_++] = {at_, message.source, priority_of(from)};
    return true;
  }

  bool put_on(kit::Turn turn, const kit::LiveMove::End& end, std::uint32_t packet) {
    const LiveMesh::Behind behind = mesh_.behind(at_, end.channel);
    std::atomic<kit::Word>& word = mesh_.routers_[behind.node].inputs[behind.input].channel.word(end.place);
    const kit::LiveChannel::Place place{end.place, see(word)};
    if (see(this->turn()) != turn.word) return false;
    if (!place.is_full() && end.is(place)) change(word, place.word, place.with(packet));
    announce(behind.node, behind.input);
    return true;
  }

  /// These inputs hold nothing that waits: those that do after all, since a moment ago.
  kit::Requests forget(LiveRouter& router, kit::Requests inputs) {
    remove_bits(router.waiting, inputs);
    kit::Requests come = 0;
    kit::for_each(inputs & every_input, [&](unsigned input) {
      if (head(router, input).is_full()) come |= kit::request(input);
    });
    if (come != 0) add_bits(router.waiting, come);
    return come;
  }

  struct Arrival {
    NodeNumber at;
    NodeNumber from;
    Priority priority;
  };
  // After all that goes through the routers: nodes look at what is written here all the time, and so make it slow to write.
  void show(const Arrival& arrival) const {
    pause_();
    mesh_.nodes_.show(arrival.at, arrival.from, arrival.priority);
  }

  /// Says where room is missing. True when there is some by now.
  bool wait_for_room(LiveRouter& router, kit::Requests inputs, kit::Requests outputs) {
    add_bits(router.waiting, inputs);
    bool room = false;
    kit::for_each(outputs, [&](unsigned output) {
      const LiveMesh::Behind behind = mesh_.behind(at_, output);
      add_bits(mesh_.routers_[behind.node].starved, kit::request(behind.input));
      room = room || !tail(output).is_full();
    });
    return room;
  }

  [[nodiscard]] bool is_empty(LiveRouter& router) const {
    for (unsigned i = 0; i < channels; ++i) {
      if (head(router, i).is_full()) return false;
    }
    return see(router.waiting) == 0 && !kit::Turn{see(router.turn)}.has_move();
  }
  /// There was nothing here a moment ago.
  void rest(LiveRouter& router) const {
    std::atomic<std::uint64_t>& work = mesh_.shared_.work[at_ / 64];
    const std::uint64_t its = std::uint64_t{1} << at_ % 64;
    remove_bits(work, its);
    if (!is_empty(router)) add_bits(work, its);
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
  kit::Requests behind_ =
      0;  // inputs that held something more when something was taken out, since a step began
};

}  // namespace am::t1
