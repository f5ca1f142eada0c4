#include "emulated_hw/care/operator.hpp"

#include <algorithm>

namespace am::care {

void Operator::request(const Packet& packet) {
  const auto is_of_first = [&](const Target& target) { return target.site == packet.targets.front().site; };
  const bool one_site = std::ranges::all_of(packet.targets, is_of_first);
  for (const Target& target : packet.targets) {
    requests_.push({.kind = Word::Kind::target,
                    .last = &target == &packet.targets.back(),
                    .one_site = one_site,
                    .packet = packet.number,
                    .value = target.site,
                    .at = target.data_at,
                    .words = packet.words});
  }
  if (options_.fidelity == Fidelity::words) {
    for (const std::uint32_t word : packet.data)
      requests_.push({.kind = Word::Kind::data, .packet = packet.number, .value = word});
  }
  requests_.push(Terminator::end_of_packet);
}

void Operator::step_receive(const Wire& packet_in, Cycle now) {
  if (is_new_) {
    if (now >= served_at_) serve(now);
    return;
  }
  if (packet_in.word || packet_in.terminator != Terminator::none) ++taken_;
  if (packet_in.word) {
    buffer_.push_back(packet_in.word);
    status_ = Status::open;
  }
  switch (packet_in.terminator) {
    case Terminator::none:
      return;
    case Terminator::abort_packet:
      buffer_.clear();
      status_ = Status::free;
      ++counts_.discarded;
      return;
    default:
      is_new_ = true;
      local_only_ = packet_in.terminator == Terminator::local_end_of_packet;
      status_ = Status::wait;
      served_at_ = now + options_.service;
  }
}

/// A packet that is to be sent again waits for room among the requests.
void Operator::serve(Cycle now) {
  const Packet rest = foreign();
  const bool again = !local_only_ && !rest.targets.empty();
  if (again && !has_room()) return;
  for (const Word& word : buffer_) {
    if (word.is_target() && word.value == here_)
      delivered_.push_back({rest.number, {word.value, word.at}, rest.data, rest.words, now});
  }
  if (again) {
    request(rest);
    ++counts_.retransmissions;
  }
  buffer_.clear();
  is_new_ = false;
  status_ = Status::free;
}

Packet Operator::foreign() const {
  Packet rest{.number = buffer_.front().packet, .words = buffer_.front().words};
  for (const Word& word : buffer_) {
    if (word.kind == Word::Kind::data) rest.data.push_back(word.value);
    if (word.is_target() && word.value != here_) rest.targets.push_back({word.value, word.at});
  }
  return rest;
}

}  // namespace am::care
