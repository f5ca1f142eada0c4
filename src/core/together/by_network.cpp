#include "core/together/by_network.hpp"

#include <am/collectives.hpp>
#include <cstring>

#include "core/membership/peers_gone.hpp"
#include "core/together/mismatch.hpp"
#include "transports/synchronizer.hpp"

namespace am::core {

namespace {

using Kind = Synchronizer::Kind;
using Combiner = Synchronizer::Combiner;

/// One of these, as this node goes through it.
class ByNetwork {
 public:
  ByNetwork(Operation& operation, Synchronizer& network, const Round& round,
            const Synchronizer::Operation& what)
      : operation_(operation),
        engine_(operation.engine()),
        network_(network),
        round_(round),
        what_(what),
        number_(engine_.collectives().operations) {}

  /// And goes on.
  void take_part(const Synchronizer::Part& part) {
    engine_.look_after_peers(false);
    if (const auto missing = gone_before())
      operation_.fail(peer_gone_error(engine_, operation_.what(), *missing));
    network_.take_part(number_, what_, part);
    operation_.poll();  // whoever waits or not: all of them make progress
  }

  [[nodiscard]] Synchronizer::Result wait() {
    std::optional<Synchronizer::Result> result;
    operation_.wait([&](bool sleeps_next) {
      result = network_.result(number_, sleeps_next);
      if (!result && engine_.membership().any_gone()) result = last_result();
      if (!result && sleeps_next) look_for_messages();
      return result.has_value();
    });
    if (!result->agreed) fail_by_mismatch();
    return *result;
  }

