#include "transports/chunks.hpp"

#include <algorithm>
#include <bit>

#include "host/layout.hpp"

namespace am {

namespace {
constexpr std::size_t units_for(std::size_t bytes) noexcept {
  return std::max<std::size_t>(1, (bytes + Chunks::gap_bytes + Chunks::unit_bytes - 1) / Chunks::unit_bytes);
}
}  // namespace

static_assert(Chunks::units < 1 << 16 && Chunks::units % 64 == 0);

Chunks::Chunks(const ChunkRegion& memory, NodeId self, Priority priority)
    : memory_(memory),
      self_(self),
      priority_(priority),
      begin_(memory.chunks(self, priority)),
      chunks_(1 + units),
      links_(memory.receivers()) {}

Chunks::Name Chunks::take(NodeId to, std::size_t bytes) noexcept {
  const std::size_t count = units_for(bytes);
  Link& link = links_[to];
  if (link.units + count > short_round_.units()) {
    collect(to);
    short_round_.is_through();
  }
  if (link.units + count > most_units_of_a_link) return 0;
  Name chunk = find_free(count);
  if (chunk == 0) {
    collect_all();
    chunk = find_free(count);
  }
  const std::size_t end = chunk - 1u + count;
  if (chunk == 0 || !commit(end)) return 0;
  mark(chunk - 1u, count, true);
  if (count >= long_units) go_on_behind(chunk - 1u, end);
  chunks_[chunk] = {.position = 0, .to = to, .next = 0, .units = static_cast<std::uint16_t>(count)};
  link.units = static_cast<std::uint16_t>(link.units + count);
  return chunk;
}

bool Chunks::has_room(NodeId to, std::size_t bytes) noexcept {
  const std::size_t count = units_for(bytes);
  collect_all();
  return links_[to].units + count <= most_units_of_a_link && find_free(count) != 0;
}

bool Chunks::is_streamed_to(NodeId to, std::size_t bytes) const noexcept {
  return links_[to].units > 2 * units_for(bytes);
}

std::span<const std::byte> Chunks::foresee(NodeId to, std::size_t bytes) noexcept {
  const std::size_t count = units_for(bytes);
  collect(to);
  const Name chunk = find_free(count);
  if (chunk == 0 || chunk - 1u + count > committed_) return {};
  return {at(chunk), bytes};
}

void Chunks::give_back(Name chunk) noexcept {
  const Chunk& gone = chunks_[chunk];
  mark(chunk - 1u, gone.units, false);
  links_[gone.to].units = static_cast<std::uint16_t>(links_[gone.to].units - gone.units);
}

void Chunks::sent(Name chunk, std::uint64_t position) noexcept {
  chunks_[chunk].position = position;
  Link& link = links_[chunks_[chunk].to];
  if (link.first == 0) {
    link.first = chunk;
  } else {
    chunks_[link.last].next = chunk;
  }
  link.last = chunk;
}

void Chunks::collect(NodeId to) noexcept {
  Link& link = links_[to];
  if (link.first == 0) return;
  const std::uint64_t released = memory_.released(to, self_, priority_);
  while (link.first != 0 && chunks_[link.first].position <= released) {
    const Name back = link.first;
    link.first = chunks_[back].next;
    give_back(back);
  }
}

void Chunks::collect_all() noexcept {
  for (NodeId to = 0; to < memory_.receivers(); ++to) collect(to);
}

void Chunks::close(NodeId to) noexcept {
  for (Link& link = links_[to]; link.first != 0;) {
    const Name back = link.first;
    link.first = chunks_[back].next;
    give_back(back);
  }
}

std::size_t Chunks::next_unit(std::size_t at, bool used, std::size_t end) const noexcept {
  while (at < end) {
    const std::uint64_t word = used ? used_[at / 64] : ~used_[at / 64];
    const std::uint64_t rest = word >> (at % 64);
    if (rest != 0) return at + static_cast<std::size_t>(std::countr_zero(rest));
    at = (at / 64 + 1) * 64;
  }
  return end;
}

Chunks::Name Chunks::find_free(std::size_t count) const noexcept {
  const bool goes_on = count >= long_units && next_long_ + count <= long_round_.units();
  const Name chunk = goes_on ? find_free_from(next_long_, count) : Name{0};
  return chunk != 0 ? chunk : find_free_from(0, count);
}

Chunks::Name Chunks::find_free_from(std::size_t first, std::size_t count) const noexcept {
  for (std::size_t begin = next_unit(first, false, units); begin + count <= limit_;) {
    const std::size_t end =
        next_unit(begin, true, begin + count);  // no farther: this is on every payload's way
    if (end - begin >= count) return static_cast<Name>(1 + begin);
    begin = next_unit(end, false, units);
  }
  return 0;
}

void Chunks::go_on_behind(std::size_t first, std::size_t end) noexcept {
  if (first < next_long_) long_round_.is_through();
  next_long_ = end;
}

void Chunks::Round::is_through() noexcept {
  if (++times_ < times_before_growing) return;
  times_ = 0;
  units_ = std::min(2 * units_, most_);
}

void Chunks::mark(std::size_t first, std::size_t count, bool used) noexcept {
  for (const std::size_t end = first + count; first != end;) {
    const std::size_t here = std::min(end - first, 64 - first % 64);
    const std::uint64_t bits = (~std::uint64_t{0} >> (64 - here)) << (first % 64);
    used_[first / 64] = used ? used_[first / 64] | bits : used_[first / 64] & ~bits;
    first += here;
  }
}

bool Chunks::commit(std::size_t end) noexcept {
  if (end <= committed_) return true;
  constexpr std::size_t step = 64;  // some at a time
  const std::size_t until = host::round_up(end, step);
  if (!memory_.commit_chunks(self_, priority_, committed_ * unit_bytes, (until - committed_) * unit_bytes)) {
    limit_ = committed_;
    return false;
  }
  committed_ = until;
  return true;
}

const std::byte* Chunks::find(const std::byte* chunks, std::size_t name, std::size_t bytes) noexcept {
  const std::size_t begin = (name - 1) * unit_bytes;  // of no chunk, 0, far beyond the end
  if (begin >= chunk_bytes || bytes > chunk_bytes - begin) return nullptr;
  return chunks + begin;
}

}  // namespace am
