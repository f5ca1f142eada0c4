// Broadcast, reduce, all-reduce, all-gather and scans over messages of the low network; those of a word by the network itself, where it
// can (by_network.hpp).
//
// The tree. Upwards (reduce, gather) a binomial tree with node 0 at the top: node i hears from i+1, i+2, i+4, ... as long
// as these bits are below i's lowest set bit, then sends to i without that bit. What it holds at each step is the result
// of the consecutive nodes [i, i + 2^k), so combining in this order keeps the order of the ids and always groups alike,
// whatever arrives first. A result for another root goes from node 0 to it in one more message. Downwards (broadcast) the
// same tree, with ids counted from the root.
//
// All-reduce, among 2^k nodes: everybody exchanges with the node whose id differs in bit 0, then 1, 2, ... and combines what
// both have: the same groups in the same order, in half the steps. Of many bytes only that half which the node goes on with
// is exchanged, and the results are gathered in the opposite order: each byte goes out twice, whatever the number of nodes
// (Rabenseifner's algorithm). Of very many bytes a block at a time, each in a round of its own.
//
// Bounded memory. Only broadcast and reduce let a node run ahead of others, whose mailboxes then fill. After
// most_unanswered of these in a row a barrier comes first, on all nodes alike, for all count alike.
#include "core/together/collectives.hpp"

#include <algorithm>
#include <am/collectives.hpp>
#include <am/error.hpp>
#include <am/settle.hpp>
#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/membership/peers_gone.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"
#include "core/together/by_network.hpp"
#include "core/together/mismatch.hpp"
#include "core/together/operation.hpp"
#include "host/counted.hpp"

namespace am {

namespace core {

// -- mailbox ------------------------------------------------------------------------------------------------------------

void Destination::take(Payload theirs) const {
  if (theirs.empty()) return;
  if (combine == nullptr) {
    std::memcpy(into.data(), theirs.data(), theirs.size());
  } else if (theirs_come_first) {
    (*combine)(into.data(), theirs.data(), into.data(), theirs.size());
  } else {
    (*combine)(into.data(), into.data(), theirs.data(), theirs.size());
  }
}

void Mailbox::match(const Round& round, Payload data) {
  expected_ = false;
  if (round == round_ && data.size() == where_.into.size()) {
    answer_ = Answer::filled;  // before an op that throws, though it must not: nobody shall wait for ever
    where_.take(data);
    return;
  }
  other_round_ = round;
  answer_ = Answer::mismatch;
}

void Mailbox::arrived(const Round& round, NodeId from, Payload data) {
  if (expected_ && from == from_ && round.sequence == round_.sequence) return match(round, data);
  if (round.sequence < round_.sequence) return;
  const auto bytes = data.bytes();
  kept_.insert_or_assign({round.sequence, from},
                         Kept{round, {bytes.begin(), bytes.end(), kept_.get_allocator().resource()}});
}

void Mailbox::expect(const Round& round, NodeId from, const Destination& where) {
  kept_.erase(kept_.begin(), kept_.lower_bound({round.sequence, 0}));  // of rounds that ended with an error
  round_ = round;
  from_ = from;
  where_ = where;
  answer_ = Answer::nothing_yet;
  expected_ = true;
  const auto early = kept_.find({round.sequence, from});
  if (early == kept_.end()) return;
  match(early->second.round, Payload(early->second.data));
  kept_.erase(early);
}

std::optional<std::pair<NodeId, Round>> Mailbox::kept_of(std::uint64_t sequence) const {
  const auto first = kept_.lower_bound({sequence, 0});
  if (first == kept_.end() || first->first.first != sequence) return std::nullopt;
  return std::pair(first->first.second, first->second.round);
}

namespace {

constexpr std::uint32_t most_unanswered = 16;

void collective_arrived(Request& request, Round round, Payload data) {
  request.node().engine().collectives().mailbox.arrived(round, request.from(), data);
}

const impl::InternalHandlers<collective_arrived> internal_handlers;

/// A round of messages among all nodes, as a part of an operation that is under way on this node.
class Collective {
 public:
  Collective(Operation& operation, Round::Kind kind, NodeId root, std::size_t bytes,
             impl::WordOperation op = {})
      : operation_(operation),
        node_(operation.node()),
        engine_(operation.engine()),
        mailbox_(engine_.collectives().mailbox) {
    if (root >= node_.size()) throw unknown_node(operation_.what(), root, node_.size(), "check the root");
    CollectiveState& state = engine_.collectives();
    if (state.rounds_unanswered == 0)
      state.by_messages.clear();  // the last round is over, so all had begun it
    const bool everybody_hears = kind != Round::Kind::broadcast && kind != Round::Kind::reduce;
    if (everybody_hears) {
      state.rounds_unanswered = 0;
    } else if (++state.rounds_unanswered > most_unanswered) {
      pass_barrier(operation_);
      state.rounds_unanswered = 1;
    }
    round_ = {state.sequence += 2, kind, op, root, bytes};
    state.by_messages.emplace_back(++state.operations, round_);  // unless the network does it by itself
  }

