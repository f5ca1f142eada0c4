// The program's messages that wait because it keeps them (am::MessagesKept): copies, in the order in which they came. The list
// alone: what is kept, and when it runs, is dispatch.cpp's and unusual.cpp's affair.
//
// Used by whoever is in the node.
#pragma once

#include <am/impl/arrival.hpp>

#include <cstring>
#include <deque>
#include <memory>
#include <memory_resource>
#include <utility>

#include "core/modes/event_memory.hpp"

namespace am::core {

class KeptMessages {
 public:
  /// A message, as it came.
  class Message {
   public:
    Message(const impl::Arrival& came, EventBytes bytes) noexcept
        : bytes_(std::move(bytes)), head_(came.head), from_(came.from), priority_(came.priority) {
      std::memcpy(bytes_.get(), came.packet, sizeof(impl::Packet));
      if (came.payload.empty()) return;
      payload_bytes_ = came.payload.size();
      std::memcpy(bytes_.get() + sizeof(impl::Packet), came.payload.data(), payload_bytes_);
    }
    [[nodiscard]] impl::Arrival arrival() const noexcept {
      return {.packet = reinterpret_cast<const impl::Packet*>(bytes_.get()),
              .head = head_,
              .from = from_,
              .payload = Payload(bytes_.get() + sizeof(impl::Packet), payload_bytes_),
              .priority = priority_};
    }

   private:
    EventBytes bytes_;  // the packet's first line, then the payload
    impl::Header head_;
    NodeId from_;
    Priority priority_;
    std::size_t payload_bytes_ = 0;
  };

  explicit KeptMessages(std::pmr::memory_resource* memory)
      : memory_(*memory), of_{Row(memory), Row(memory)} {}

  [[nodiscard]] bool empty() const noexcept { return of_[0].empty() && of_[1].empty(); }
  [[nodiscard]] bool empty(Priority priority) const noexcept { return row(priority).empty(); }
  /// False where there is no memory for it.
  [[nodiscard]] bool add(const impl::Arrival& message) noexcept {
    EventBytes bytes = try_event_bytes(memory_, sizeof(impl::Packet) + message.payload.size());
    if (bytes == nullptr) return false;
    try {
      row(message.priority).emplace_back(message, std::move(bytes));
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  [[nodiscard]] Message take(Priority priority) noexcept {
    Message first = std::move(row(priority).front());
    row(priority).pop_front();
    return first;
  }

 private:
  using Row = std::pmr::deque<Message>;
  [[nodiscard]] Row& row(Priority priority) noexcept { return of_[static_cast<std::size_t>(priority)]; }
  [[nodiscard]] const Row& row(Priority priority) const noexcept {
    return of_[static_cast<std::size_t>(priority)];
  }

  std::pmr::memory_resource& memory_;
  Row of_[2];  // by priority
};

}  // namespace am::core
