#include "transports/frames/arrivals.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace am::frames {

// -- memory -----------------------------------------------------------------------------------------------------------

Arrivals::Room Arrivals::room() {
  if (!blocks_.empty() && blocks_.front().is_only_share()) filled_ = 0;
  if (blocks_.empty() || blocks_.front().bytes().size() - filled_ < least_room) use_another_block();
  return {blocks_.front(), blocks_.front().bytes().subspan(filled_)};
}

void Arrivals::filled(const Room& room, std::size_t bytes) noexcept {
  if (room.block != blocks_.front()) return;
  const std::size_t end = filled_ + bytes;
  filled_ = std::min(blocks_.front().bytes().size(),
                     (end + Block::alignment - 1) / Block::alignment * Block::alignment);
}

/// One that nobody uses, a new one, or the oldest of them all, which is emptied.
void Arrivals::use_another_block() {
  filled_ = 0;
  auto next = std::ranges::find_if(blocks_, [](const Block& block) { return block.is_only_share(); });
  if (next == blocks_.end() && blocks_.size() < most_blocks) {
    blocks_.insert(blocks_.begin(), Block(block_bytes));
    return;
  }
  for (auto oldest = blocks_.end(); next == blocks_.end() && oldest != blocks_.begin();) {
    --oldest;
    empty(*oldest);
    if (oldest->is_only_share()) next = oldest;
  }
  std::rotate(blocks_.begin(), next, next + 1);
}

void Arrivals::empty(const Block& block) {
  for (Queue& queue : queues_) {
    for (std::size_t i = 0; i < queue.messages.size(); ++i) {
      Message& message = queue.messages[i];
      if (message.block != block || (queue.lent && i == queue.at)) continue;
      Block own(message.frame.size());
      std::memcpy(own.bytes().data(), message.frame.data(), message.frame.size());
      if (!message.payload.empty()) {  // it lies there, too: what lies elsewhere has a block of its own
        const auto at = message.payload.data() - message.frame.data();
        message.payload = Payload(own.bytes().data() + at, message.payload.size());
      }
      message.frame = own.bytes();
      message.block = std::move(own);
    }
  }
}

// -- messages ---------------------------------------------------------------------------------------------------------

const Arrivals::Message* Arrivals::next_of(Queue& queue, Priority priority) noexcept {
  for (; queue.at < queue.messages.size(); ++queue.at) {
    const Message& message = queue.messages[queue.at];
    if (!message.block || is_deferred(message.from, priority)) continue;
    queue.lent = true;
    return &message;
  }
  return nullptr;
}

void Arrivals::release(Priority priority) noexcept {
  Queue& queue = queues_[index(priority)];
  queue.messages[queue.at].block = {};
  if (queue.first == queue.at) ++queue.first;
  ++queue.at;
  queue.lent = false;
  if (--queue.live == 0) {
    queue.messages.clear();
    queue.first = 0;
    queue.at = 0;
  }
}

void Arrivals::defer(Priority priority) noexcept {
  Queue& queue = queues_[index(priority)];
  deferred_[impl::link_index(queue.messages[queue.at].from, priority)] = queue.round;
  queue.deferred = true;
  queue.lent = false;
}

void Arrivals::begin_round_of(Queue& queue) noexcept {
  forget(queue);
  if (!queue.deferred || queue.lent) return;  // it goes on where it is
  ++queue.round;
  queue.deferred = false;
  queue.at = queue.first;
}

/// Forgets the released ones at the beginning, once they are the most.
void Arrivals::forget(Queue& queue) {
  while (queue.first < queue.messages.size() && !queue.messages[queue.first].block) ++queue.first;
  if (queue.lent || queue.first <= queue.messages.size() / 2) return;
  queue.messages.erase(queue.messages.begin(),
                       queue.messages.begin() + static_cast<std::ptrdiff_t>(queue.first));
  queue.at -= std::min(queue.at, queue.first);
  queue.first = 0;
}

bool Arrivals::any(Priority priority) const noexcept {
  const Queue& queue = queues_[index(priority)];
  return queue.live != 0 && std::ranges::any_of(queue.messages, [&](const Message& message) {
           return message.block && !is_deferred(message.from, priority);
         });
}

}  // namespace am::frames
