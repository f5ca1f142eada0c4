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

#include <array>
#include <cstdint>
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
  HardwareHandlers(NetworkInterface& ni, Memory& memory, NodeNumber nodes) noexcept;

  /// One cycle, between the network's and the processor's.
  void step();
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
  /// What is still to be done for a message, in cycles.
  struct Work {
    bool has_begun = false;
    unsigned decoding = 0;
    unsigned accessing = 0;
    unsigned answering = 0;
  };

  void step(Priority priority, bool& memory_is_free);
  void decode(const Message& message, Work& work);
  void handle(const Message& message);
  [[nodiscard]] std::string_view why_refused(const Message& message) const;
  [[nodiscard]] std::string_view why_no_answer(const Message& message) const;
  [[nodiscard]] std::string_view why_no_access(const Message& message, Address address, Word words) const;
  [[nodiscard]] Message fetched(const Message& request) const;
  void store(const Message& message);

  NetworkInterface& ni_;
  Memory& memory_;
  const NodeNumber nodes_;
  std::array<Work, 2> work_{};  // by priority
  Counts counts_;
};

}  // namespace am::t1