 private:
  [[nodiscard]] std::optional<NodeId> gone_before() const {
    if (what_.kind == Kind::barrier) return any_gone(engine_);
    if (const auto dead = any_dead(engine_)) return dead;
    const bool has_root = what_.kind == Kind::broadcast ||
                          (what_.kind == Kind::reduction && what_.root != Synchronizer::everybody);
    if (has_root && engine_.membership().is_gone(what_.root) && !network_.part_of(what_.root, number_))
      return what_.root;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<NodeId> missing() const {
    if (const auto gone = gone_before()) return gone;
    for (NodeId node = 0; node < engine_.job().size; ++node) {
      const bool is_needed = what_.kind != Kind::broadcast || node == what_.root;
      if (is_needed && engine_.membership().is_gone(node) && !network_.part_of(node, number_)) return node;
    }
    return std::nullopt;
  }
  /// Some are gone. What they have done before is there.
  [[nodiscard]] std::optional<Synchronizer::Result> last_result() {
    const auto gone = missing();
    if (!gone) return std::nullopt;
    const auto result = network_.result(number_, true);
    if (!result) operation_.fail(peer_gone_error(engine_, operation_.what(), *gone));
    return result;
  }

  void look_for_messages() {
    if (what_.kind == Kind::barrier) return;
    if (const auto other = engine_.collectives().mailbox.kept_of(round_.sequence))
      operation_.fail(mismatch_error(operation_, round_, other->first, other->second));
  }
  [[noreturn]] void fail_by_mismatch();

  Operation& operation_;
  Engine& engine_;
  Synchronizer& network_;
  const Round round_;
  const Synchronizer::Operation what_;
  const std::uint64_t number_;
};

Round round_of(const Synchronizer::Operation& what) {
  Round round{0, Round::Kind::barrier, what.root, what.bytes};
  if (what.kind == Kind::broadcast) round.kind = Round::Kind::broadcast;
  if (what.kind == Kind::scan) round.kind = Round::Kind::scan;
  if (what.kind == Kind::reduction)
    round.kind = what.root == Synchronizer::everybody ? Round::Kind::all_reduce : Round::Kind::reduce;
  return round;
}

void ByNetwork::fail_by_mismatch() {
  NodeId from = 0;
  std::optional<Synchronizer::Operation> other;
  for (NodeId node = 0; node < engine_.job().size && !other; ++node) {
    other = network_.part_of(node, number_);
    if (other == what_) other.reset();
    from = node;
  }
  operation_.fail(mismatch_error(operation_, round_, from, round_of(other.value_or(what_))));
}

std::optional<Combiner> combiner_of(const impl::WordOperation& its) noexcept {
  switch (its.operation) {
    case impl::KnownOperation::none:
      return std::nullopt;
    case impl::KnownOperation::sum:
      return Combiner::sum;
    case impl::KnownOperation::maximum:
      return its.is_signed ? Combiner::maximum : Combiner::maximum_unsigned;
    case impl::KnownOperation::minimum:
      return its.is_signed ? Combiner::minimum : Combiner::minimum_unsigned;
    case impl::KnownOperation::bit_and:
      return Combiner::bit_and;
    case impl::KnownOperation::bit_or:
      return Combiner::bit_or;
    case impl::KnownOperation::bit_xor:
      return Combiner::bit_xor;
  }
  return std::nullopt;
}

/// A value of 4 or 8 bytes as a word of 64 bits, and back.
std::uint64_t word_of(std::span<const std::byte> value, bool is_signed) noexcept {
  if (value.size() == sizeof(std::uint64_t)) return impl::value_at<std::uint64_t>(value.data());
  if (!is_signed) return impl::value_at<std::uint32_t>(value.data());
  return static_cast<std::uint64_t>(std::int64_t{impl::value_at<std::int32_t>(value.data())});
}
void put(std::uint64_t word, std::span<std::byte> value) noexcept {
  const auto half = static_cast<std::uint32_t>(word);
  if (value.size() == sizeof word) {
    std::memcpy(value.data(), &word, sizeof word);
  } else {
    std::memcpy(value.data(), &half, sizeof half);
  }
}

/// The one value of 4 or 8 bytes, by a combiner that it has.
struct Words {
  Synchronizer* network = nullptr;  ///< none: it is not for the network
  Combiner combiner = Combiner::sum;
  bool is_signed = false;
};
Words words_of(Operation& operation, std::span<const std::byte> value, const impl::Combine& combine) {
  const impl::WordOperation its = combine.on_words();
  const auto combiner = combiner_of(its);
  if (!combiner || value.size() != combine.value_bytes()) return {};
  return {operation.engine().network().synchronizer(), *combiner, its.is_signed};
}

std::uint32_t bytes_of(const Round& round) noexcept { return static_cast<std::uint32_t>(round.bytes); }

}  // namespace

bool pass_barrier_by_network(Operation& operation) {
  Synchronizer* const network = operation.engine().network().synchronizer();
  if (network == nullptr) return false;
  ByNetwork barrier(operation, *network, {.kind = Round::Kind::barrier}, {.kind = Kind::barrier});
  barrier.take_part({});
  static_cast<void>(barrier.wait());
  return true;
}

bool broadcast_by_network(Operation& operation, const Round& round, std::span<std::byte> value) {
  Synchronizer* const network = operation.engine().network().synchronizer();
  std::uint64_t word = 0;
  if (network == nullptr || value.empty() || value.size() > sizeof word) return false;
  ByNetwork broadcast(operation, *network, round,
                      {.kind = Kind::broadcast, .root = round.root, .bytes = bytes_of(round)});
  std::memcpy(&word, value.data(), value.size());
  broadcast.take_part({.value = word});
  if (operation.node().id() == round.root) return true;
  word = broadcast.wait().value;
  std::memcpy(value.data(), &word, value.size());
  return true;
}

bool reduce_by_network(Operation& operation, const Round& round, std::span<std::byte> value,
                       const impl::Combine& combine) {
  const Words words = words_of(operation, value, combine);
  if (words.network == nullptr) return false;
  const NodeId root = round.kind == Round::Kind::reduce ? round.root : Synchronizer::everybody;
  ByNetwork reduction(
      operation, *words.network, round,
      {.kind = Kind::reduction, .combiner = words.combiner, .root = root, .bytes = bytes_of(round)});
  reduction.take_part({.value = word_of(value, words.is_signed)});
  if (root == Synchronizer::everybody || root == operation.node().id()) put(reduction.wait().value, value);
  return true;
}

std::optional<bool> scan_by_network(Operation& operation, const Round& round, std::span<std::byte> value,
                                    const impl::Combine& combine, const impl::ScanPart& part) {
  const Words words = words_of(operation, value, combine);
  if (words.network == nullptr) return std::nullopt;
  ByNetwork scan(
      operation, *words.network, round,
      {.kind = Kind::scan, .combiner = words.combiner, .descends = part.descends, .bytes = bytes_of(round)});
  scan.take_part({.value = word_of(value, words.is_signed),
                  .any = !part.cut_behind,
                  .cut = part.cut_before || part.cut_behind});
  const Synchronizer::Result result = scan.wait();
  if (result.any) put(result.value, value);
  return result.any;
}

void look_for_mismatch_in_network(Operation& operation, const Round& round) {
  Engine& engine = operation.engine();
  Synchronizer* const network = engine.network().synchronizer();
  if (network == nullptr) return;
  for (NodeId node = 0; node < engine.job().size; ++node) {
    if (const auto other = network->part_of(node, engine.collectives().operations))
      operation.fail(mismatch_error(operation, round, node, round_of(*other)));
  }
}

}  // namespace am::core
