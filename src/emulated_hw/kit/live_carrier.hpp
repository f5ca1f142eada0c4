// Whoever moves messages through a live network, from router to router (live_network.hpp): a few numbers on a stack. A template, so that
// a test can stop or end it before each of its accesses to what it shares with others. How it moves a packet through one router, and
// which go: live_move_carrier.hpp, live_ends_carrier.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "emulated_hw/kit/live_network.hpp"

namespace am::kit {

struct NoPause {
  void operator()() const noexcept {}
};

/// `Mesh` is a LiveNetwork that says, as `channels`, how many inputs a router has, as `injected`, which of them its node's processor
/// lets packets into, and as `Arrival` what is counted at a node. Of a router at node `at`:
///   behind(at, output)     the input at which that channel ends
///   feeder(at, input)      the router that lets packets in there, or nowhere
///   nodes()                LiveNodes
/// `Self` derives from this. Of inputs of the router here_at(), some of which are marked as waiting:
///   step(occupied, waiting)       one decision, and what follows from it; there may be nothing there
///   has_room(at, output)          that channel
/// `Pause` is called before each access.
template <class Mesh, class Pause, class Self>
class LiveCarrier {
 public:
  static constexpr unsigned channels = Mesh::channels;

  /// Steps `first`, of which `inputs` hold something that is new there, and whatever has got something to do by that, until there is
  /// nothing left: at most so many steps.
  void run(RouterNumber first, Requests inputs, unsigned most_steps) {
    to_do(first, inputs);
    while (count_ != 0) {
      const ToDo next = to_do_[--count_];
      if (most_steps-- == 0) {
        for (leave(next); count_ != 0; --count_) leave(to_do_[count_ - 1]);
        break;
      }
      step(next);
    }
  }
  /// The same at a router of which it is not known whether there is anything: what is marked there, and now and then, or when `all`
  /// says so, whatever lies there. Where there is nothing then, `work` forgets the router. Whether anything has moved.
  bool look_after(RouterNumber at, bool all, unsigned most_steps) {
    auto& router = mesh_.router_at(at);
    router.looks.add(1);
    all = all || router.looks % looks_at_all == 0;
    if (!all && see(router.waiting) == 0) return false;
    moved_ = false;
    run(at, all ? every_input : 0, most_steps);
    if (all && is_empty(at)) rest(at);
    return moved_;
  }

  /// Has this router looked after.
  void watch(RouterNumber at) const {
    const auto its = mesh_.work(at);
    if ((see(its.word) & its.bit) == 0) add_bits(its.word, its.bit);
  }

  // For the moves, and for Mesh.

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
  [[nodiscard]] auto& input(unsigned number) const noexcept { return here().inputs[number]; }
  /// The first of an input has gone, and had that number: told once at least.
  void has_left(unsigned input, Word number) {
    auto& router = here();
    const Requests bit = request(input);
    if (mesh_.numbered(at_, input, number + 1, see()).is_there) {
      to_do(at_, bit);
    } else if ((see(router.waiting) & bit) != 0) {
      to_do(at_, forget(router, bit));
    }
    if ((see(router.starved) & bit) == 0) return;
    remove_bits(router.starved, bit);
    if (const RouterNumber before = mesh_.feeder(at_, input); before != nowhere) {
      to_do(before, 0);
    } else if (const NodeNumber node = mesh_.injector(at_, input); node != nowhere) {
      pause_();
      mesh_.nodes().has_room(node);
    }  // else another has scribbled here
  }

 protected:
  using Arrival = typename Mesh::Arrival;

  LiveCarrier(Mesh& mesh, Pause pause) noexcept : mesh_(mesh), pause_(pause) {}
  ~LiveCarrier() = default;

  [[nodiscard]] Mesh& mesh() const noexcept { return mesh_; }
  [[nodiscard]] RouterNumber here_at() const noexcept { return at_; }
  [[nodiscard]] auto& here() const noexcept { return mesh_.router_at(at_); }

  /// A packet has come by a channel, or to a node: told once at least.
  void came_behind(unsigned output) {
    const InputAt behind = mesh_.behind(at_, output);
    watch(behind.router);
    to_do(behind.router, request(behind.input));
  }
  void came_to_node(const Arrival& arrival) {
    pause_();
    mesh_.nodes().arrived(arrival.at, arrival.from, arrival.what);
    pause_();
    mesh_.nodes().show(arrival.at, arrival.from, arrival.what);
  }
  void has_moved() noexcept { moved_ = true; }

