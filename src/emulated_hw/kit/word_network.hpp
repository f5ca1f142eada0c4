// A network of wormhole or cut-through routers in any wiring, under a clock. Its flits are words with a tag. A machine says by its Policy what a
// word is (where routers cut through, a whole message), which way they go, how long they take, and what holds a channel:
//
//   Word                                                    a type
//   Way way(PartNumber router, unsigned port, Word head)    where a message goes that came by that port, by its first word
//   std::uint64_t choose(std::uint64_t free, WireNumber input, Cycle now)   one of several free ports, as a bit, the same in any order of steps
//   unsigned cycles(Tag tag, const Wire& wire)              that such a flit takes on that wire: at most wire.flit_cycles
//   bool takes_room(Tag tag)                                whether it needs room in a buffer
//   bool ends(Tag tag)                                      whether the message, or whatever holds the channels, ends with it
//   std::uint64_t print(Word), std::string name(Word)       for fingerprints, and for people
//   constants: router_cycles, credit_cycles, buffer (flits of each input), places (the same, with those that take no room),
//              head_cycles: a router that cuts through goes on with a flit when so many cycles of it have come; 0: when all have
//
//   a link:  [router or node]--serializer--> wire -->[buffer]--router_cycles--> serializer --> ...
//                     ^                                  | room comes back after credit_cycles
//                     +----------------------------------+
//
// A flit leaves a router `router_cycles` after its last bit has come, or its head, if the message has its outputs, all of these are free, and
// there is room behind them. By a wire from or to a node that takes no time it takes no such time. A message that takes several outputs takes
// each as it becomes free, keeps it, and goes on when it has all. One that takes any of several takes none until one is idle. Inputs that want
// the same output have it in turns.
//
// Cut through, a flit leaves its input as fast as the next one comes in behind it. So its room is given back as soon as it begins to leave, and
// the next one leaves when it is gone.
//
// A cycle: nodes act (send, accept, take), then step().
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/calendar.hpp"
#include "emulated_hw/kit/fifo.hpp"
#include "emulated_hw/kit/fingerprint.hpp"
#include "emulated_hw/kit/trace.hpp"
#include "emulated_hw/kit/waits.hpp"
#include "emulated_hw/kit/wiring.hpp"

namespace am::kit {

/// Where a message goes from a router: by all of `outputs`, or by one of them, as the policy chooses among those that are free.
struct Way {
  std::uint64_t outputs = 0;  ///< ports, as bits
  bool any_one = false;       ///< not all of them: one that is free, as the policy chooses
  bool drops_head = false;    ///< its first word ends here, and the next one is its first; no outputs
};

template <class Policy>
class WordNetwork {
 public:
  using Word = typename Policy::Word;
  using Tag = std::uint8_t;
  struct Flit {
    Word word{};
    Tag tag = 0;
    std::uint32_t message = Trace::nothing;  ///< what a trace calls it
    friend bool operator==(const Flit&, const Flit&) = default;
  };

  /// `name` begins those of its routers in waits. Throws std::invalid_argument where a wire between routers takes no time.
  WordNetwork(Wiring wiring, Policy policy, std::string name = {})
      : name_(std::move(name)),
        wiring_(std::move(wiring)),
        policy_(std::move(policy)),
        calendar_(wiring_.parts(), horizon(wiring_)),
        rooms_(horizon(wiring_)),
        inputs_(wiring_.wires().size()),
        outputs_(wiring_.wires().size()),
        full_(wiring_.routers()),
        turns_(wiring_.routers()) {
    for (WireNumber number = 0; number < outputs_.size(); ++number) {
      const Wire& wire = wiring_.wire(number);
      if (!is_router(wire.to.part)) continue;
      outputs_[number].room = Policy::buffer;
      if (is_router(wire.from.part) && wire.flit_cycles == 0)
        throw std::invalid_argument("a wire from " + wire.name() + " takes no time: only a node's may");
    }
  }

