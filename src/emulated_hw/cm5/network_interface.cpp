#include "emulated_hw/cm5/network_interface.hpp"

#include <bit>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace am::cm5 {

namespace {

constexpr unsigned words_of(const Message& message) noexcept { return 1u + message.length; }

}  // namespace

// -- sending

/// What is refused here has no partial message, so its data go nowhere, and send_ok stays cleared.
void NetworkInterface::send_first(Side side, const Header& header, Word destination, By by) {
  if (header.length > most_words || header.tag >= tags)
    throw std::invalid_argument("cm5: node " + std::to_string(node_) + " sends " +
                                std::to_string(header.length) + " words, tag " + std::to_string(header.tag) +
                                ": at most 5, and 15");
  Fifos& fifos = at(side);
  if (by == By::kernel && !locked_)
    throw std::logic_error("cm5: the kernel of node " + std::to_string(node_) + " sends without send-lock");
  fifos.send_ok[static_cast<std::size_t>(by)] = false;
  if (by == By::user && locked_) return;
  drop_partial(fifos);
  const NodeNumber to = translated(destination, header, by);
  if (to == kit::nowhere || !push(fifos)) return;
  fifos.partial = {.to = to,
                   .tag = static_cast<std::uint8_t>(header.tag),
                   .length = static_cast<std::uint8_t>(header.length)};
  fifos.pushed_by = by;
  fifos.is_pushing = true;
  end_if_whole(fifos);
}

void NetworkInterface::send_first(Side side, const Header& header, Word destination, Word first, By by) {
  send_first(side, header, destination, by);
  send_data(side, first, by);
}

void NetworkInterface::send_data(Side side, Word word, By by) {
  Fifos& fifos = at(side);
  if (!fifos.is_pushing || fifos.pushed_by != by) return;
  if (!push(fifos)) return drop_partial(fifos);
  fifos.partial.words[fifos.pushed++] = word;
  end_if_whole(fifos);
}

/// Where a user may not send: nowhere.
NodeNumber NetworkInterface::translated(Word destination, const Header& header, By by) const {
  if (by == By::kernel) return destination;
  if ((reserved_ >> header.tag & 1) != 0 || destination >= map_.size()) return kit::nowhere;
  return map_[destination];
}

bool NetworkInterface::push(Fifos& fifos) {
  if (fifos.output_used == output_words) return false;
  ++fifos.output_used;
  return true;
}

void NetworkInterface::end_if_whole(Fifos& fifos) {
  if (fifos.pushed < fifos.partial.length) return;
  fifos.output.push(fifos.partial);
  fifos.send_ok[static_cast<std::size_t>(fifos.pushed_by)] = true;
  fifos.is_pushing = false;
  fifos.pushed = 0;
}

void NetworkInterface::drop_partial(Fifos& fifos) {
  if (!std::exchange(fifos.is_pushing, false)) return;
  fifos.output_used -= 1 + std::exchange(fifos.pushed, 0);
}

/// Of what is flushed, send_ok has been cleared by its send-first.
void NetworkInterface::send_lock(bool on) {
  locked_ = on;
  if (!on) return;
  for (Fifos& fifos : fifos_) drop_partial(fifos);
}

// -- receiving

Status NetworkInterface::status(Side side, By by) const {
  const Fifos& fifos = at(side);
  Status status{.send_ok = fifos.send_ok[static_cast<std::size_t>(by)],
                .send_space = output_words - fifos.output_used,
                .receive_ok = !fifos.input.empty()};
  if (!status.receive_ok) return status;
  status.receive_tag = fifos.input.front().tag;
  status.receive_length = fifos.input.front().length - fifos.read;
  return status;
}

/// A message without words is gone when its first word would be read: a load takes it, and gives nothing of worth.
Word NetworkInterface::receive(Side side) {
  Fifos& fifos = at(side);
  if (fifos.input.empty())
    throw std::logic_error("cm5: node " + std::to_string(node_) + " reads an input FIFO that is empty");
  const Message& first = fifos.input.front();
  const Word word = first.words[fifos.read % most_words];
  if (++fifos.read < first.length) return word;
  fifos.input_used -= words_of(first);
  fifos.input.pop();
  fifos.read = 0;
  return word;
}

