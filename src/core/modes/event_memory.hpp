// Memory for what events need: pieces of long payloads, lists, posted work.
//
// An interrupt may come while the program is inside malloc, so what runs in one must not enter malloc again. In that mode
// event memory comes from pools over pages of its own; in the others it is ordinary memory. Used by whoever is in the node.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>

namespace am::core {

/// Ordinary memory, or, for a node that is `interrupted`, memory that is safe to take and give in a signal handler.
class EventMemory {
 public:
  explicit EventMemory(bool interrupted);
  [[nodiscard]] std::pmr::memory_resource* get() noexcept {
    return pools_ ? &*pools_ : std::pmr::new_delete_resource();
  }

 private:
  /// Straight from the system.
  class Pages final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }
  };

  Pages pages_;
  std::optional<std::pmr::unsynchronized_pool_resource> pools_;  // blocks and books both come from pages
};

/// Gives a block of bytes back to where it came from.
struct ReturnBytes {
  std::pmr::memory_resource* memory = nullptr;
  std::size_t size = 0;
  void operator()(std::byte* block) const noexcept;
};
using EventBytes = std::unique_ptr<std::byte[], ReturnBytes>;

/// `size` bytes, aligned to a line; null when there is no memory.
[[nodiscard]] EventBytes try_event_bytes(std::pmr::memory_resource& memory, std::size_t size) noexcept;

/// The same for several who need them until each is done.
using SharedBytes = std::shared_ptr<std::byte>;
[[nodiscard]] SharedBytes try_shared_bytes(std::pmr::memory_resource& memory, std::size_t size) noexcept;

}  // namespace am::core