  [[nodiscard]] const Round& round() const noexcept { return round_; }
  /// In which it hears once more from nodes that it has heard from.
  void begin_second_phase() noexcept { ++round_.sequence; }

  /// Twice, where a long message was under way already when a handler threw out of the send: the mailbox takes one.
  void send(NodeId to, std::span<const std::byte> data) {
    const Engine::OwnSend own(engine_);
    const Status status =
        operation_.insist([&] { return node_.request<collective_arrived>(to, round_, Payload(data)); });
    if (status != Status::ok) operation_.fail(peer_gone_error(engine_, operation_.what(), to));
  }

  void receive(NodeId from, const Destination& where) {
    mailbox_.expect(round_, from, at_arrival(where));
    const Forgets at_end{mailbox_};
    wait_for(from);
    after_arrival(where);
  }

  /// Both ways: what comes meanwhile finds its place, which is not in `data`, but may be all of it where it is combined.
  void exchange(NodeId with, std::span<const std::byte> data, const Destination& where) {
    const bool on_its_way = where.into.data() == data.data();
    mailbox_.expect(round_, with, at_arrival(where, on_its_way));
    const Forgets at_end{mailbox_};
    send(with, data);
    wait_for(with);
    after_arrival(where, on_its_way);
  }

  /// Where the values of another node are combined with those in `into`, in the order of the ids.
  [[nodiscard]] Destination combined(std::span<std::byte> into, NodeId other,
                                     const impl::Combine& combine) const {
    return {into, combine, other < node_.id()};
  }

  /// What is expected comes, or never will.
  void wait_for(NodeId from) {
    LastMessages last_messages(engine_);
    const auto missing = [&]() -> std::optional<NodeId> {
      return engine_.membership().is_gone(from) ? from : any_dead(engine_);
    };
    operation_.wait([&](bool sleeps_next) {
      if (mailbox_.answer() != Mailbox::Answer::nothing_yet) return true;
      if (sleeps_next) look_for_mismatch_in_network(operation_);
      return last_messages.are_in(missing);
    });
    if (mailbox_.answer() == Mailbox::Answer::mismatch)
      operation_.fail(mismatch_error(operation_, round_, from, mailbox_.other_round()));
    if (mailbox_.answer() == Mailbox::Answer::nothing_yet)
      operation_.fail(peer_gone_error(engine_, operation_.what(), last_messages.missing()));
  }

  /// Calls from_child(child, mask) for each child in ascending order; then the parent, to which this node's part goes,
  /// if it has one. The child's part are the nodes [child, child + mask) that exist.
  template <class F>
  std::optional<NodeId> climb(F from_child) {
    const NodeId id = node_.id();
    for (NodeId mask = 1; mask < node_.size(); mask <<= 1) {
      if ((id & mask) != 0) return id - mask;
      if (node_.size() - id > mask) from_child(id + mask, mask);
    }
    return {};
  }

  void combine_upwards(std::span<std::byte> values, const impl::Combine& combine) {
    const auto parent =
        climb([&](NodeId child, NodeId) { receive(child, combined(values, child, combine)); });
    if (parent) send(*parent, values);
  }

  /// This node's own lie in their place.
  void gather(std::span<std::byte> all, std::size_t own_bytes) {
    std::size_t held = 1;  // nodes whose values lie here, from this one on
    const auto parent = climb([&](NodeId child, NodeId mask) {
      const std::size_t theirs = std::min<std::size_t>(mask, node_.size() - child);
      receive(child, all.subspan(child * own_bytes, theirs * own_bytes));
      held += theirs;
    });
    if (parent) send(*parent, all.subspan(node_.id() * own_bytes, held * own_bytes));
    spread(all, 0);
  }

