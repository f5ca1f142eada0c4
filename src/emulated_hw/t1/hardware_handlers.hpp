// Handlers that the network interface of a T1 interprets itself, without its processor (T1 report, 3.9, "Hardware Implementation of
// Handlers", "Possible Hard-wired Handlers"): also while the processor computes, in a critical section or with all events disabled.
//
// A message names them as it names any handler, in the range that is reserved for them; with $4, $5, $6, $7, $29 it carries
//
//   fetch     the node that asks, the handler there that gets the answer, an address, how many words (1 to 32), a word for that handler
//             -> to that handler: that word, then what was fetched: one word as a scalar, more as a vector
//   store     an address, then what is to be stored there: scalars and the vector, one after the other
//   forward   a node, a handler there -> to that handler: the other scalars, and the vector
//
// So an answer may itself name store: memory to memory, without a handler in software at either end. Stores are not acknowledged:
// messages between two nodes come in order, and so "a sequence of messages using a hard-wired handler would likely be followed by a
// message using a software handler, which would increment the correct counter or return an acknowledgement" (3.9). What the interface has
// answered is in order, too, but not with what its processor sends.
//
// No deadlock. Fetch and forward wait until they can send, so they are requests, of low priority, and what they send has high priority
// (3.5, A.10); store waits for nothing, and has either. A message that waits holds up those of its own priority, and a store of high
// priority passes it. A forwarded message is not forwarded again, since it has high priority: nothing goes round for ever. Its handler is a
// reply's: requests are forwarded by software.
//
// Refused is what names no handler of these, or has the wrong priority, length, node or address, or comes from user mode and would touch
// the kernel's memory (3.7). It is left to the processor, as an event whose handler has no code: an address error, as for any bad handler.
// A kernel may place code there for its own messages. Nothing has been done then.
//
// Copies of a multicast are handled each as a message of its own. An answer, and what is forwarded, run in the mode of the request.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "emulated_hw/t1/memory.hpp"
#include "emulated_hw/t1/network_interface.hpp"

namespace am::t1 {

/// The report defines no numbers within its range: assumed.
namespace hardware {
inline constexpr Address fetch = 0xfffffffc;
inline constexpr Address store = 0xfffffff8;
inline constexpr Address forward = 0xfffffff4;
}  // namespace hardware

namespace costs {
inline constexpr unsigned hardware_decode = 1;  ///< assumed: which handler, and whether it may
inline constexpr unsigned hardware_answer = 1;  ///< assumed: the header of what is sent
}  // namespace costs

/// Of one interface. Messages of both priorities are handled at once, but for memory, which one accesses at a time, high first.
class HardwareHandlers {
 public:
  /// In a network of `nodes`. Interface and memory outlive it.
  HardwareHandlers(NetworkInterface& ni, Memory& memory, NodeNumber nodes) noexcept
      : ni_(ni), memory_(memory), nodes_(nodes) {
    ni_.add_hardware_handlers();
  }

  /// One cycle, between the network's and the processor's.
  void step() {
    bool memory_is_free = true;
    for (const Priority priority : {Priority::high, Priority::low}) step(priority, memory_is_free);
  }
  /// So that nothing happens in step() until a message comes.
  [[nodiscard]] bool has_nothing_to_do() const noexcept {
    return ni_.for_hardware(Priority::high) == nullptr && ni_.for_hardware(Priority::low) == nullptr;
  }

  struct Counts {
    std::uint64_t fetched = 0;  ///< messages, as the next three
    std::uint64_t stored = 0;
    std::uint64_t forwarded = 0;
    std::uint64_t refused = 0;
    std::uint64_t memory = 0;  ///< cycles in which memory was accessed: the most that a processor can miss
    std::uint64_t waited =
        0;  ///< cycles in which a message could not go on, since the one before had not gone
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  // What the scalars of a message are.
  struct Fetch {
    static constexpr unsigned node = 0, handler = 1, address = 2, words = 3, tag = 4;
    static constexpr unsigned scalars = 5;
  };
  struct Store {
    static constexpr unsigned address = 0;
    static constexpr unsigned data = 1;
  };
  struct Forward {
    static constexpr unsigned data = 2;  // behind node and handler, as in a fetch
  };
  /// What is still to be done for a message, in cycles.
  struct Work {
    bool has_begun = false;
    unsigned decoding = 0;
    unsigned accessing = 0;
    unsigned answering = 0;
  };

