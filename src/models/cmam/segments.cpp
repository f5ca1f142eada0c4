#include "models/cmam/segments.hpp"

#include <algorithm>

namespace am::models::cmam {

namespace {

/// With a gap behind it: the end of one segment is not the beginning of another.
constexpr std::int64_t room_for(std::int64_t bytes, std::int64_t alignment) noexcept {
  return (bytes / alignment + 1) * alignment;
}

}  // namespace

/// The first free place of this size at `from` or behind, or -1.
std::int64_t Segments::place_for(std::int64_t room, std::int64_t from) const noexcept {
  std::int64_t place = from;
  for (const Segment& segment : open_) {
    const std::int64_t end = segment.number + room_for(segment.bytes, alignment);
    if (end <= place) continue;
    if (place + room <= segment.number) break;
    place = end;
  }
  return place + room <= space ? place : -1;
}

int Segments::open(void* base, int bytes, Code end, void* info) noexcept {
  if (bytes < 0 || open_.size() == most) return -1;
  const std::int64_t room = room_for(bytes, alignment);
  std::int64_t place = place_for(room, next_);
  if (place < 0) place = place_for(room, alignment);
  if (place < 0) return -1;
  const auto behind =
      std::find_if(open_.begin(), open_.end(), [&](const Segment& s) { return s.number > place; });
  open_.insert(behind, {place, static_cast<std::byte*>(base), bytes, bytes, end, info});
  next_ = place + room;
  return static_cast<int>(place);
}

Segment* Segments::find(std::int64_t number) noexcept {
  const auto behind =
      std::upper_bound(open_.begin(), open_.end(), number,
                       [](std::int64_t at, const Segment& segment) { return at < segment.number; });
  if (behind == open_.begin()) return nullptr;
  Segment& segment = *(behind - 1);
  return number <= segment.number + segment.bytes ? &segment : nullptr;
}

void Segments::close(const Segment& segment) noexcept {
  open_.erase(open_.begin() + (&segment - open_.data()));
}

}  // namespace am::models::cmam