  void to_do_here(Requests inputs) { to_do(at_, inputs); }
  /// These inputs hold nothing that waits: those that do after all, since a moment ago.
  template <class Router>
  Requests forget(Router& router, Requests inputs) {
    remove_bits(router.waiting, inputs);
    Requests come = 0;
    for_each(inputs & every_input, [&](unsigned input) {
      if (mesh_.first(at_, input, see()).is_there) come |= request(input);
    });
    if (come != 0) add_bits(router.waiting, come);
    return come;
  }
  /// Says where room is missing. True when there is some by now.
  bool wait_for_room(Requests inputs, Requests outputs) {
    add_bits(here().waiting, inputs);
    bool room = false;
    for_each(outputs, [&](unsigned output) {
      const InputAt behind = mesh_.behind(at_, output);
      add_bits(mesh_.router_at(behind.router).starved, request(behind.input));
      room = room || static_cast<const Self*>(this)->has_room(output);
    });
    return room;
  }

 private:
  struct ToDo {
    RouterNumber router;
    Requests inputs;  // beside those that wait
  };

  void add_bits(std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    pause_();
    word.fetch_or(bits, std::memory_order_seq_cst);
  }
  void remove_bits(std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    pause_();
    word.fetch_and(~bits, std::memory_order_seq_cst);
  }
  void to_do(RouterNumber router, Requests inputs) {
    if (count_ != 0 && to_do_[count_ - 1].router == router) {
      to_do_[count_ - 1].inputs |= inputs;
    } else if (count_ != to_do_.size()) {
      to_do_[count_++] = {router, inputs};
    } else {
      leave({router, inputs});
    }
  }
  /// To whoever comes by.
  void leave(const ToDo& left) const {
    if (left.inputs != 0) add_bits(mesh_.router_at(left.router).waiting, left.inputs & every_input);
    watch(left.router);
  }
  void step(const ToDo& next) {
    at_ = next.router;
    const Requests waiting = see(here().waiting);
    const Requests occupied = (waiting | next.inputs) & every_input;
    if (occupied != 0) static_cast<Self*>(this)->step(occupied, waiting);
  }

  [[nodiscard]] bool is_empty(RouterNumber at) const {
    for (unsigned input = 0; input < channels; ++input) {
      if (mesh_.first(at, input, see()).is_there) return false;
    }
    return see(mesh_.router_at(at).waiting) == 0;
  }
  /// There was nothing here a moment ago.
  void rest(RouterNumber at) const {
    const auto its = mesh_.work(at);
    remove_bits(its.word, its.bit);
    if (!is_empty(at)) add_bits(its.word, its.bit);
  }

  static constexpr std::uint32_t looks_at_all = 16;  // of one at all inputs
  static constexpr Requests every_input = request(channels) - 1;

  Mesh& mesh_;
  const Pause pause_;
  RouterNumber at_ = 0;
  std::array<ToDo, 64> to_do_;
  unsigned count_ = 0;
  bool moved_ = false;  // anything, since look_after() began
};

// -- LiveNetwork, of which carriers are made ----------------------------------------------------------------------------

/// Of one call, in a network of so many routers: more than the ways of all messages that a channel holds, and those of their answers, with what
/// these set free; so few that whoever sends is not kept for long.
inline constexpr unsigned most_live_steps = 256;
constexpr unsigned live_steps(RouterNumber routers) noexcept {
  return std::max(most_live_steps, 2 * LiveChannel::places * routers);
}

template <class Mesh>
using Carries = typename Mesh::template Carrier<NoPause>;

template <class Mesh, class Router>
bool LiveNetwork<Mesh, Router>::put(RouterNumber router, unsigned input, std::uint32_t packet, unsigned flits,
                                    unsigned most) noexcept {
  auto& to = routers_[router].inputs[input];
  if (!to.put(packet, most)) return false;
  to.flits.add(flits);
  Carries<Mesh>(static_cast<Mesh&>(*this)).watch(router);
  return true;
}

template <class Mesh, class Router>
bool LiveNetwork<Mesh, Router>::has_gone(RouterNumber router) const noexcept {
  return std::ranges::none_of(
      Mesh::injected, [&](unsigned input) { return routers_[router].inputs[input].first(Look()).is_there; });
}

template <class Mesh, class Router>
void LiveNetwork<Mesh, Router>::carry_from(RouterNumber router, unsigned input) noexcept {
  Carries<Mesh>(static_cast<Mesh&>(*this)).run(router, request(input), live_steps(count_));
}

template <class Mesh, class Router>
bool LiveNetwork<Mesh, Router>::look_after() noexcept {
  Mesh& mesh = static_cast<Mesh&>(*this);
  bool any = false;
  for (unsigned word = 0; word * 64 < count_; ++word) {
    for_each(Look()(shared_.work[word]), [&](unsigned bit) {
      const RouterNumber router = word * 64 + bit;
      if (router >= count_) return;  // not what another has scribbled
      any = Carries<Mesh>(mesh).look_after(router, false, live_steps(count_)) || any;
    });
  }
  const RouterNumber last = next_;  // once: others count there, too
  const RouterNumber next = last + 1 < count_ ? last + 1 : 0;
  next_ = next;
  return Carries<Mesh>(mesh).look_after(next, true, live_steps(count_)) || any;
}

}  // namespace am::kit