  /// Answers wait for their place before memory is read: so they are of one instant, and nothing needs to be kept.
  void step(Priority priority, bool& memory_is_free) {
    const Message* message = ni_.for_hardware(priority);
    Work& work = work_[index(priority)];
    if (message == nullptr) {  // or no longer: Active Messages have been disabled
      work = {};
      return;
    }
    if (!work.has_begun) work = {.has_begun = true, .decoding = costs::hardware_decode};
    if (work.decoding != 0) {
      if (--work.decoding == 0) decode(*message, work);
      return;
    }
    if (work.answering != 0 && !ni_.accepts_answer()) {
      ++counts_.waited;
      return;
    }
    if (work.accessing != 0) {
      if (!memory_is_free) return;
      memory_is_free = false;
      ++counts_.memory;
      --work.accessing;
    } else {
      --work.answering;
    }
    if (work.accessing != 0 || work.answering != 0) return;
    handle(*message);
    ni_.handled(priority);
    work = {};
  }
  void decode(const Message& message, Work& work) {
    if (const std::string_view why = why_refused(message); !why.empty()) {
      ++counts_.refused;
      ni_.refuse(message.priority, why);
      work = {};
      return;
    }
    if (message.handler == hardware::fetch) work.accessing = memory_cycles(message.scalar[Fetch::words]);
    if (message.handler == hardware::store) work.accessing = memory_cycles(words_of_store(message));
    if (message.handler != hardware::store) work.answering = costs::hardware_answer;
  }

  // -- what is refused

  [[nodiscard]] std::string_view why_refused(const Message& message) const {
    switch (message.handler) {
      case hardware::fetch:
        if (message.scalars != Fetch::scalars || message.vector != 0)
          return "a fetch has 5 scalar words and no vector";
        if (const Word words = message.scalar[Fetch::words]; words == 0 || words > most_vector)
          return "a fetch is of 1 to 32 words";
        if (const std::string_view why = why_no_answer(message); !why.empty()) return why;
        return why_no_access(message, message.scalar[Fetch::address], message.scalar[Fetch::words]);
      case hardware::store:
        if (message.scalars < Store::data || words_of_store(message) == 0)
          return "a store has an address, and words behind it";
        return why_no_access(message, message.scalar[Store::address], words_of_store(message));
      case hardware::forward:
        if (message.scalars < Forward::data) return "what is to be forwarded has a node and a handler";
        return why_no_answer(message);
      default:
        return "the hardware has no such handler";
    }
  }
  [[nodiscard]] std::string_view why_no_answer(const Message& message) const {
    if (message.priority == Priority::high) return "it would wait to send, and has high priority";
    if (message.scalar[Fetch::node] >= nodes_) return "it names a node outside the network";
    if (message.scalar[Fetch::handler] % bytes_per_word != 0)
      return "it names a handler that is not at the address of a word";
    return {};
  }
  [[nodiscard]] std::string_view why_no_access(const Message& message, Address address, Word words) const {
    if (!message.kernel && address >= NetworkInterface::kernel_space) return "the memory is the kernel's";
    if (address % bytes_per_word != 0) return "the memory is not at the address of a word";
    if (memory_.block(address, words).empty()) return "the node has no such memory";
    return {};
  }

  // -- what they do

  static Word words_of_store(const Message& message) noexcept {
    return message.scalars - Store::data + message.vector;
  }
  /// Header and priority of what a request has the interface send.
  static Message answer_to(const Message& request) noexcept {
    Message answer;
    answer.destination = request.scalar[Fetch::node];
    answer.handler = request.scalar[Fetch::handler];
    answer.priority = Priority::high;
    answer.kernel = request.kernel;
    return answer;
  }
  static Message forwarded(const Message& request) noexcept {
    Message message = answer_to(request);
    message.scalars = static_cast<std::uint8_t>(request.scalars - Forward::data);
    message.vector = request.vector;
    std::copy_n(request.scalar.begin() + Forward::data, message.scalars, message.scalar.begin());
    message.vector_words = request.vector_words;
    return message;
  }
  void handle(const Message& message) {
    switch (message.handler) {
      case hardware::fetch:
        ++counts_.fetched;
        return ni_.answer(fetched(message));
      case hardware::store:
        ++counts_.stored;
        return store(message);
      default:
        ++counts_.forwarded;
        return ni_.answer(forwarded(message));
    }
  }
  [[nodiscard]] Message fetched(const Message& request) const {
    const std::span<const Word> words =
        memory_.block(request.scalar[Fetch::address], request.scalar[Fetch::words]);
    Message answer = answer_to(request);
    answer.scalar[0] = request.scalar[Fetch::tag];
    answer.scalars = 1;
    if (words.size() == 1) {
      answer.scalar[answer.scalars++] = words.front();
    } else {
      std::ranges::copy(words, answer.vector_words.begin());
      answer.vector = static_cast<std::uint8_t>(words.size());
    }
    return answer;
  }
  void store(const Message& message) {
    const std::span<Word> words = memory_.block(message.scalar[Store::address], words_of_store(message));
    const auto behind_scalars =
        std::copy_n(message.scalar.begin() + Store::data, message.scalars - Store::data, words.begin());
    std::copy_n(message.vector_words.begin(), message.vector, behind_scalars);
  }

  NetworkInterface& ni_;
  Memory& memory_;
  const NodeNumber nodes_;
  std::array<Work, 2> work_{};  // by priority
  Counts counts_;
};

}  // namespace am::t1
