#include "core/together/by_network.hpp"

#include <algorithm>
#include <am/collectives.hpp>
#include <array>
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
    auto& by_messages = engine_.collectives().by_messages;
    if (!by_messages.empty() && by_messages.back().first == number_) by_messages.pop_back();
    network_.take_part(number_, what_, part);
    operation_.poll();  // whoever waits or not: all of them make progress
  }

  [[nodiscard]] Synchronizer::Result wait() {
    std::optional<Synchronizer::Result> result;
    bool has_slept = false;  // in vain: somebody may stand still
    operation_.wait([&](bool sleeps_next) {
      result = network_.result(number_, sleeps_next && has_slept);
      if (!result && engine_.membership().any_gone()) result = last_result();
      if (!result && sleeps_next) {
        has_slept = true;
        look_for_messages();
        look_for_mismatch_in_network(operation_);
      }
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

using Known = impl::KnownOperation;
/// What they are called elsewhere.
constexpr std::array<impl::WordOperation, 8> by_combiner{{{Known::sum},
                                                          {Known::maximum, true},
                                                          {Known::minimum, true},
                                                          {Known::maximum, false},
                                                          {Known::minimum, false},
                                                          {Known::bit_and},
                                                          {Known::bit_or},
                                                          {Known::bit_xor}}};
static_assert(static_cast<std::size_t>(Combiner::bit_xor) + 1 == by_combiner.size());

std::optional<Combiner> combiner_of(const impl::WordOperation& its) noexcept {
  const auto* const found = std::ranges::find(by_combiner, its);
  if (found == by_combiner.end()) return std::nullopt;
  return static_cast<Combiner>(found - by_combiner.begin());
}

Round round_of(const Synchronizer::Operation& what) {
  Round round{.kind = Round::Kind::barrier, .root = what.root, .bytes = what.bytes};
  if (what.kind == Kind::broadcast) round.kind = Round::Kind::broadcast;
  if (what.kind == Kind::scan) round.kind = Round::Kind::scan;
  if (what.kind == Kind::reduction)
    round.kind = what.root == Synchronizer::everybody ? Round::Kind::all_reduce : Round::Kind::reduce;
  if (what.kind == Kind::scan || what.kind == Kind::reduction)
    round.op = by_combiner[static_cast<std::size_t>(what.combiner) % by_combiner.size()];
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

void look_for_mismatch_in_network(Operation& operation) {
  Engine& engine = operation.engine();
  Synchronizer* const network = engine.network().synchronizer();
  if (network == nullptr) return;
  const CollectiveState& state = engine.collectives();
  for (const auto& [number, round] : state.by_messages) {
    for (NodeId node = 0; node < engine.job().size; ++node) {
      if (const auto other = network->part_of(node, number))
        operation.fail(mismatch_error(operation, round, node, round_of(*other), number != state.operations));
    }
  }
}

}  // namespace am::core
