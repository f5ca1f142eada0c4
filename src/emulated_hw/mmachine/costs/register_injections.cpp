#include "emulated_hw/mmachine/costs/register_injections.hpp"

#include <algorithm>
#include <vector>

#include "emulated_hw/mmachine/costs/composing.hpp"

namespace am::mmachine::costs {

namespace {

Register latest(const std::vector<Register>& registers) noexcept {
  Register last;
  for (const Register& each : registers) last.ready = std::max(last.ready, each.ready);
  return last;
}

Register later(Register a, Register b) noexcept { return {std::max(a.ready, b.ready)}; }

}  // namespace

SendUnit::Sent SendUnit::send(Cluster& cluster, Unit unit, Register ready, std::size_t words) {
  (void)cluster.issue({.unit = unit, .reads = {ready, free_}, .slots = send_cycles});
  const Cycle issued = cluster.last_issue();
  free_ = {issued + send_cycles + words};
  return {.arrival = Arrival::in_one_piece(issued + send_cycles + path_cycles, words), .acknowledged = free_};
}

// All words, and the address or node. A lookup in software runs beside the loads, where there are any, two operations to a word.
Register ProcessorRegisterInjection::compose_in_file(Cluster& cluster, const Letter& letter) const {
  const std::vector<Register> composed = compose(cluster, letter);
  const bool overlaps = letter.has(Source::loaded) && translation().in_software();
  if (!overlaps && !letter.has(Source::loaded)) return later(latest(composed), translate(cluster, letter));
  if (overlaps) translation().miss(cluster);
  Lookup lookup(letter.destination);
  Register last = latest(composed);
  carry_words(
      cluster, letter, composed, [&](Register word, Source) { last = later(last, word); },
      [&] {
        if (overlaps) (void)(lookup.step(cluster) && lookup.step(cluster));
      });
  while (overlaps && lookup.step(cluster)) {
  }
  return later(last, lookup.node());
}

Arrival ProcessorRegisterInjection::send(Cluster& cluster, const Letter& letter) {
  const std::size_t chosen = letter.has(Source::loaded) ? next_ : 0;
  File& file = register_files_[chosen];
  if (file.used) (void)cluster.move(file.acknowledged);
  const Register ready = compose_in_file(cluster, letter);
  const Unit unit = chosen == 0 ? Unit::ialu : Unit::falu;
  auto [arrival, acknowledged] = unit_.send(cluster, unit, ready, letter.words.size());
  file = {.used = true, .acknowledged = acknowledged};
  next_ = (next_ + 1) % files;
  return arrival;
}

Arrival NetworkBufferInjection::send(Cluster& cluster, const Letter& letter) {
  const std::vector<Register> composed = compose(cluster, letter);
  const Register node = translate(cluster, letter);
  Register moved;
  carry_words(
      cluster, letter, composed,
      [&](Register word, Source source) {
        if (source != Source::kept) moved = cluster.move(later(word, buffer_free_));
      },
      [] {});
  auto [arrival, acknowledged] = unit_.send(cluster, Unit::ialu, later(moved, node), letter.words.size());
  buffer_free_ = acknowledged;
  return arrival;
}

// When the word is in the port, behind the one before: a load waits for nothing that takes less long.
Register NetworkStreamInjection::write(Cluster& cluster, const Operation& operation) noexcept {
  Operation into_port = operation;
  into_port.reads.back() = {port_free_.ready - std::min(port_free_.ready, operation.latency)};
  const Register written = cluster.issue(into_port);
  port_free_ = {written.ready + 1};
  return written;
}

Register NetworkStreamInjection::write_word(Cluster& cluster, Source source, Register made) noexcept {
  if (source == Source::loaded) {
    const Register written = write(cluster, {.unit = Unit::memu, .latency = load_cycles});
    (void)cluster.lea();
    return written;
  }
  return write(cluster,
               {.unit = source == Source::computed ? Unit::any_integer : Unit::ialu, .reads = {made}});
}

Arrival NetworkStreamInjection::send(Cluster& cluster, const Letter& letter) {
  std::vector<Source> sources = letter.words;
  std::ranges::replace(sources, Source::computed, Source::kept);
  const std::vector<Register> made = compose(cluster, {.destination = {}, .words = sources});
  sources = letter.words;
  std::ranges::replace(sources, Source::kept, Source::loaded);
  const Register node = translate(cluster, letter);
  (void)write(cluster, {.unit = Unit::ialu, .reads = {node}});  // DestAddr
  const Register opened = write(cluster, {.unit = Unit::ialu, .slots = 1 + header_cycles});
  Arrival arrival{.head = opened.ready + header_cycles + path_cycles};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Register written = write_word(cluster, sources[i], made[i]);
    arrival.append(written.ready + header_cycles + path_cycles);
  }
  port_free_ = {arrival.tail() - path_cycles + 1};  // DestAddr is in the port when the tail has left it
  return arrival;
}

}  // namespace am::mmachine::costs
