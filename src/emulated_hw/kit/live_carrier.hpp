// Whoever moves messages through a live network, from router to router (live_network.hpp): a few numbers on a stack. A template, so that
// a test can stop or end it before each of its accesses to what it shares with others.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "emulated_hw/kit/live_move.hpp"
#include "emulated_hw/kit/live_network.hpp"

namespace am::kit {

struct NoPause {
  void operator()() const noexcept {}
};

/// What a router has found at inputs, and wants to be done.
template <unsigned channels>
struct LiveDecision {
  std::array<LiveChannel::First, channels> firsts;
  Requests found = 0;    ///< inputs with a packet
  Requests picked = 0;   ///< of these, whose packets go now
  Requests blocked = 0;  ///< outputs that others wait for
  std::array<std::uint8_t, channels>
      way;  ///< of those that are picked: which of several ways, as Mesh has it
};

/// `Mesh` is a LiveNetwork that says, as `channels`, how many inputs a router has, as `injected`, which of them its node's processor
/// lets packets into, and as `End` what an end is (live_move.hpp). Of a router at node `at`, with this carrier's access to shared words
/// where it is given:
///   ends(carrier, at, input, first, way) where a packet goes: that way, which decide() has chosen, or, 0, any; `first` may change with
///                                        what it decides about it
///   decide(carrier, at, inputs, decision) of these inputs
///   went_alone(at, input, ends)          the packet of an input went, and there was no other
///   has_room(carrier, at, output)        that channel
///   arrival(at, end, input)              what is counted at an end that is a node
///   counted(at, end)                     the same: told once at most
/// `Pause` is called before each access.
template <class Mesh, class Pause = NoPause>
class LiveCarrier {
 public:
  using End = typename Mesh::End;
  using Ends = LiveEnds<End>;
  static constexpr unsigned channels = Mesh::channels;

  explicit LiveCarrier(Mesh& mesh, Pause pause = {}) noexcept : mesh_(mesh), pause_(pause) {}

  /// Steps `first`, of which `inputs` hold something that is new there, and whatever has got something to do by that, until there is
  /// nothing left: at most so many steps.
  void run(NodeNumber first, Requests inputs, unsigned most_steps) {
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
    auto& router = mesh_.router_at(node);
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
    const auto its = mesh_.work(node);
    if ((see(its.word) & its.bit) == 0) add_bits(its.word, its.bit);
  }

  // For LiveMove, and for Mesh.

  [[nodiscard]] Word see(const std::atomic<Word>& word) const {
    pause_();
    return word.load(std::memory_order_seq_cst);
  }
  bool change(std::atomic<Word>& word, Word seen, Word to) const {
    pause_();
    return word.compare_exchange_strong(seen, to, std::memory_order_seq_cst);
  }
  [[nodiscard]] auto see() const {
    return [this](const std::atomic<Word>& word) { return see(word); };
  }
  /// Before an access that Mesh makes by itself.
  void pause() const { pause_(); }
  [[nodiscard]] static constexpr unsigned inputs() noexcept { return channels; }
  [[nodiscard]] LiveChannel& input(unsigned number) const noexcept { return here().inputs[number]; }
  [[nodiscard]] Ends ends(unsigned input, LiveChannel::First& first, unsigned way = 0) const {
    return mesh_.ends(*this, at_, input, first, way);
  }
  void has_come(const End& end, unsigned input) {
    if (end.channel != nullptr) {
      const auto behind = mesh_.behind(at_, end.output);
      watch(behind.node);
      to_do(behind.node, request(behind.input));
    } else if (end.entries != nullptr) {
      const Arrival arrival = mesh_.arrival(at_, end, input);
      pause_();
      mesh_.nodes().arrived(arrival.at, arrival.from, arrival.what);
      if (arrived_ == arrivals_.size()) show(arrivals_[--arrived_]);
      arrivals_[arrived_++] = arrival;
    }
  }
  void has_moved(const Ends& ends) {
    moved_ = true;
    for (const End& end : ends) {
      (end.channel != nullptr ? end.channel->flits : here().to_node).add(Mesh::flits_of(end.packet));
      if (end.channel == nullptr && end.entries != nullptr) mesh_.counted(at_, end);
    }
  }
  void has_left(unsigned input, Word number) {
    auto& router = here();
    const Requests bit = request(input);
    if (router.inputs[input].at(number + 1, see()).is_there) {
      to_do(at_, bit);
    } else if ((see(router.waiting) & bit) != 0) {
      to_do(at_, forget(router, bit));
    }
    if ((see(router.starved) & bit) == 0) return;
    remove_bits(router.starved, bit);
    if (const NodeNumber before = mesh_.feeder(at_, input); before != nowhere) {
      to_do(before, 0);
    } else if (std::ranges::find(Mesh::injected, input) != Mesh::injected.end()) {
      pause_();
      mesh_.nodes().has_room(at_);
    }  // else another has scribbled here
  }