  [[nodiscard]] const Wiring& wiring() const noexcept { return wiring_; }
  /// A node's end of the link from its port to the network, and of that from the network.
  [[nodiscard]] WireNumber out_of(NodeNumber node, unsigned port) const {
    return wiring_.out_of(wiring_.node(node))[port];
  }
  [[nodiscard]] WireNumber into(NodeNumber node, unsigned port) const {
    return wiring_.into(wiring_.node(node))[port];
  }
  [[nodiscard]] Policy& policy() noexcept { return policy_; }
  [[nodiscard]] Cycle now() const noexcept { return now_; }

  // -- a node, at its end of a wire

  /// It has room for the next flit, and then for no other; at first for none.
  void accept(WireNumber wire) {
    outputs_[wire].room = 1;
    calendar_.put(now_, wiring_.wire(wire).from.part);
  }
  /// It has no room any more.
  void refuse(WireNumber wire) noexcept { outputs_[wire].room = 0; }
  /// It may send a flit that takes room.
  [[nodiscard]] bool has_room(WireNumber wire) const noexcept {
    return outputs_[wire].room != 0 && outputs_[wire].free_at <= now_;
  }
  void send(WireNumber wire, const Flit& flit) {
    ++under_way_;
    put(wire, flit);
  }
  /// What it has sent has all left its router.
  [[nodiscard]] bool is_drained(WireNumber wire) const noexcept { return inputs_[wire].flits.empty(); }
  /// The next flit that has come, or none.
  [[nodiscard]] const Flit* front(WireNumber wire) const noexcept {
    const Input& input = inputs_[wire];
    return input.flits.empty() || input.flits.front().come > now_ ? nullptr : &input.flits.front().flit;
  }
  void take(WireNumber wire) {
    --under_way_;
    inputs_[wire].flits.pop();
    last_move_ = now_;
  }
  /// Is rung when a flit has come, before the cycle in which the node finds it.
  void rings(PartNumber node, NodeBell bell) {
    if (bells_.empty()) bells_.resize(wiring_.parts());
    bells_[node] = bell;
  }

  /// One cycle of all routers. `order`: if given, all of them, in the order in which they are stepped.
  void step(std::span<const PartNumber> order = {}) {
    rooms_.take(now_, [this](WireNumber wire) {
      ++outputs_[wire].room;
      const PartNumber sender = wiring_.wire(wire).from.part;
      if (!is_router(sender) || full_[sender] != 0) calendar_.put(now_, sender);
    });
    if (order.empty()) {
      calendar_.take(now_, [this](PartNumber part) { step(part); });
    } else {
      calendar_.take(now_, [this](PartNumber part) { ring(part); });
      for (const PartNumber part : order) step(part);
    }
    ++now_;
  }

  /// What waits at that router asks for its way again. Messages there are one flit each.
  void forget_ways(PartNumber router) {
    for (const WireNumber wire : wiring_.into(router)) {
      if (wire == no_wire) continue;
      Input& input = inputs_[wire];
      for_each_output(router, input.taken,
                      [this](WireNumber output, std::uint64_t) { outputs_[output].is_taken = false; });
      input.outputs = input.taken = 0;
      input.has_way = false;
    }
    calendar_.put(now_, router);
  }

