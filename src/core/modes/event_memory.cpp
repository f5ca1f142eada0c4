#include "core/modes/event_memory.hpp"

#include <am/impl/packet.hpp>

#include <sys/mman.h>
#include <cstdint>
#include <new>

namespace am::core {

namespace {

constexpr std::size_t page = 4096;

constexpr std::size_t to_pages(std::size_t bytes) noexcept { return (bytes + page - 1) / page * page; }

}  // namespace

void* EventMemory::Pages::do_allocate(std::size_t bytes, std::size_t /*alignment*/) {
  void* block = mmap(nullptr, to_pages(bytes), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  return block;
}

void EventMemory::Pages::do_deallocate(void* block, std::size_t bytes, std::size_t /*alignment*/) {
  munmap(block, to_pages(bytes));
}

EventMemory::EventMemory(bool interrupted) {
  if (interrupted)
    pools_.emplace(std::pmr::pool_options{.max_blocks_per_chunk = 256,
                                          .largest_required_pool_block = std::size_t{64} << 10},
                   &pages_);
}

void ReturnBytes::operator()(std::byte* block) const noexcept {
  memory->deallocate(block, size, impl::line_bytes);
}

EventBytes try_event_bytes(std::pmr::memory_resource& memory, std::size_t size) noexcept {
  // Sizes near the end of the range would be rounded up to a block of nothing.
  if (size > SIZE_MAX / 2) return {};
  try {
    return {static_cast<std::byte*>(memory.allocate(size, impl::line_bytes)), ReturnBytes{&memory, size}};
  } catch (const std::bad_alloc&) {
    return {};
  }
}

SharedBytes try_shared_bytes(std::pmr::memory_resource& memory, std::size_t size) noexcept {
  EventBytes bytes = try_event_bytes(memory, size);
  if (bytes == nullptr) return {};
  try {
    const ReturnBytes back = bytes.get_deleter();
    return {bytes.release(), back, std::pmr::polymorphic_allocator<std::byte>(&memory)};
  } catch (const std::bad_alloc&) {  // for the count; shared_ptr has given the bytes back
    return {};
  }
}

}  // namespace am::core