 private:
  using Arrival = typename Mesh::Arrival;
  struct ToDo {
    NodeNumber node;
    Requests inputs;  // beside those that wait
  };

  [[nodiscard]] auto& here() const noexcept { return mesh_.router_at(at_); }
  void add_bits(std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    pause_();
    word.fetch_or(bits, std::memory_order_seq_cst);
  }
  void remove_bits(std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    pause_();
    word.fetch_and(~bits, std::memory_order_seq_cst);
  }
  void to_do(NodeNumber node, Requests inputs) {
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
    if (left.inputs != 0) add_bits(mesh_.router_at(left.node).waiting, left.inputs & every_input);
    watch(left.node);
  }

  /// One decision at a router and what follows from it.
  void step(NodeNumber at, Requests inputs) {
    at_ = at;
    const Requests waiting = see(here().waiting);
    const Requests occupied = (waiting | inputs) & every_input;
    if (is_one(occupied)) {
      step_alone(static_cast<unsigned>(std::countr_zero(occupied)), waiting);
    } else if (occupied != 0) {
      step_among(occupied, waiting);
    }
  }

  void step_alone(unsigned input, Requests waiting) {
    auto& router = here();
    LiveChannel::First first = router.inputs[input].first(see());
    if (!first.is_there) {
      if (waiting != 0) to_do(at_, forget(router, waiting));
      return;
    }
    Ends ends = this->ends(input, first);
    switch (LiveMove<LiveCarrier, End>(*this).run(input, first, ends)) {
      case Moved::yes:
        return mesh_.went_alone(at_, input, ends);
      case Moved::already:
        return to_do(at_, request(input));
      case Moved::no_room:
        router.inputs[input].refused.add(1);
        if (wait_for_room(router, request(input), ends.first().outputs())) to_do(at_, request(input));
    }
  }

  void step_among(Requests occupied, Requests waiting) {
    auto& router = here();
    LiveDecision<channels> now;
    mesh_.decide(*this, at_, occupied, now);
    Requests found = now.found;
    if ((waiting & ~found) != 0) {
      const Requests come = forget(router, waiting & ~found);
      found |= come;  // they have not been looked at: there may be room behind them
      if (come != 0 && now.picked == 0) return to_do(at_, found);
    }
    if (now.picked == 0) {
      if (found != 0 && wait_for_room(router, found, now.blocked)) to_do(at_, found);
      return;
    }
    for_each(now.picked, [&](unsigned input) {
      LiveChannel::First first = now.firsts[input];
      Ends ends = this->ends(input, first, now.way[input]);
      if (LiveMove<LiveCarrier, End>(*this).run(input, first, ends) == Moved::yes) found &= ~request(input);
    });
    if (found != 0) to_do(at_, found);
  }

  /// These inputs hold nothing that waits: those that do after all, since a moment ago.
  template <class Router>
  Requests forget(Router& router, Requests inputs) {
    remove_bits(router.waiting, inputs);
    Requests come = 0;
    for_each(inputs & every_input, [&](unsigned input) {
      if (router.inputs[input].first(see()).is_there) come |= request(input);
    });
    if (come != 0) add_bits(router.waiting, come);
    return come;
  }

  // After all that goes through the routers: nodes look at what is written here all the time, and so make it slow to write.
  void show(const Arrival& arrival) const {
    pause_();
    mesh_.nodes().show(arrival.at, arrival.from, arrival.what);
  }