  /// Flits that nodes have sent and not taken, those of a message that goes several ways counted for each.
  [[nodiscard]] std::uint64_t under_way() const noexcept { return under_way_; }
  /// Flits that a wire has carried.
  [[nodiscard]] std::uint64_t carried(WireNumber wire) const noexcept { return outputs_[wire].carried; }
  /// Cycles that these take on it.
  [[nodiscard]] std::uint64_t busy(WireNumber wire) const noexcept { return outputs_[wire].busy; }
  /// Cycles since anything has last moved.
  [[nodiscard]] Cycle still_for() const noexcept { return now_ - last_move_; }
  /// A number that depends on everything that has left a router, when and where.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// Tells it from now on when flits leave routers, until it is told otherwise. It outlives that. `port`: what the trace calls that port of a
  /// router.
  void record(Trace* trace, unsigned (*port)(unsigned)) noexcept {
    trace_ = trace;
    port_in_trace_ = port;
  }
  /// What is at the end of a wire, as in waits.
  [[nodiscard]] std::string place_at(WireNumber wire) const {
    const Wire::End& to = wiring_.wire(wire).to;
    return is_router(to.part)
               ? name_ + "router " + std::to_string(to.part) + " port " + std::to_string(to.port)
               : "node " + std::to_string(to.part - wiring_.routers());
  }
  /// Adds each input whose message does not get on. A node is the place "node N".
  void add_waits(Waits& waits) const {
    for (WireNumber wire = 0; wire < inputs_.size(); ++wire) {
      if (!is_router(wiring_.wire(wire).to.part) || inputs_[wire].flits.empty()) continue;
      add_who_waits(wire, waits);
    }
  }

 protected:
  [[nodiscard]] Trace* trace() const noexcept { return trace_; }

 private:
  struct Coming {
    Flit flit{};
    Cycle come = 0;  // its last bit; or the last of its head
  };
  struct Input {
    Fifo<Coming, std::bit_ceil(Policy::places)> flits;
    Cycle free_at = 0;          // the flit before has gone: where it cuts through
    std::uint64_t outputs = 0;  // ports that its message takes
    std::uint64_t taken = 0;    // of these, those that it has
    bool any_one = false;       // of `outputs`, it takes one
    bool has_way = false;
  };
  struct Output {
    std::uint64_t carried = 0;
    std::uint64_t busy = 0;
    Cycle free_at = 0;
    std::uint8_t room = 0;  // flits behind it
    bool is_taken = false;  // by a message
  };

  /// More than anything takes: a flit on the slowest wire, the way through a router, room that comes back.
  static Cycle horizon(const Wiring& wiring) {
    Cycle longest = Policy::router_cycles + Policy::credit_cycles;
    for (const Wire& wire : wiring.wires()) longest = std::max<Cycle>(longest, wire.flit_cycles);
    return longest + Policy::router_cycles + 2;
  }
  [[nodiscard]] bool is_router(PartNumber part) const noexcept { return part < wiring_.routers(); }

  /// Onto a wire. The time until it has left that.
  unsigned put(WireNumber number, const Flit& flit) {
    Output& output = outputs_[number];
    const Wire& wire = wiring_.wire(number);
    const unsigned cycles = policy_.cycles(flit.tag, wire);
    if (policy_.takes_room(flit.tag)) --output.room;
    ++output.carried;
    output.busy += cycles;
    output.free_at = now_ + cycles;
    last_move_ = now_;
    if (is_router(wire.to.part)) {
      const Cycle come = now_ + (cuts_through ? Policy::head_cycles : cycles);
      inputs_[number].flits.push({flit, come});
      full_[wire.to.part] |= std::uint64_t{1} << wire.to.port;
      calendar_.put(cuts_through ? come + Policy::router_cycles : come, wire.to.part);
    } else {
      inputs_[number].flits.push({flit, now_ + cycles});
      if (cycles <= 1) {
        ring(wire.to.part);
      } else {
        calendar_.put(now_ + cycles - 1, wire.to.part);
      }
    }
    return cycles;
  }
  void ring(PartNumber part) const noexcept {
    if (!bells_.empty()) bells_[part].ring();
  }
  void pop(WireNumber wire) {
    Input& input = inputs_[wire];
    const Tag tag = input.flits.pop().flit.tag;
    const Wire::End& here = wiring_.wire(wire).to;
    if (input.flits.empty()) full_[here.part] &= ~(std::uint64_t{1} << here.port);
    if (policy_.takes_room(tag)) rooms_.put(now_ + Policy::credit_cycles, wire);
    last_move_ = now_;
  }

