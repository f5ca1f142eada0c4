// new and delete that handlers may use in the interrupt mode, too. Include it in exactly one source file of a program: it
// replaces the global operators, for the program and every library that it uses.
//
// There a handler interrupts the computation anywhere, also inside malloc, which must not be entered again. With these
// operators it cannot: each allocation of a node's thread holds its events off, as a critical section does. What calls
// malloc itself (stdio, C libraries) is not covered; wrap it in an am::CriticalSection, or keep it out of handlers.
// Costs one thread-local load and two stores per call in that mode, a load and a test in the others.
#pragma once

#include <am/node.hpp>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>

namespace am::impl {

/// The node of this thread; null where there is none.
Node* current_node() noexcept;

/// Holds the events of this thread's node off, if it has one.
class HoldHere {
 public:
  HoldHere() noexcept {
    Node* const node = current_node();
    if (node != nullptr && node->dispatch() == Dispatch::interrupt) hold_.emplace(*node);
  }

 private:
  std::optional<Hold> hold_;
};

inline void* allocate_held(std::size_t bytes, std::size_t alignment) {
  for (;;) {
    {
      const HoldHere hold;
      const std::size_t size = bytes != 0 ? bytes : 1;
      void* block = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
                        ? std::malloc(size)
                        : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
      if (block != nullptr) return block;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

inline void* try_allocate_held(std::size_t bytes, std::size_t alignment) noexcept {
  try {
    return allocate_held(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

inline void free_held(void* block) noexcept {
  const HoldHere hold;
  std::free(block);
}

}  // namespace am::impl

// All forms: where a sanitizer has its own, they do not call each other.
void* operator new(std::size_t bytes) { return am::impl::allocate_held(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return am::impl::allocate_held(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return am::impl::try_allocate_held(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return am::impl::try_allocate_held(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { am::impl::free_held(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { am::impl::free_held(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { am::impl::free_held(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  am::impl::free_held(block);
}
void operator delete(void* block, const std::nothrow_t& /*tag*/) noexcept { am::impl::free_held(block); }
void operator delete(void* block, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept {
  am::impl::free_held(block);
}
void* operator new[](std::size_t bytes) { return am::impl::allocate_held(bytes, 1); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return am::impl::allocate_held(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return am::impl::try_allocate_held(bytes, 1);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return am::impl::try_allocate_held(bytes, static_cast<std::size_t>(alignment));
}
void operator delete[](void* block) noexcept { am::impl::free_held(block); }
void operator delete[](void* block, std::size_t /*bytes*/) noexcept { am::impl::free_held(block); }
void operator delete[](void* block, std::align_val_t /*alignment*/) noexcept { am::impl::free_held(block); }
void operator delete[](void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  am::impl::free_held(block);
}
void operator delete[](void* block, const std::nothrow_t& /*tag*/) noexcept { am::impl::free_held(block); }
void operator delete[](void* block, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept {
  am::impl::free_held(block);
}
