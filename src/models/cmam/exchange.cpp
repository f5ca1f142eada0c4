#include "models/cmam/exchange.hpp"

#include <algorithm>

namespace am::models::cmam {

namespace {

constexpr std::size_t step = 64;             // messages that memory is taken for at a time
constexpr std::size_t room_for_asks = 1024;  // and questions of others, at least

bool fits(int node, int tag, const Ask& ask) noexcept {
  const bool right_tag = tag == ask.tag || (tag == Exchange::any && ask.tag >= 0);
  return right_tag && (node == Exchange::any || static_cast<NodeId>(node) == ask.from);
}

}  // namespace

Exchange::Exchange() {
  asked_.reserve(room_for_asks);
  grow();
}

void Exchange::grow() {
  for (std::size_t i = 0; i < step; ++i) {
    Message& message = messages_.emplace_back();
    message.number = static_cast<int>(messages_.size());
  }
  for (std::vector<int>* const numbers : {&unused_, &spent_, &posted_}) numbers->reserve(messages_.size());
  for (std::size_t i = 0; i < step; ++i) unused_.push_back(static_cast<int>(messages_.size() - i));
}

void Exchange::reclaim() {
  for (const int number : spent_) {
    find(number)->copy = {};
    unused_.push_back(number);
  }
  spent_.clear();
  if (asked_.capacity() - asked_.size() < room_for_asks / 2) asked_.reserve(2 * asked_.capacity());
}

Message* Exchange::begin(bool may_allocate) {
  if (may_allocate) {
    reclaim();
    if (unused_.empty()) grow();
  }
  if (unused_.empty()) return nullptr;
  Message& message = *find(unused_.back());
  unused_.pop_back();
  const int number = message.number;
  message = {};
  message.number = number;
  message.stage = Message::Stage::waits;
  return &message;
}

Message* Exchange::find(std::int64_t number) noexcept {
  if (number < 1 || number > static_cast<std::int64_t>(messages_.size())) return nullptr;
  return &messages_[static_cast<std::size_t>(number - 1)];
}

void Exchange::release(Message& message) noexcept {
  message.stage = Message::Stage::unused;
  (message.copy.empty() ? unused_ : spent_).push_back(message.number);
}

const Ask* Exchange::asked(int node, int tag) const noexcept {
  const auto found =
      std::find_if(asked_.begin(), asked_.end(), [&](const Ask& ask) { return fits(node, tag, ask); });
  return found != asked_.end() ? &*found : nullptr;
}

std::optional<Ask> Exchange::take_asked(int node, int tag) noexcept {
  const Ask* const found = asked(node, tag);
  if (found == nullptr) return std::nullopt;
  const Ask ask = *found;
  asked_.erase(asked_.begin() + (found - asked_.data()));
  return ask;
}

Message* Exchange::take_receive(const Ask& ask) noexcept {
  for (const int number : posted_) {
    Message& receive = *find(number);
    if (!fits(receive.peer, receive.tag, ask)) continue;
    withdraw(receive);
    return &receive;
  }
  return nullptr;
}

void Exchange::withdraw(const Message& receive) noexcept { std::erase(posted_, receive.number); }

}  // namespace am::models::cmam