Message NetworkInterface::take(Side side) {
  Fifos& fifos = at(side);
  fifos.input_used -= words_of(fifos.input.front());
  return fifos.input.pop();
}

bool NetworkInterface::interrupts(Side side) const {
  const Fifos& fifos = at(side);
  return !fifos.input.empty() && ((reserved_ | interrupting_) >> fifos.input.front().tag & 1) != 0;
}

// -- a switch of contexts

NetworkInterface::Context NetworkInterface::save() { return std::exchange(fifos_, {}); }

/// Links along which a message might come have had space set aside, which may be taken now.
void NetworkInterface::restore(const Context& context) {
  for (const Side side : sides) {
    for (unsigned link = 0; link < Tree::links; ++link) {
      Network& network = (*networks_)[side];
      network.refuse(network.into(node_, link));
    }
    awaits(side) = 0;
  }
  fifos_ = context;
}

// -- the network

void NetworkInterface::step() {
  for (const Side side : sides) {
    launch(side);
    accept(side);
  }
}

/// Of the output FIFO, the first message.
bool NetworkInterface::loops_back(Side side) const {
  const Fifos& fifos = at(side);
  return !fifos.output.empty() && fifos.output.front().to == node_;
}

/// In the input FIFO, beside what is set aside for links.
bool NetworkInterface::has_space(Side side, unsigned words) const {
  const auto links = static_cast<unsigned>(std::popcount(awaits_[static_cast<std::size_t>(side)]));
  return at(side).input_used + links * message_words + words <= input_words;
}

/// A message to the own node, and links, have the space of the input FIFO in turns.
void NetworkInterface::launch(Side side) {
  Fifos& fifos = at(side);
  if (fifos.output.empty()) return;
  const Message& first = fifos.output.front();
  if (loops_back(side)) {
    const bool links_want_none = awaits(side) == (1u << Tree::links) - 1;
    if (!has_space(side, words_of(first)) || !(own_first(side) || links_want_none)) return;
    put(fifos, first);
    own_first(side) = false;
  } else {
    if (!(*networks_)[side].has_idle_link(node_)) return;
    (*networks_)[side].launch(node_, first);
    ++launched_;
  }
  fifos.output_used -= words_of(first);
  fifos.output.pop();
}

/// A link may bring a message when there is space for the longest one.
void NetworkInterface::accept(Side side) {
  Network& network = (*networks_)[side];
  unsigned& links = awaits(side);
  for (unsigned link = 0; link < Tree::links; ++link) {
    const kit::WireNumber wire = network.into(node_, link);
    if (network.front(wire) != nullptr) {
      put(at(side), network.take_at(node_, wire));
      links &= ~(1u << link);
      ++taken_;
    }
    const bool is_own_turn = own_first(side) && loops_back(side);
    if ((links >> link & 1) != 0 || is_own_turn || !has_space(side, message_words)) continue;
    links |= 1u << link;
    own_first(side) = true;
    network.accept(wire);
  }
}

void NetworkInterface::put(Fifos& fifos, const Message& message) {
  fifos.input.push(message);
  fifos.input_used += words_of(message);
}

void NetworkInterface::add_waits(kit::Waits& waits) const {
  const std::string place = "node " + std::to_string(node_);
  for (const Side side : sides) {
    const Fifos& fifos = at(side);
    if (fifos.output.empty()) continue;
    const NodeNumber to = fifos.output.front().to;
    std::vector<std::string> behind;
    for (unsigned link = 0; link < Tree::links && to != node_; ++link) {
      const Network& network = (*networks_)[side];
      behind.push_back(network.place_at(network.out_of(node_, link)));
    }
    if (to == node_) behind.push_back(place);
    waits.add(place, place + ": a message to node " + std::to_string(to) + " has not been launched", behind);
  }
}

}  // namespace am::cm5