  /// An output that a message leaves goes to the next input behind it that wants it, and so to all in turns.
  void step(PartNumber router) {
    if (!is_router(router)) return ring(router);  // a node, which acts by itself
    const std::vector<WireNumber>& inputs = wiring_.into(router);
    for_each_from(turns_[router], full_[router], [&](unsigned port) { go_on(router, inputs[port]); });
  }

  /// What the first flit of an input does now. What it waits for steps the router again.
  void go_on(PartNumber router, WireNumber wire) {
    Input& input = inputs_[wire];
    if (input.flits.empty()) return;
    const Coming& first = input.flits.front();
    if (first.come > now_) return;
    if (!input.has_way && !find_way(router, wire, first.flit.word)) return;
    const Cycle leaves_at = std::max(first.come + cycles_through(router, wire, input.outputs), input.free_at);
    if (leaves_at > now_) return calendar_.put(leaves_at, router);
    if (take_outputs(router, wire) && may_leave(router, input, first.flit.tag))
      leave(router, wire, first.flit);
  }

  /// False where the head ends here.
  bool find_way(PartNumber router, WireNumber wire, const Word& head) {
    const Way way = policy_.way(router, wiring_.wire(wire).to.port, head);
    Input& input = inputs_[wire];
    if (way.drops_head) {
      --under_way_;
      pop(wire);
      calendar_.put(now_ + 1, router);
      return false;
    }
    input.outputs = way.outputs;
    input.any_one = way.any_one;
    input.has_way = true;
    return true;
  }
  /// By wires of nodes that take no time at once.
  [[nodiscard]] Cycle cycles_through(PartNumber router, WireNumber wire, std::uint64_t outputs) const {
    const bool is_at_once =
        wiring_.wire(wire).flit_cycles == 0 ||
        (std::has_single_bit(outputs) && wiring_.wire(output_at(router, outputs)).flit_cycles == 0);
    return is_at_once ? 0 : Policy::router_cycles;
  }
  [[nodiscard]] WireNumber output_at(PartNumber router, std::uint64_t outputs) const {
    return wiring_.out_of(router)[static_cast<std::size_t>(std::countr_zero(outputs))];
  }
  template <class F>
  void for_each_output(PartNumber router, std::uint64_t outputs, F f) const {
    for (; outputs != 0; outputs &= outputs - 1) f(output_at(router, outputs), outputs & -outputs);
  }

