// How a message goes from a program into the network, through each interface of Table 6.1: what the program issues to compose it
// there, when its words leave, and when the next one may be begun.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.1, 4.2, 6.1, 6.2, 6.5.1, 6.5.2.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "amsim/papers/chapter_6/parameters.hpp"
#include "amsim/papers/chapter_6/translation.hpp"
#include "emulated_hw/mmachine/instruction_stream.hpp"

namespace amsim::chapter_6 {

/// Where a word of a message comes from.
enum class Source : std::uint8_t {
  computed,     ///< one operation of an integer unit
  regenerated,  ///< operations_per_seed of them, one after the other
  loaded,       ///< from memory, whose address is then moved on
  kept,         ///< as it was in the message before: an interface that still has that one need do nothing
};

/// A message as a program states it, before an interface lowers it to operations.
struct Composition {
  Register destination{};       ///< its virtual address
  std::vector<Source> words{};  ///< of its body, in their order

  [[nodiscard]] bool loads() const noexcept { return loaded() != 0; }
  /// How many of a program's registers hold it: what comes from memory need not be there yet.
  [[nodiscard]] unsigned live_registers() const noexcept {
    return static_cast<unsigned>(words.size()) - loaded();
  }

 private:
  [[nodiscard]] unsigned loaded() const noexcept {
    return static_cast<unsigned>(std::ranges::count(words, Source::loaded));
  }
};

/// When a message reaches the interface that it is for: its head (the HandlerIP), and each word of its body.
struct Arrival {
  Cycle head = 0;
  std::vector<Cycle> words{};

  [[nodiscard]] Cycle tail() const noexcept { return words.empty() ? head : words.back(); }
  /// The next word, which left so and comes a cycle behind the one before at the earliest.
  void append(Cycle cycle) { words.push_back(std::max(cycle, tail() + 1)); }

  /// As it comes from a buffer that holds all of it: a word a cycle behind the head.
  [[nodiscard]] static Arrival in_one_piece(Cycle head, std::size_t words) {
    Arrival arrival{.head = head};
    while (arrival.words.size() < words) arrival.append(head);
    return arrival;
  }
};

/// An interface as one program has it: what messages begun through it keep of its registers, buffers and ports.
class Injection {
 public:
  Injection(const Port& port, const AddressTranslation& translation) noexcept
      : port_(port), translation_(translation) {}

  /// Issues all that it takes, from the words' operands to the message's last word on its way.
  Arrival send(InstructionStream& thread, const Composition& message) {
    const bool buffered = port_.atomicity == Atomicity::buffered;
    switch (port_.mapping) {
      case Mapping::processor:
        break;
      case Mapping::network:
        return buffered ? send_network_buffer(thread, message) : stream_by_network(thread, message);
      case Mapping::memory:
        return buffered ? send_memory_buffer(thread, message) : stream_by_memory(thread, message);
    }
    return send_registers(thread, message);
  }

 private:
  using Words = std::vector<Register>;

  static Register later(Register a, Register b) noexcept { return {std::max(a.ready, b.ready)}; }

  // -- what all interfaces share: the operations that make the words of a message, before they are carried anywhere

  /// A word from memory; its address is moved on.
  static Register load_word(InstructionStream& thread) noexcept {
    const Register word = thread.issue(op::load());
    thread.issue(op::lea());
    return word;
  }

  /// Makes all words that are not loaded, those of several operations side by side. In the order of the words, which have a register
  /// each: a kept or loaded one's is there already.
  static Words compose(InstructionStream& thread, const std::vector<Source>& sources) {
    Words words(sources.size());
    for (unsigned operation = 0; operation < operations_per_seed; ++operation) {
      for (std::size_t i = 0; i < words.size(); ++i) {
        const bool computed = sources[i] == Source::computed && operation == 0;
        const bool finishes = computed || operation + 1 == operations_per_seed;
        if (computed || sources[i] == Source::regenerated)
          words[i] = thread.issue({.reads = {words[i]}, .slots = finishes ? 1U : 0U});
      }
    }
    return words;
  }

