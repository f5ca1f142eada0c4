// A letter is one message of libfabric's: frames for one peer (transports/frames), behind sixteen bytes that say
// from whom it is, its number, and prove that the writer has proved the job's key:
//
//   0  from      who wrote it
//   4  number    of that link's letters, from 0: so they are read in the order in which they were written, whatever the network
//                does; of a greeting, its step
//   8  seal      a number that both ends have made out of their handshake, another one for each direction; 0: a greeting
//   16 frames, or the bytes of a handshake (transports/trust)
//
// A seal is no encryption: whoever can read the network's wires can read it. It keeps out all others, like a connection of TCP.
//
// Used by whoever is in the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transports/ofi/endpoint.hpp"

namespace am::ofi {

inline constexpr std::size_t letter_head_bytes = 16;
/// The longest: room for many short frames, and no longer than the providers' short way is.
inline constexpr std::size_t letter_bytes = 8192;

struct LetterHead {
  std::uint32_t from = 0;
  std::uint32_t number = 0;
  std::uint64_t seal = 0;

  void write(std::byte* to) const noexcept;
  [[nodiscard]] static LetterHead read(const std::byte* from) noexcept;
};

/// One that is written, or under way.
struct Letter : Operation {
  std::byte* bytes = nullptr;
  std::size_t filled = 0;
  void* descriptor = nullptr;
  bool is_followed = false;  ///< it is asked whether the network has it (Transport::published)
  bool is_greeting = false;
  Letter* next = nullptr;  ///< in a LetterQueue

  [[nodiscard]] std::span<const std::byte> text() const noexcept { return {bytes, filled}; }
};

/// Letters behind each other, each in one queue at most.
class LetterQueue {
 public:
  LetterQueue() = default;
  /// Takes all; the other one is empty.
  LetterQueue(LetterQueue&& other) noexcept
      : first_(other.first_), last_(other.last_), size_(std::exchange(other.size_, 0)) {}

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Letter& front() const noexcept { return *first_; }
  void push(Letter& letter) noexcept {
    letter.next = nullptr;
    (size_++ == 0 ? first_ : last_->next) = &letter;
    last_ = &letter;
  }
  Letter& pop() noexcept {
    Letter& letter = *first_;
    first_ = letter.next;
    --size_;
    return letter;
  }

 private:
  Letter* first_ = nullptr;
  Letter* last_ = nullptr;
  std::size_t size_ = 0;
};

/// Paper: letters that nobody is writing, for all peers. Bounded by who writes them: messages by credits, the rest by their kinds.
class Paper {
 public:
  Paper(Endpoint& endpoint, std::size_t letter_room) : endpoint_(endpoint), letter_room_(letter_room) {}

  /// One with nothing but room for its head. No memory, or none that may be registered, ends the program: nothing here can wait for some.
  [[nodiscard]] Letter* take();
  void give_back(Letter* letter) { free_.push_back(letter); }
  [[nodiscard]] std::size_t letter_room() const noexcept { return letter_room_; }

 private:
  static constexpr std::size_t letters_per_sheet = 16;
  struct Sheet {
    std::unique_ptr<std::byte[]> bytes;
    std::vector<Letter> letters;
    Registration registration;
  };

  Endpoint& endpoint_;
  const std::size_t letter_room_;
  std::vector<std::unique_ptr<Sheet>> sheets_;
  std::vector<Letter*> free_;
};

}  // namespace am::ofi