  void spread(std::span<std::byte> values, NodeId root) {
    const NodeId size = node_.size();
    const NodeId place = (node_.id() + size - root) % size;  // the root has place 0
    const auto node_at = [&](NodeId other) { return (other + root) % size; };
    NodeId mask = 1;
    while (mask < size && (place & mask) == 0) mask <<= 1;
    if (place != 0) receive(node_at(place - mask), values);
    for (mask >>= 1; mask != 0; mask >>= 1) {
      if (size - place > mask) send(node_at(place + mask), values);
    }
  }

 private:
  struct Forgets {
    Mailbox& mailbox;
    ~Forgets() { mailbox.forget(); }
  };

  /// Where events run on another thread, or in a signal handler, the program's op waits until the computation has the message;
  /// and where the values that it changes are on their way, until they have gone.
  [[nodiscard]] bool combines_later(const Destination& where, bool on_its_way) const noexcept {
    return where.combine != nullptr && (on_its_way || node_.dispatch() != Dispatch::poll);
  }
  [[nodiscard]] Destination at_arrival(const Destination& where, bool on_its_way = false) {
    if (!combines_later(where, on_its_way)) return where;
    theirs_.resize(where.into.size());
    return std::span(theirs_);
  }
  void after_arrival(const Destination& where, bool on_its_way = false) const {
    if (combines_later(where, on_its_way)) where.take(Payload(theirs_));
  }

