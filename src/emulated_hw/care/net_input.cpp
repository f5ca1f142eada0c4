#include "emulated_hw/care/net_input.hpp"

namespace am::care {

void NetInput::step(const Wire& packet_in, Router& router) {
  ended_ = {};
  if (machine_.is(State::free)) {
    if (!packet_in.word.is_target()) return;
    machine_.enter(When::da);
    word_ = packet_in.word;
    packet_ = word_.packet;
    ++words_;
    is_routed_ = false;
    attempts_ = 0;
  }
  if (machine_.is(State::first)) {
    seek(router);
    return;
  }
  if (packet_in.terminator != Terminator::none) {
    terminator_ = packet_in.terminator;
    ++words_;
  }
  taken_ |= router.relayed(number_).took;
  if (!is_routed_) route(router);
  go_on(packet_in, router);
}

void NetInput::seek(Router& router) {
  if (!is_routed_) {
    is_routed_ = begin(router);
    attempts_ = is_routed_ ? 0 : attempts_ + 1;
    taken_ = 0;
  }
  machine_.enter(is_routed_ && may_follow(router) ? When::c : When::s);
}

/// The words behind the front. A circuit is complete when the net-output has heard `open` from the next site, which says that when its own way on
/// is complete: so that comes back from the target's fifo-buffer by a link in each cycle.
bool NetInput::may_follow(const Router& router) {
  if (options_.switching != Switching::circuits) return true;
  const Router::Relayed relayed = router.relayed(number_);
  taken_ |= relayed.took;
  return relayed.is_settled && !is_blocked(relayed);
}

/// The connection for a packet's first target, or none (4.6).
bool NetInput::begin(Router& router) {
  const bool stores = options_.switching == Switching::stored && number_ != local;
  const bool forced = stores || attempts_ > options_.seek_threshold;
  const bool is_single = word_.last || word_.one_site;
  const bool may_split = options_.switching != Switching::circuits;
  const bool splits = !is_single && !forced && may_split && router.is_available(local);
  std::optional<PortNumber> output;
  if (forced && router.is_available(local)) {
    output = local;
  } else if (!stores) {
    output = router.find(number_, word_.value);
  }
  if (!output) return false;
  if (forced && output == local && word_.value != router.here()) ++counts_.forced_stores;
  connection_ = is_single ? Connection::unicast : Connection::passthru;
  list_ = List::whole;
  branches_ = port_bit(*output);
  if (splits) {
    connection_ = *output == local ? Connection::some_local : Connection::all_remote;
    list_ = List::split;
    branches_ |= port_bit(local);
    router.connect(number_, local);
    ++counts_.splits;
  }
  router.connect(number_, *output);
  return true;
}

/// The branches of a word that it has taken in mid-packet. The local copy gets all targets, each other one its own.
void NetInput::route(Router& router) {
  is_routed_ = true;
  const bool is_pad = word_.kind == Word::Kind::pad;
  branches_ = word_ && !is_pad ? router.connections(number_) : 0;
  if (!word_.is_target() || !is_multicast() || is_aborting()) return;
  const std::optional<PortNumber> output = router.find(number_, word_.value);
  if (!output && ++attempts_ <= options_.seek_threshold) {
    is_routed_ = false;
  } else if (!output) {
    ++counts_.partial_finds;
    abort(router);
  } else {
    if (*output != local) router.connect(number_, *output);
    if (*output == local) connection_ = Connection::some_local;
    branches_ = port_bit(local) | port_bit(*output);
    if (word_.last) list_ = List::over;
    attempts_ = 0;
  }
}

void NetInput::take(const Word& word, Router& router) {
  word_ = word;
  taken_ = 0;
  if (word_ && word_.kind != Word::Kind::pad) ++words_;
  route(router);
}

void NetInput::go_on(const Wire& packet_in, Router& router) {
  Router::Relayed relayed = router.relayed(number_);
  if (relayed.status == Status::abort_request && is_multicast() && !is_aborting()) {
    ++counts_.aborts;
    abort(router);
    relayed = router.relayed(number_);
  }
  const bool blocked = is_blocked(relayed);
  if (packet_in.terminator != Terminator::none)
    machine_.enter(machine_.is(State::open) && blocked ? When::wtr : When::tr);
  if (blocked && (machine_.is(State::open) || machine_.is(State::done))) machine_.enter(When::w);
  if (!blocked && (machine_.is(State::wait) || machine_.is(State::last))) machine_.enter(When::o);
  if (machine_.is(State::abort)) machine_.say(blocked ? Status::wait : Status::open);
  if (blocked) return;
  if (machine_.is(State::open) || machine_.is(State::abort)) {
    take(packet_in.word, router);
  } else if (!relayed.is_settled) {
    return;
  } else if (machine_.is(State::fin_abort)) {
    machine_.enter(When::nw);
    end(router, Terminator::none, terminator_);
  } else if (machine_.is(State::done) && options_.fidelity == Fidelity::two_events) {
    machine_.enter(When::event);
  } else if (machine_.is(State::done)) {
    machine_.enter(When::o);
    commit(router);
  }
}

void NetInput::step_final(Router& router) {
  if (!machine_.is(State::final)) return;
  const Router::Relayed relayed = router.relayed(number_);
  machine_.enter(is_blocked(relayed) ? When::w : When::nw);
  if (machine_.is(State::free)) commit(router);
}

/// Back out of a multicast: only the connection to the local net-output stays (4.5.2). That one has a word to take yet, so no packet ends in the
/// same cycle.
void NetInput::abort(Router& router) {
  machine_.enter(When::arm);
  const Ports remote = router.connections(number_) & ~port_bit(local);
  ended_ = {remote, Terminator::abort_packet, Terminator::none};
  router.disconnect(number_, remote);
  branches_ &= port_bit(local);
  is_routed_ = true;
}

/// The terminators of Table A, by connection (4.5.1). An upstream :abort-packet goes to all.
void NetInput::commit(Router& router) {
  using enum Terminator;
  Terminator at_local = is_multicast() ? local_end_of_packet : end_of_packet;
  if (terminator_ == abort_packet || connection_ == Connection::all_remote) at_local = abort_packet;
  end(router, terminator_, at_local);
}

void NetInput::end(Router& router, Terminator remote, Terminator at_local) {
  ended_ = {router.connections(number_), remote, at_local};
  router.disconnect(number_, ended_.outputs);
  word_ = {};
  branches_ = 0;
  terminator_ = Terminator::none;
}

Wire NetInput::packet_out(PortNumber output, const Router& router) const noexcept {
  if ((ended_.outputs & port_bit(output)) != 0)
    return {.terminator = output == local ? ended_.at_local : ended_.remote};
  if ((router.connections(number_) & port_bit(output)) == 0) return {};
  Wire wire{.list = output == local ? List::whole : list_};
  const bool pads = machine_.is(State::wait) && is_multicast() && options_.fidelity == Fidelity::words;
  if (is_routed_ && (branches_ & ~taken_ & port_bit(output)) != 0) {
    wire.word = word_;
  } else if (pads || word_.kind == Word::Kind::pad) {
    wire.word = {.kind = Word::Kind::pad, .packet = packet_};
  }
  return wire;
}

std::optional<NodeNumber> NetInput::sought() const noexcept {
  if (machine_.is(State::free) || is_routed_) return std::nullopt;
  return word_.value;
}

}  // namespace am::care
