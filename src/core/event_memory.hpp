// Memory for what events need: pieces of long payloads, lists, posted work.
//
// An interrupt may come while the program is inside malloc, so what runs in one must not enter malloc again. In that mode
// event memory comes from pools over pages of its own; in the others it is ordinary memory. Used by whoever is in the node.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>

namespace am::core {

/// Ordinary memory, or, for a node that is `interrupted`, memory that is safe to take and give in a signal handler.
[[nodiscard]] std::unique_ptr<std::pmr::memory_resource> make_event_memory(bool interrupted);

/// Gives a block of bytes back to where it came from.
struct ReturnBytes {
  std::pmr::memory_resource* memory = nullptr;
  std::size_t size = 0;
  void operator()(std::byte* block) const noexcept;
};
using EventBytes = std::unique_ptr<std::byte[], ReturnBytes>;

/// `size` bytes, aligned to a line; null when there is no memory.
[[nodiscard]] EventBytes try_event_bytes(std::pmr::memory_resource& memory, std::size_t size) noexcept;

}  // namespace am::core