  /// Says where room is missing. True when there is some by now.
  template <class Router>
  bool wait_for_room(Router& router, Requests inputs, Requests outputs) {
    add_bits(router.waiting, inputs);
    bool room = false;
    for_each(outputs, [&](unsigned output) {
      const auto behind = mesh_.behind(at_, output);
      add_bits(mesh_.router_at(behind.node).starved, request(behind.input));
      room = room || mesh_.has_room(*this, at_, output);
    });
    return room;
  }

  template <class Router>
  [[nodiscard]] bool is_empty(const Router& router) const {
    for (const LiveChannel& input : router.inputs) {
      if (input.first(see()).is_there) return false;
    }
    return see(router.waiting) == 0;
  }
  /// There was nothing here a moment ago.
  void rest(NodeNumber node) const {
    const auto its = mesh_.work(node);
    remove_bits(its.word, its.bit);
    if (!is_empty(mesh_.router_at(node))) add_bits(its.word, its.bit);
  }

  static constexpr std::uint32_t looks_at_all = 16;  // of one at all inputs
  static constexpr Requests every_input = request(channels) - 1;

  Mesh& mesh_;
  const Pause pause_;
  NodeNumber at_ = 0;
  std::array<ToDo, 64> to_do_;
  unsigned count_ = 0;
  std::array<Arrival, 8> arrivals_;  // to be shown
  unsigned arrived_ = 0;
  bool moved_ = false;  // anything, since look_after() began
};

// -- LiveNetwork, of which carriers are made ----------------------------------------------------------------------------

/// Of one call: more than any message's way, with what it sets free; so few that whoever sends is not kept for long.
inline constexpr unsigned most_live_steps = 256;

// Nobody else lets packets into this channel, so its entries are this node's own.
template <class Mesh, class Router>
bool LiveNetwork<Mesh, Router>::put(NodeNumber node, unsigned input, std::uint32_t packet, unsigned flits,
                                    unsigned most) noexcept {
  LiveChannel& to = routers_[node].inputs[input];
  const Entry last{to.entries.load(std::memory_order_relaxed)};
  if (!to.has_room(last, Look(), most)) return false;
  to.entries.store(last.with(0, 0).word, std::memory_order_relaxed);
  to.flits.add(flits);
  std::atomic<Word>& place = to.place[last.count() % LiveChannel::places];
  const std::uint32_t lap = LiveChannel::lap_of(place.load(std::memory_order_relaxed)) + 1;
  place.exchange(LiveChannel::filled(packet, lap), std::memory_order_seq_cst);
  LiveCarrier<Mesh>(static_cast<Mesh&>(*this)).watch(node);
  return true;
}

template <class Mesh, class Router>
bool LiveNetwork<Mesh, Router>::has_gone(NodeNumber node) const noexcept {
  return std::ranges::none_of(
      Mesh::injected, [&](unsigned input) { return routers_[node].inputs[input].first(Look()).is_there; });
}

template <class Mesh, class Router>
void LiveNetwork<Mesh, Router>::carry_from(NodeNumber node, unsigned input) noexcept {
  LiveCarrier<Mesh>(static_cast<Mesh&>(*this)).run(node, request(input), most_live_steps);
}

template <class Mesh, class Router>
bool LiveNetwork<Mesh, Router>::look_after() noexcept {
  Mesh& mesh = static_cast<Mesh&>(*this);
  bool any = false;
  for (unsigned word = 0; word * 64 < grid_.nodes(); ++word) {
    for_each(Look()(shared_.work[word]), [&](unsigned bit) {
      const NodeNumber node = word * 64 + bit;
      if (node >= grid_.nodes()) return;  // not what another has scribbled
      any = LiveCarrier<Mesh>(mesh).look_after(node, false, most_live_steps) || any;
    });
  }
  const NodeNumber last = next_;  // once: others count there, too
  const NodeNumber next = last + 1 < grid_.nodes() ? last + 1 : 0;
  next_ = next;
  return LiveCarrier<Mesh>(mesh).look_after(next, true, most_live_steps) || any;
}

}  // namespace am::kit