  /// Carries each word, in their order, with `carry(register)`, but kept ones: the buffer has these. A loaded word is carried after the load
  /// of the next one, when it has come.
  template <class Carry>
  static void carry_words(InstructionStream& thread, const Composition& message, const Words& composed,
                          Carry carry) {
    std::optional<Register> waits;
    const auto carry_what_waits = [&] {
      if (waits) carry(*waits);
      waits.reset();
    };
    for (std::size_t i = 0; i < message.words.size(); ++i) {
      const Source source = message.words[i];
      const Register word = source == Source::loaded ? load_word(thread) : composed[i];
      carry_what_waits();
      if (source == Source::loaded) waits = word;
      if (source == Source::computed || source == Source::regenerated) carry(word);
    }
    carry_what_waits();
  }

  [[nodiscard]] Register translate(InstructionStream& thread, const Composition& message) const noexcept {
    return translation_.translate(thread, message.destination, message.live_registers());
  }

  // -- through registers

  /// SEND, which reads a message out of registers in a burst: the head leaves after send_cycles, then a word a cycle (4.2: it streams
  /// through the queue). The unit takes one message at a time, and says by Ack when the registers may be written again. `ready`: the last
  /// of the message's registers and of the operands.
  Arrival issue_send(InstructionStream& thread, Unit unit, Register ready, std::size_t words) {
    thread.issue({.unit = unit, .reads = {ready, unit_free_}, .slots = send_cycles});
    const Cycle issued = thread.last_issue();
    unit_free_ = {issued + send_cycles + words};
    return Arrival::in_one_piece(issued + send_cycles + path_cycles, words);
  }

  /// MM: words are made where SEND reads them; message registers may not be written before Ack, which the program waits for as in 3.2.3.
  /// Messages from memory go alternately through integer and floating-point registers (6.5.1).
  Arrival send_registers(InstructionStream& thread, const Composition& message) {
    const std::size_t chosen = message.loads() ? next_file_ : 0;
    Register& acknowledged = files_[chosen];
    if (acknowledged.ready != 0) thread.issue(op::move(acknowledged));
    const Register ready = compose_in_file(thread, message);
    const Unit unit = chosen == 0 ? Unit::ialu : Unit::falu;
    Arrival arrival = issue_send(thread, unit, ready, message.words.size());
    acknowledged = unit_free_;
    next_file_ = (next_file_ + 1) % files_.size();
    return arrival;
  }

  /// All words, and the address or node. A lookup runs beside the loads, where there are any, two operations to a word.
  Register compose_in_file(InstructionStream& thread, const Composition& message) const {
    Register last;
    for (const Register word : compose(thread, message.words)) last = later(last, word);
    if (!message.loads()) return later(last, translate(thread, message));
    const bool looks_up = translation_.in_software();
    if (looks_up) translation_.miss(thread);
    Lookup lookup(message.destination);
    for (const Source source : message.words) {
      if (source != Source::loaded) continue;
      last = later(last, load_word(thread));
      if (looks_up && lookup.step(thread)) lookup.step(thread);
    }
    while (looks_up && lookup.step(thread)) {
    }
    return later(last, lookup.node());
  }

  /// IRB: words are made in general registers and moved to a buffer in the device, which keeps them: of a message like the one before
  /// only what changed is moved.
  Arrival send_network_buffer(InstructionStream& thread, const Composition& message) {
    const Words composed = compose(thread, message.words);
    const Register node = translate(thread, message);
    Register moved;
    carry_words(thread, message, composed,
                [&](Register word) { moved = thread.issue(op::move(later(word, interface_free_))); });
    Arrival arrival = issue_send(thread, Unit::ialu, later(moved, node), message.words.size());
    interface_free_ = unit_free_;
    return arrival;
  }

