#include "emulated_hw/cm5/network_interface.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace am::cm5 {

// -- sending

/// What is refused here has no partial message, so its data go nowhere, and send_ok stays cleared.
void NetworkInterface::send_first(Side side, const Header& header, Word destination, By by) {
  if (header.length > most_words || header.tag >= tags)
    throw std::invalid_argument("cm5: node " + std::to_string(node_) + " sends " +
                                std::to_string(header.length) + " words, tag " + std::to_string(header.tag) +
                                ": at most 5, and 15");
  Fifos& fifos = fifos_[side];
  if (by == By::kernel && !locked_)
    throw std::logic_error("cm5: the kernel of node " + std::to_string(node_) + " sends without send-lock");
  fifos.send_ok[static_cast<std::size_t>(by)] = false;
  if (by == By::user && locked_) return;
  fifos.drop_partial();
  const NodeNumber to = translated(destination, header, by);
  if (to == kit::nowhere || !fifos.push()) return;
  fifos.partial = {.to = to,
                   .tag = static_cast<std::uint8_t>(header.tag),
                   .length = static_cast<std::uint8_t>(header.length)};
  fifos.pushed_by = by;
  fifos.is_pushing = true;
  fifos.end_if_whole();
}

void NetworkInterface::send_data(Side side, Word word, By by) {
  Fifos& fifos = fifos_[side];
  if (!fifos.is_pushing || fifos.pushed_by != by) return;
  if (!fifos.push()) return fifos.drop_partial();
  fifos.partial.words[fifos.pushed++] = word;
  fifos.end_if_whole();
}

/// Where a user may not send: nowhere.
NodeNumber NetworkInterface::translated(Word destination, const Header& header, By by) const {
  if (by == By::kernel) return destination;
  if ((reserved_ >> header.tag & 1) != 0 || destination >= map_.size()) return kit::nowhere;
  return map_[destination];
}

// -- receiving

Status NetworkInterface::status(Side side, By by) const {
  const Fifos& fifos = fifos_[side];
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
  Fifos& fifos = fifos_[side];
  if (fifos.input.empty())
    throw std::logic_error("cm5: node " + std::to_string(node_) + " reads an input FIFO that is empty");
  const Message& first = fifos.input.front();
  const Word word = first.words[fifos.read % most_words];
  if (++fifos.read < first.length) return word;
  fifos.read = 0;
  static_cast<void>(take(side));
  return word;
}

// -- a switch of contexts

/// Links along which a message might come have had space set aside, which may be taken now.
void NetworkInterface::restore(const Context& context) {
  for (const Side side : sides) {
    for (unsigned link = 0; link < Tree::links; ++link) {
      Network& network = (*networks_)[side];
      network.refuse(network.into(node_, link));
    }
    awaits_[side] = 0;
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

/// A message to the own node, and links, have the space of the input FIFO in turns.
void NetworkInterface::launch(Side side) {
  Fifos& fifos = fifos_[side];
  if (fifos.output.empty()) return;
  const Message& first = fifos.output.front();
  if (loops_back(side)) {
    const bool links_want_none = awaits_[side] == (1u << Tree::links) - 1;
    if (!has_space(side, words_of(first)) || !(own_first_[side] || links_want_none)) return;
    fifos.put(first);
    own_first_[side] = false;
  } else {
    if (!(*networks_)[side].launch(node_, first)) return;
    ++launched_;
  }
  fifos.output_used -= words_of(first);
  fifos.output.pop();
}

/// A link may bring a message when there is space for the longest one.
void NetworkInterface::accept(Side side) {
  Network& network = (*networks_)[side];
  unsigned& links = awaits_[side];
  for (unsigned link = 0; link < Tree::links; ++link) {
    const kit::WireNumber wire = network.into(node_, link);
    if (network.front(wire) != nullptr) {
      fifos_[side].put(network.take_at(node_, wire));
      links &= ~(1u << link);
      ++taken_;
    }
    const bool is_own_turn = own_first_[side] && loops_back(side);
    if ((links >> link & 1) != 0 || is_own_turn || !has_space(side, message_words)) continue;
    links |= 1u << link;
    own_first_[side] = true;
    network.accept(wire);
  }
}

void NetworkInterface::add_waits(kit::Waits& waits) const {
  const std::string place = "node " + std::to_string(node_);
  for (const Side side : sides) {
    const Fifos& fifos = fifos_[side];
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