  /// Takes what is free of the outputs that the message still needs. Whether it has all.
  bool take_outputs(PartNumber router, WireNumber wire) {
    Input& input = inputs_[wire];
    if (input.taken == input.outputs) return true;
    if (input.any_one) return take_any(router, wire);
    for_each_output(router, input.outputs & ~input.taken, [&](WireNumber output, std::uint64_t port) {
      if (std::exchange(outputs_[output].is_taken, true)) return;
      input.taken |= port;
    });
    return input.taken == input.outputs;
  }
  /// One of those outputs that are idle. What it waits for steps the router again.
  bool take_any(PartNumber router, WireNumber wire) {
    Input& input = inputs_[wire];
    std::uint64_t idle = 0;
    Cycle free_at = Cycle{0} - 1;
    for_each_output(router, input.outputs, [&](WireNumber number, std::uint64_t port) {
      const Output& output = outputs_[number];
      if (output.is_taken || output.room == 0) return;
      if (output.free_at <= now_) idle |= port;
      free_at = std::min(free_at, output.free_at);
    });
    if (idle == 0) {
      if (free_at != Cycle{0} - 1) calendar_.put(free_at, router);
      return false;
    }
    input.outputs = input.taken = policy_.choose(idle, wire, now_);
    input.any_one = false;
    outputs_[output_at(router, input.taken)].is_taken = true;
    turns_[router] = static_cast<std::uint8_t>((wiring_.wire(wire).to.port + 1) % Wiring::most_ports);
    return true;
  }
  /// All of its outputs are free, and have room.
  bool may_leave(PartNumber router, const Input& input, Tag tag) {
    Cycle free_at = now_;
    bool has_room = true;
    for_each_output(router, input.outputs, [&](WireNumber output, std::uint64_t) {
      free_at = std::max(free_at, outputs_[output].free_at);
      if (policy_.takes_room(tag) && outputs_[output].room == 0) has_room = false;
    });
    if (free_at > now_) calendar_.put(free_at, router);
    return has_room && free_at == now_;
  }
  void leave(PartNumber router, WireNumber wire, const Flit& flit) {
    Input& input = inputs_[wire];
    const bool ends = policy_.ends(flit.tag);
    --under_way_;
    for_each_output(router, input.outputs, [&](WireNumber number, std::uint64_t) {
      ++under_way_;
      if (ends) outputs_[number].is_taken = false;
      fingerprint_ += mixed(mixed(now_, number), policy_.print(flit.word) + (std::uint64_t{flit.tag} << 32));
      const unsigned cycles = put(number, flit);
      if (cuts_through) input.free_at = now_ + cycles;
      if (trace_ != nullptr) [[unlikely]]
        trace_->passes(flit.message, router, port_in_trace_(wiring_.wire(number).from.port), now_,
                       std::max(cycles, 1u));
    });
    pop(wire);
    if (ends) {
      input.outputs = input.taken = 0;
      input.has_way = false;
    }
    if (full_[router] != 0)
      calendar_.put(now_ + 1, router);  // what is behind it, and who waits for these outputs
  }

  void add_who_waits(WireNumber wire, Waits& waits) const {
    const Input& input = inputs_[wire];
    const PartNumber router = wiring_.wire(wire).to.part;
    std::string line = place_at(wire) + ": " + policy_.name(input.flits.front().flit.word);
    std::vector<std::string> behind;
    for_each_output(router, input.outputs & ~input.taken, [&](WireNumber output, std::uint64_t) {
      for (const WireNumber other : wiring_.into(router)) {
        if (other == no_wire || (inputs_[other].taken & port_of(output)) == 0) continue;
        behind.push_back(place_at(other));
        line += ", waits for port " + std::to_string(wiring_.wire(output).from.port) + ", which " +
                behind.back() + " has";
      }
    });
    const std::uint64_t may_take = input.any_one ? input.outputs : input.taken;
    for_each_output(router, may_take, [&](WireNumber output, std::uint64_t) {
      if (outputs_[output].room != 0) return;
      behind.push_back(place_at(output));
      line += ", waits for room at " + behind.back();
    });
    if (!behind.empty()) waits.add(place_at(wire), std::move(line), std::move(behind));
  }
  [[nodiscard]] std::uint64_t port_of(WireNumber output) const {
    return std::uint64_t{1} << wiring_.wire(output).from.port;
  }

  static constexpr bool cuts_through = Policy::head_cycles != 0;
  const std::string name_;
  const Wiring wiring_;
  Policy policy_;
  Cycle now_ = 0;
  Calendar calendar_;
  DelayLine<WireNumber> rooms_;      // that come back to who sends on a wire
  std::vector<Input> inputs_;        // by wire
  std::vector<Output> outputs_;      // by wire
  std::vector<std::uint64_t> full_;  // by router: inputs that have flits, as bits
  std::vector<std::uint8_t> turns_;  // by router: the input that is first, if any output will do for it
  std::vector<NodeBell> bells_;      // by part, or none
  Cycle last_move_ = 0;
  std::uint64_t under_way_ = 0;
  std::uint64_t fingerprint_ = 0;
  Trace* trace_ = nullptr;
  unsigned (*port_in_trace_)(unsigned) = nullptr;
};

}  // namespace am::kit