  /// IRS: operations write into the network, a word a cycle: msim's register i15 (6.1). DestAddr and HandlerIP come first and open the
  /// channel; while it is open nobody else's message moves, so what takes several operations is made before; kept words are written again.
  Arrival stream_by_network(InstructionStream& thread, const Composition& message) {
    std::vector<Source> made_before = message.words;
    std::ranges::replace(made_before, Source::computed, Source::kept);
    const Words made = compose(thread, made_before);
    write(thread, op::move(translate(thread, message)));  // DestAddr
    const Register opened = write(thread, {.unit = Unit::ialu, .slots = 1 + header_cycles});
    Arrival arrival{.head = opened.ready + header_cycles + path_cycles};
    for (std::size_t i = 0; i < made.size(); ++i) {
      const Register written = write_word(thread, message.words[i], made[i]);
      arrival.append(written.ready + header_cycles + path_cycles);
    }
    interface_free_ = {arrival.tail() - path_cycles +
                       1};  // DestAddr is in the port when the tail has left it
    return arrival;
  }
  /// When the word is in the port, behind the one before: a load waits for nothing that takes less long.
  Register write(InstructionStream& thread, Operation into_port) noexcept {
    const Cycle free = interface_free_.ready;
    into_port.reads.back() = {free - std::min(free, into_port.latency)};
    const Register written = thread.issue(into_port);
    interface_free_ = {written.ready + 1};
    return written;
  }
  Register write_word(InstructionStream& thread, Source source, Register made) noexcept {
    if (source == Source::computed) return write(thread, op::compute());
    if (source == Source::regenerated) return write(thread, op::move(made));
    const Register written = write(thread, op::load());
    thread.issue(op::lea());
    return written;
  }

  // -- through the memory: a program secures the interface by a semaphore, makes addresses, and stores each word; a store is at the
  // interface after a traversal of the memory hierarchy. One program has it for a message: the next is begun when it is free again

  /// A lock in local memory: its address, what it holds, the test, the branch, and the mark that it is taken.
  void acquire(InstructionStream& thread) const noexcept {
    const Register address = thread.issue(op::lea(interface_free_));
    const Register held = thread.issue(op::load(address));
    thread.jump(thread.issue(op::compute(held)));
    thread.issue(op::store(address, {}));
  }

  /// IMS: the header is stored and the interface answers that the channel is open ("the fixed overhead for opening a streaming channel",
  /// 6.5.2), while words are made; then HandlerIP and the words go to one address, each on its way as it arrives.
  Arrival stream_by_memory(InstructionStream& thread, const Composition& message) {
    acquire(thread);
    const Register node = translate(thread, message);
    const Register port = thread.issue(op::lea());
    const Register header = thread.issue(op::store(port, node, hierarchy_cycles));
    thread.issue(op::load(port));  // the answer, which comes a traversal after the header has got there
    const Register opened{header.ready + hierarchy_cycles};
    Words words = compose(thread, message.words);
    Words addresses;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool in_memory = message.words[i] == Source::loaded || message.words[i] == Source::kept;
      if (in_memory) words[i] = load_word(thread);
      addresses.push_back(thread.issue(op::lea()));
    }
    const Register handler = thread.issue(op::store(opened, {}, hierarchy_cycles));
    Arrival arrival{.head = handler.ready + header_cycles + path_cycles};
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Register stored = thread.issue(op::store(addresses[i], words[i], hierarchy_cycles));
      arrival.append(stored.ready + header_cycles + path_cycles);
    }
    thread.issue(op::store({}, {}));  // the semaphore is free before the interface is
    interface_free_ = {arrival.tail() - path_cycles};
    return arrival;
  }

  /// IMB: words are stored into a buffer, and a last store has the interface fetch it, which keeps a sent message's words there; the head
  /// leaves when all have been fetched.
  Arrival send_memory_buffer(InstructionStream& thread, const Composition& message) {
    acquire(thread);
    const Words composed = compose(thread, message.words);
    const Register node = translate(thread, message);
    Register address = thread.issue(op::lea());
    const auto put = [&](Register word) {
      thread.issue(op::store(address, word));
      address = thread.issue(op::lea(address));
    };
    put(node);
    put({});  // HandlerIP
    carry_words(thread, message, composed, put);
    const Register told = thread.issue(op::store(address, {}, hierarchy_cycles));
    thread.issue(op::store({}, {}));  // the semaphore is free before the interface is
    interface_free_ = {told.ready + hierarchy_cycles + message.words.size()};
    return Arrival::in_one_piece(interface_free_.ready + header_cycles + path_cycles, message.words.size());
  }

  Port port_;
  AddressTranslation translation_;
  std::array<Register, 2>
      files_{};  // of message registers: when the last message in one has been acknowledged
  std::size_t next_file_ = 0;
  Register unit_free_{};       // of SEND
  Register interface_free_{};  // since when its buffer, port or channel can have another word or message
};

}  // namespace amsim::chapter_6
