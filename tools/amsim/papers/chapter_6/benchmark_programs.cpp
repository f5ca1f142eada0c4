#include "amsim/papers/chapter_6/benchmark_programs.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "amsim/papers/chapter_6/injection.hpp"
#include "amsim/papers/chapter_6/parameters.hpp"
#include "amsim/papers/chapter_6/receiver.hpp"

namespace amsim::chapter_6 {

namespace {

Injection sender(const InterfaceModel& model, unsigned missed_entries = 0) {
  return {model.injection, AddressTranslation(model.translation, missed_entries)};
}

Composition of_words(unsigned count, Source source) {
  return {.destination = {}, .words = std::vector<Source>(count, source)};
}

/// Stores what it is given, from an address on.
class Storing {
 public:
  Storing(InstructionStream& thread, Register address) noexcept : thread_(thread), address_(address) {}

  void operator()(Register word) noexcept {
    if (last_.ready != 0) address_ = thread_.issue(op::lea(address_));
    last_ = thread_.issue(op::store(address_, word));
  }
  /// When it is in memory.
  [[nodiscard]] Cycle last() const noexcept { return last_.ready; }

 private:
  InstructionStream& thread_;
  Register address_;
  Register last_{};
};

/// The handler of PING: answers to the address in the message.
Arrival answer(Receiver& asked, Injection& answering) {
  Composition reply;
  asked.take_words([&](Register from) { reply.destination = from; });
  return answering.send(asked.thread, reply);
}

/// The handler of a remote procedure call: a free thread's context gets all words, then the thread starts. When it issues its first.
Cycle start_thread(Receiver& receiver, const Arrival& call) {
  Cycle started = 0;
  receiver.handle(call, [&] {
    Storing context(receiver.thread, receiver.thread.issue(op::load()));
    receiver.take_words([&](Register word) { context(word); });
    receiver.thread.end_instruction();
    started = receiver.thread.issue({.unit = Unit::ialu, .latency = jump_cycles}).ready;
  });
  return started;
}

/// The handler of a packet of BLKW: the first word says where the others are for. When the last is in memory.
Cycle store_packet(Receiver& sink, const Arrival& packet) {
  Cycle written = 0;
  sink.handle(packet, [&] {
    std::optional<Storing> block;
    sink.take_words([&](Register word) {
      if (block) {
        (*block)(word);
      } else {
        block.emplace(sink.thread, sink.thread.issue(op::move(word)));
      }
    });
    written = block->last();
  });
  return written;
}

/// The second and later ones of DIST: as the first, with what differs.
Composition next_call() {
  Composition call = of_words(rpc_words, Source::kept);
  std::fill_n(call.words.end() - dist_seeds, dist_seeds, Source::regenerated);
  return call;
}

}  // namespace

Measured ping(const InterfaceModel& model, unsigned missed_entries) {
  InstructionStream thread;
  Injection asking = sender(model, missed_entries), answering = sender(model, missed_entries);
  Receiver asked(model), answered(model);
  Arrival pong;
  asked.handle(asking.send(thread, of_words(1, Source::computed)), [&] { pong = answer(asked, answering); });
  Cycle written = 0;
  answered.handle(pong, [&] { written = answered.thread.issue(op::store({}, {})).ready; });
  return {.latency = written, .occupancy = thread.slots() + asked.thread.slots() + answered.thread.slots()};
}

Measured rpc(const InterfaceModel& model, unsigned missed_entries) {
  InstructionStream thread;
  Receiver called(model);
  const Arrival call = sender(model, missed_entries).send(thread, of_words(rpc_words, Source::computed));
  const Cycle started = start_thread(called, call);
  return {.latency = started, .occupancy = thread.slots() + called.thread.slots()};
}

Measured dist(const InterfaceModel& model, unsigned missed_entries) {
  InstructionStream thread;
  Injection caller = sender(model, missed_entries);
  Measured all;
  Composition call = of_words(rpc_words, Source::computed);
  for (unsigned i = 0; i < dist_messages; ++i) {
    Receiver called(model);
    all.latency = std::max(all.latency, start_thread(called, caller.send(thread, call)));
    all.occupancy += called.thread.slots();
    call = next_call();
    call.destination = thread.issue(op::lea());
  }
  all.occupancy += thread.slots();
  return all;
}

Measured blkw(const InterfaceModel& model, unsigned missed_entries) {
  InstructionStream thread;
  Injection source = sender(model, missed_entries);
  Receiver sink(model);
  Cycle written = 0;
  for (unsigned sent = 0; sent < block_words; sent += words_per_packet) {
    Composition packet = of_words(1 + std::min(words_per_packet, block_words - sent), Source::loaded);
    packet.words.front() = Source::computed;  // where they are for
    written = store_packet(sink, source.send(thread, packet));
  }
  return {.latency = written, .occupancy = thread.slots() + sink.thread.slots()};
}

InjectionParts injection_parts(const InterfaceModel& model) {
  InstructionStream thread;
  const Arrival call = sender(model).send(thread, of_words(rpc_words, Source::computed));
  return {.head = call.head, .tail = call.tail(), .started = rpc(model).latency};
}

DispatchParts dispatch_parts(const InterfaceModel& model) {
  InstructionStream thread;
  Receiver asked(model);
  const Cycle arrived = asked.bring_in(sender(model).send(thread, of_words(1, Source::computed)));
  const Cycle brought_in = std::max(arrived, asked.thread.next_issue());
  Cycle answered = 0;
  Injection answering = sender(model);
  asked.run([&] { answered = answer(asked, answering).head - path_cycles; });
  return {.swap = brought_in - arrived, .service = answered - brought_in};
}

}  // namespace amsim::chapter_6
