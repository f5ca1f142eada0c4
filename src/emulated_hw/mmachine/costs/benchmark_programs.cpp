#include "emulated_hw/mmachine/costs/benchmark_programs.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "emulated_hw/mmachine/costs/ends.hpp"

namespace am::mmachine::costs {

namespace {

/// Stores what it is given, from an address on.
class Storing {
 public:
  Storing(Cluster& cluster, Register address) noexcept : cluster_(cluster), address_(address) {}

  void operator()(Register word) noexcept {
    if (written_ > 0) address_ = cluster_.lea(address_);
    ++written_;
    last_ = cluster_.store(address_, word);
  }
  /// When it is in memory.
  [[nodiscard]] Register last() const noexcept { return last_; }

 private:
  Cluster& cluster_;
  Register address_;
  Register last_{};
  unsigned written_ = 0;
};

Letter letter_of(unsigned words, Source source) {
  return {.destination = {}, .words = std::vector<Source>(words, source)};
}

/// The handler of a remote procedure call: a free thread's context gets all words, then the thread starts. When it issues its first.
Cycle start_thread(Receiver& receiver, const Arrival& call) {
  Cycle started = 0;
  receiver.handle(call, [&](Extraction& message) {
    Storing context(receiver.cluster, receiver.cluster.load());
    message.take_words(receiver.cluster, [&](Register word) { context(word); });
    receiver.cluster.end_instruction();
    started = receiver.cluster.issue({.unit = Unit::ialu, .latency = jump_cycles}).ready;
  });
  return started;
}

/// The second and later ones: as the first, with what differs.
Letter next_call() {
  Letter call = letter_of(rpc_words, Source::kept);
  std::fill_n(call.words.end() - dist_seeds, dist_seeds, Source::regenerated);
  return call;
}

}  // namespace

Measured ping(const InterfaceModel& model, unsigned missed_entries) {
  Cluster cluster;
  Sender asking(model, missed_entries);
  Sender answering(model, missed_entries);
  Receiver asked(model);
  Receiver answered(model);

  Arrival pong;
  asked.handle(asking.send(cluster, letter_of(1, Source::computed)), [&](Extraction& message) {
    Letter reply;
    message.take_words(asked.cluster, [&](Register from) { reply.destination = from; });
    pong = answering.send(asked.cluster, reply);
  });
  Cycle written = 0;
  answered.handle(pong, [&](Extraction&) { written = answered.cluster.store({}, {}).ready; });
  return {.latency = written,
          .occupancy = cluster.slots() + asked.cluster.slots() + answered.cluster.slots()};
}

Measured rpc(const InterfaceModel& model, unsigned missed_entries) {
  Cluster cluster;
  Sender caller(model, missed_entries);
  Receiver called(model);
  const Cycle started = start_thread(called, caller.send(cluster, letter_of(rpc_words, Source::computed)));
  return {.latency = started, .occupancy = cluster.slots() + called.cluster.slots()};
}

Measured dist(const InterfaceModel& model, unsigned missed_entries) {
  Cluster cluster;
  Sender caller(model, missed_entries);
  Measured all;
  Letter call = letter_of(rpc_words, Source::computed);
  for (unsigned i = 0; i < dist_messages; ++i) {
    Receiver called(model);
    all.latency = std::max(all.latency, start_thread(called, caller.send(cluster, call)));
    all.occupancy += called.cluster.slots();
    call = next_call();
    call.destination = cluster.lea();
  }
  all.occupancy += cluster.slots();
  return all;
}

Measured blkw(const InterfaceModel& model, unsigned missed_entries) {
  Cluster cluster;
  Sender source(model, missed_entries);
  Receiver sink(model);
  Cycle written = 0;
  for (unsigned sent = 0; sent < block_words; sent += words_per_packet) {
    Letter packet = letter_of(1 + std::min(words_per_packet, block_words - sent), Source::loaded);
    packet.words.front() = Source::computed;  // where they are for
    sink.handle(source.send(cluster, packet), [&](Extraction& message) {
      std::optional<Storing> block;
      message.take_words(sink.cluster, [&](Register word) {
        if (block) {
          (*block)(word);
        } else {
          block.emplace(sink.cluster, sink.cluster.move(word));
        }
      });
      written = block->last().ready;
    });
  }
  return {.latency = written, .occupancy = cluster.slots() + sink.cluster.slots()};
}

}  // namespace am::mmachine::costs
