#include "emulated_hw/mmachine/costs/injection.hpp"

#include <array>
#include <optional>

#include "emulated_hw/mmachine/costs/parameters.hpp"

namespace am::mmachine::costs {

namespace {

using Words = std::vector<Register>;

Register later(Register a, Register b) noexcept { return {std::max(a.ready, b.ready)}; }

// -- what all interfaces share: the operations that make the words of a message, before they are carried anywhere

/// A word from memory; its address is moved on.
Register load_word(InstructionStream& thread) noexcept {
  const Register word = thread.issue(op::load());
  thread.issue(op::lea());
  return word;
}

/// Makes all words that are not loaded, those of several operations side by side. In the order of the words, which have a register
/// each: a kept or loaded one's is there already.
Words compose(InstructionStream& thread, const std::vector<Source>& sources) {
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
void carry_words(InstructionStream& thread, const Composition& message, const Words& composed, Carry carry) {
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

// -- through registers

/// SEND, which reads a message out of registers in a burst: the head leaves after send_cycles, then a word a cycle (4.2: it streams
/// through the queue). The unit takes one message at a time, and says by Ack when the registers may be written again.
class SendUnit {
 public:
  struct Sent {
    Arrival arrival;
    Register acknowledged;
  };
  /// `ready`: the last of the message's registers and of the operands.
  Sent send(InstructionStream& thread, Unit unit, Register ready, std::size_t words) {
    thread.issue({.unit = unit, .reads = {ready, free_}, .slots = send_cycles});
    const Cycle issued = thread.last_issue();
    free_ = {issued + send_cycles + words};
    return {.arrival = Arrival::in_one_piece(issued + send_cycles + path_cycles, words),
            .acknowledged = free_};
  }

 private:
  Register free_{};
};

/// MM: words are made where SEND reads them; message registers may not be written before Ack, which the program waits for as in 3.2.3.
/// Messages from memory go alternately through integer and floating-point registers (6.5.1).
class ProcessorRegisterInjection final : public Injection {
 public:
  using Injection::Injection;

  Arrival send(InstructionStream& thread, const Composition& message) override {
    const std::size_t chosen = message.loads() ? next_ : 0;
    File& file = files_[chosen];
    if (file.used) thread.issue(op::move(file.acknowledged));
    const Register ready = compose_in_file(thread, message);
    const Unit unit = chosen == 0 ? Unit::ialu : Unit::falu;
    auto [arrival, acknowledged] = unit_.send(thread, unit, ready, message.words.size());
    file = {.used = true, .acknowledged = acknowledged};
    next_ = (next_ + 1) % files_.size();
    return arrival;
  }

 private:
  struct File {
    bool used = false;
    Register acknowledged{};
  };

  /// All words, and the address or node. A lookup runs beside the loads, where there are any, two operations to a word.
  [[nodiscard]] Register compose_in_file(InstructionStream& thread, const Composition& message) const {
    Register last;
    for (const Register word : compose(thread, message.words)) last = later(last, word);
    if (!message.loads()) return later(last, translate(thread, message));
    if (translation().in_software()) translation().miss(thread);
    Lookup lookup(message.destination);
    for (const Source source : message.words) {
      if (source != Source::loaded) continue;
      last = later(last, load_word(thread));
      if (translation().in_software() && lookup.step(thread)) lookup.step(thread);
    }
    while (translation().in_software() && lookup.step(thread)) {
    }
    return later(last, lookup.node());
  }

  SendUnit unit_;
  std::array<File, 2> files_{};
  std::size_t next_ = 0;
};

/// IRB: words are made in general registers and moved to a buffer in the device, which keeps them: of a message like the one before
/// only what changed is moved.
class NetworkBufferInjection final : public Injection {
 public:
  using Injection::Injection;

  Arrival send(InstructionStream& thread, const Composition& message) override {
    const Words composed = compose(thread, message.words);
    const Register node = translate(thread, message);
    Register moved;
    carry_words(thread, message, composed,
                [&](Register word) { moved = thread.issue(op::move(later(word, buffer_free_))); });
    auto [arrival, acknowledged] = unit_.send(thread, Unit::ialu, later(moved, node), message.words.size());
    buffer_free_ = acknowledged;
    return arrival;
  }

 private:
  SendUnit unit_;
  Register buffer_free_{};
};

/// IRS: operations write into the network, a word a cycle: msim's register i15 (6.1). DestAddr and HandlerIP come first and open the
/// channel; while it is open nobody else's message moves, so what takes several operations is made before; kept words are written again.
class NetworkStreamInjection final : public Injection {
 public:
  using Injection::Injection;

  Arrival send(InstructionStream& thread, const Composition& message) override {
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
    port_free_ = {arrival.tail() - path_cycles + 1};  // DestAddr is in the port when the tail has left it
    return arrival;
  }

 private:
  /// When the word is in the port, behind the one before: a load waits for nothing that takes less long.
  Register write(InstructionStream& thread, Operation into_port) noexcept {
    into_port.reads.back() = {port_free_.ready - std::min(port_free_.ready, into_port.latency)};
    const Register written = thread.issue(into_port);
    port_free_ = {written.ready + 1};
    return written;
  }
  Register write_word(InstructionStream& thread, Source source, Register made) noexcept {
    if (source == Source::computed) return write(thread, op::compute());
    if (source == Source::regenerated) return write(thread, op::move(made));
    const Register written = write(thread, op::load());
    thread.issue(op::lea());
    return written;
  }

  Register port_free_{};  // since when another word can be in the port
};

// -- through the memory: a program secures the interface by a semaphore, makes addresses, and stores each word; a store is at the
// interface after a traversal of the memory hierarchy. One program has it for a message: the next is begun when it is free again

/// A lock in local memory: its address, what it holds, the test, the branch, and the mark that it is taken.
class Semaphore {
 public:
  /// `free`: since when nothing else keeps the caller out.
  void acquire(InstructionStream& thread, Register free) noexcept {
    const Register address = thread.issue(op::lea(later(written_, free)));
    const Register held = thread.issue(op::load(address));
    thread.jump(thread.issue(op::compute(held)));
    written_ = thread.issue(op::store(address, {}));
  }
  void release(InstructionStream& thread) noexcept { written_ = thread.issue(op::store({}, {})); }

 private:
  Register written_{};
};

/// IMS: the header is stored and the interface answers that the channel is open ("the fixed overhead for opening a streaming channel",
/// 6.5.2), while words are made; then HandlerIP and the words go to one address, each on its way as it arrives.
class MemoryStreamInjection final : public Injection {
 public:
  using Injection::Injection;

  Arrival send(InstructionStream& thread, const Composition& message) override {
    semaphore_.acquire(thread, closed_);
    const Register opened = open(thread, translate(thread, message));
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
    semaphore_.release(thread);
    closed_ = {arrival.tail() - path_cycles};
    return arrival;
  }

 private:
  [[nodiscard]] static Register open(InstructionStream& thread, Register node) noexcept {
    const Register port = thread.issue(op::lea());
    const Register header = thread.issue(op::store(port, node, hierarchy_cycles));
    thread.issue(op::load(port));  // the answer, which comes a traversal after the header has got there
    return {header.ready + hierarchy_cycles};
  }

  Semaphore semaphore_;
  Register closed_{};
};

/// IMB: words are stored into a buffer, and a last store has the interface fetch it, which keeps a sent message's words there; the head
/// leaves when all have been fetched.
class MemoryBufferInjection final : public Injection {
 public:
  using Injection::Injection;

  Arrival send(InstructionStream& thread, const Composition& message) override {
    semaphore_.acquire(thread, fetched_);
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
    semaphore_.release(thread);
    fetched_ = {told.ready + hierarchy_cycles + message.words.size()};
    return Arrival::in_one_piece(fetched_.ready + header_cycles + path_cycles, message.words.size());
  }

 private:
  Semaphore semaphore_;
  Register fetched_{};
};

}  // namespace

std::unique_ptr<Injection> make_injection(Port port, AddressTranslation translation) {
  const bool buffered = port.atomicity == Atomicity::buffered;
  switch (port.mapping) {
    case Mapping::processor:
      break;
    case Mapping::network:
      if (buffered) return std::make_unique<NetworkBufferInjection>(translation);
      return std::make_unique<NetworkStreamInjection>(translation);
    case Mapping::memory:
      if (buffered) return std::make_unique<MemoryBufferInjection>(translation);
      return std::make_unique<MemoryStreamInjection>(translation);
  }
  return std::make_unique<ProcessorRegisterInjection>(translation);
}

}  // namespace am::mmachine::costs
