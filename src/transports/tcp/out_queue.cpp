#include "transports/tcp/out_queue.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace am::tcp {

std::byte* OutQueue::add(std::size_t bytes) {
  if (parts_.empty() || !parts_.back().open || parts_.back().end + bytes > parts_.back().block.bytes().size())
    parts_.push_back({Block(std::max(bytes, part_bytes)), 0, 0, true});
  Part& part = parts_.back();
  std::byte* const at = part.block.bytes().data() + part.end;
  part.end += bytes;
  bytes_ += bytes;
  return at;
}

void OutQueue::add(Block block, std::size_t begin, std::size_t end) {
  parts_.push_back({std::move(block), begin, end, false});
  bytes_ += end - begin;
}

std::span<const iovec> OutQueue::front(std::span<iovec> pieces) const noexcept {
  std::size_t count = 0;
  for (std::size_t i = first_; i < parts_.size() && count < pieces.size(); ++i) {
    const Part& part = parts_[i];
    if (part.begin != part.end)
      pieces[count++] = {part.block.bytes().data() + part.begin, part.end - part.begin};
  }
  return pieces.first(count);
}

void OutQueue::written(std::size_t bytes) noexcept {
  bytes_ -= bytes;
  if (bytes_ == 0) return clear();
  while (bytes != 0) {
    Part& part = parts_[first_];
    const std::size_t here = std::min(bytes, part.end - part.begin);
    part.begin += here;
    bytes -= here;
    if (part.begin == part.end) ++first_;
  }
  if (first_ > parts_.size() / 2) {
    parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

Socket::Moved OutQueue::read(std::span<const iovec> to) noexcept {
  std::size_t moved = 0;
  for (const iovec& piece : to) {
    auto* at = static_cast<std::byte*>(piece.iov_base);
    for (std::size_t left = piece.iov_len; left != 0 && !empty();) {
      iovec next{};
      static_cast<void>(front({&next, 1}));
      const std::size_t here = std::min(left, next.iov_len);
      std::memcpy(at, next.iov_base, here);
      written(here);
      at += here;
      left -= here;
      moved += here;
    }
  }
  using Outcome = Socket::Moved::Outcome;
  return {moved != 0 ? Outcome::some : Outcome::blocked, moved};
}

void OutQueue::add(OutQueue&& other) {
  bytes_ += std::exchange(other.bytes_, 0);
  parts_.insert(parts_.end(),
                std::make_move_iterator(other.parts_.begin() + static_cast<std::ptrdiff_t>(other.first_)),
                std::make_move_iterator(other.parts_.end()));
  other.parts_.clear();
  other.first_ = 0;
}

void OutQueue::clear() noexcept {
  bytes_ = 0;
  first_ = 0;
  const auto kept = std::ranges::find_if(
      parts_, [](const Part& part) { return part.open && part.block.bytes().size() == part_bytes; });
  if (kept == parts_.end()) return parts_.clear();
  Part one{std::move(kept->block), 0, 0, true};
  parts_.clear();
  parts_.push_back(std::move(one));
}

}  // namespace am::tcp
