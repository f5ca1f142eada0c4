#include "core/event_memory.hpp"

#include <am/impl/packet.hpp>

#include <sys/mman.h>
#include <cstdint>
#include <new>

namespace am::core {

namespace {

constexpr std::size_t page = 4096;

constexpr std::size_t to_pages(std::size_t bytes) noexcept { return (bytes + page - 1) / page * page; }

/// Straight from the system.
class Pages final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t /*alignment*/) override {
    void* block = mmap(nullptr, to_pages(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    return block;
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t /*alignment*/) override {
    munmap(block, to_pages(bytes));
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

/// Pools whose blocks and books both come from pages.
class Pools final : public std::pmr::memory_resource {
 public:
  Pools()
      : pools_({.max_blocks_per_chunk = 256, .largest_required_pool_block = std::size_t{64} << 10}, &pages_) {
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return pools_.allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    pools_.deallocate(block, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  Pages pages_;
  std::pmr::unsynchronized_pool_resource pools_;
};

/// Ordinary memory.
class Heap final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

}  // namespace

std::unique_ptr<std::pmr::memory_resource> make_event_memory(bool interrupted) {
  if (interrupted) return std::make_unique<Pools>();
  return std::make_unique<Heap>();
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

}  // namespace am::core