  Operation& operation_;
  Node& node_;
  Engine& engine_;
  Mailbox& mailbox_;
  Round round_;
  std::vector<std::byte> theirs_;  // that are combined later
};

/// From so many bytes on it is worth another message to send each byte less often.
constexpr std::size_t many_bytes = std::size_t{16} << 10;

void reduce_in_place(Collective& collective, const Node& node, std::span<std::byte> values,
                     const impl::Combine& combine) {
  for (NodeId bit = 1; bit < node.size(); bit <<= 1) {
    const NodeId with = node.id() ^ bit;
    collective.exchange(with, values, collective.combined(values, with, combine));
  }
}

void reduce_and_gather(Collective& collective, const Node& node, std::span<std::byte> values,
                       const impl::Combine& combine) {
  const std::size_t each = combine.value_bytes();
  std::vector<std::span<std::byte>> halves{values};  // ever smaller: what this node goes on with
  std::vector<std::span<std::byte>> others;          // and what the other one does
  for (NodeId bit = 1; bit < node.size(); bit <<= 1) {
    const std::span<std::byte> all = halves.back();
    const std::size_t middle = all.size() / each / 2 * each;
    const bool upper = (node.id() & bit) != 0;
    halves.push_back(upper ? all.subspan(middle) : all.first(middle));
    others.push_back(upper ? all.first(middle) : all.subspan(middle));
    const NodeId with = node.id() ^ bit;
    collective.exchange(with, others.back(), collective.combined(halves.back(), with, combine));
  }
  collective.begin_second_phase();
  for (NodeId bit = node.size() / 2; bit != 0; bit >>= 1) {
    collective.exchange(node.id() ^ bit, halves.back(), others.back());
    halves.pop_back();
    others.pop_back();
  }
}

void reduce_block(Collective& collective, const Node& node, std::span<std::byte> values,
                  const impl::Combine& combine) {
  if (node.size() == 1) return;
  if (!std::has_single_bit(node.size())) {
    collective.combine_upwards(values, combine);
    collective.spread(values, 0);
  } else if (values.size() < many_bytes || values.size() / combine.value_bytes() < node.size()) {
    reduce_in_place(collective, node, values, combine);
  } else {
    reduce_and_gather(collective, node, values, combine);
  }
}

/// Each node has what all gave, and says what lies before it.
bool scan_gathered(Collective& collective, const Node& node, std::span<std::byte> value,
                   const impl::Combine& combine, const impl::ScanPart& part) {
  const std::size_t each = value.size() + 1;
  constexpr std::byte before{1}, behind{2};
  std::vector<std::byte> all(each * node.size());
  std::byte* const own = all.data() + each * node.id();
  std::ranges::copy(value, own);
  own[value.size()] = (part.cut_before ? before : std::byte{0}) | (part.cut_behind ? behind : std::byte{0});
  collective.gather(all, each);
  bool any = false;
  const NodeId last = node.size() - 1;
  for (NodeId place = 0;; ++place) {
    const NodeId from = part.descends ? last - place : place;
    if (from == node.id()) return any;
    const std::byte* const theirs = all.data() + each * from;
    const std::byte cuts = theirs[value.size()];
    if (any && (cuts & before) == std::byte{0}) {
      combine(value.data(), value.data(), theirs, value.size());
    } else {
      std::copy_n(theirs, value.size(), value.data());
    }
    any = (cuts & behind) == std::byte{0};
  }
}

/// As many of the values as stay in a processor's own cache from one step to the next, if that is enough to share among all.
std::size_t block_bytes(const Node& node, std::size_t bytes, const impl::Combine& combine) noexcept {
  constexpr std::size_t cached = std::size_t{256} << 10;
  const std::size_t count = cached / combine.value_bytes();
  return count < node.size() ? bytes : std::min(bytes, count * combine.value_bytes());
}

}  // namespace

void all_reduce_bytes(Operation& operation, std::span<std::byte> values, const impl::Combine& combine) {
  const Node& node = operation.node();
  const std::size_t bytes = values.size();
  const std::size_t block = block_bytes(node, bytes, combine);
  do {
    const auto now = values.first(std::min(block, values.size()));
    values = values.subspan(now.size());
    Collective collective(operation, Round::Kind::all_reduce, 0, bytes, combine.on_words());
    const bool is_all = now.size() == bytes;
    if (!is_all || !reduce_by_network(operation, collective.round(), now, combine))
      reduce_block(collective, node, now, combine);
  } while (!values.empty());
}

}  // namespace core

// -- what am/collectives.hpp calls --------------------------------------------------------------------------------------

namespace impl {

using core::Collective;
using core::Operation;
using core::Round;

void broadcast_bytes(Node& node, std::span<std::byte> values, NodeId root) {
  Operation operation(node, core::name_of(Round::Kind::broadcast));
  Collective collective(operation, Round::Kind::broadcast, root, values.size());
  if (!core::broadcast_by_network(operation, collective.round(), values)) collective.spread(values, root);
  operation.complete();
}

void reduce_bytes(Node& node, std::span<std::byte> values, const Combine& combine, NodeId root) {
  Operation operation(node, core::name_of(Round::Kind::reduce));
  Collective collective(operation, Round::Kind::reduce, root, values.size(), combine.on_words());
  if (!core::reduce_by_network(operation, collective.round(), values, combine)) {
    collective.combine_upwards(values, combine);
    if (root != 0) {
      if (node.id() == 0) collective.send(root, values);
      if (node.id() == root) collective.receive(0, values);
    }
  }
  operation.complete();
}

void all_reduce_bytes(Node& node, std::span<std::byte> values, const Combine& combine) {
  Operation operation(node, core::name_of(Round::Kind::all_reduce));
  core::all_reduce_bytes(operation, values, combine);
  operation.complete();
}

void all_gather_bytes(Node& node, std::span<std::byte> all, std::size_t own_bytes) {
  Operation operation(node, core::name_of(Round::Kind::all_gather));
  Collective(operation, Round::Kind::all_gather, 0, own_bytes).gather(all, own_bytes);
  operation.complete();
}

bool scan_bytes(Node& node, std::span<std::byte> value, const Combine& combine, const ScanPart& part) {
  Operation operation(node, core::name_of(Round::Kind::scan));
  Collective collective(operation, Round::Kind::scan, 0, value.size(), combine.on_words());
  const auto done = core::scan_by_network(operation, collective.round(), value, combine, part);
  const bool any = done ? *done : core::scan_gathered(collective, node, value, combine, part);
  operation.complete();
  return any;
}

}  // namespace impl

// -- what am/settle.hpp declares ------------------------------------------------------------------------------------------

/// The sums tell this node how much it waits for; the barrier, that the others have theirs.
void settle(Node& node, std::span<std::uint64_t> sent, const std::function<bool(std::uint64_t)>& come) {
  core::Operation operation(node, "settle");
  if (sent.size() != node.size())
    throw Error("settle", "node " + std::to_string(node.id()),
                host::counted(sent.size(), "number") + " for " + host::counted(node.size(), "node"),
                "say for each node how much was sent to it");
  std::plus<> plus;
  core::all_reduce_bytes(operation, std::as_writable_bytes(sent),
                         impl::CombineValues<std::uint64_t, std::plus<>>(plus));
  if (std::ranges::any_of(sent, [](std::uint64_t much) { return much != 0; })) {
    core::Engine& engine = operation.engine();
    core::LastMessages last_messages(engine);
    const auto has_come = [&] { return come(sent[node.id()]); };
    operation.wait([&](bool /*sleeps_next*/) {
      return has_come() || last_messages.are_in([&] { return core::any_dead(engine); });
    });
    if (!has_come()) operation.fail(core::peer_gone_error(engine, operation.what(), last_messages.missing()));
    core::pass_barrier(operation);
  }
  operation.complete();
}

}  // namespace am
