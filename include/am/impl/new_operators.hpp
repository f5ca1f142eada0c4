// The global operators new and delete, all forms: where a sanitizer has its own, they do not call each other. For one source
// file of a program, which defines the two functions that they take memory by and give it back.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace am::impl {

/// Null: there is no memory.
void* take_block(std::size_t bytes, std::size_t alignment) noexcept;
void give_block(void* block) noexcept;

/// Memory as the standard library's own operators take it.
inline void* plain_block(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t size = bytes != 0 ? bytes : 1;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

inline void* allocate(std::size_t bytes, std::size_t alignment) {
  for (;;) {
    if (void* const block = take_block(bytes, alignment)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

inline void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  try {
    return allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace am::impl

// NOLINTBEGIN(misc-definitions-in-headers): for one source file
void* operator new(std::size_t bytes) { return am::impl::allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return am::impl::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return am::impl::try_allocate(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return am::impl::try_allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { am::impl::give_block(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { am::impl::give_block(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { am::impl::give_block(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  am::impl::give_block(block);
}
void operator delete(void* block, const std::nothrow_t& /*tag*/) noexcept { am::impl::give_block(block); }
void operator delete(void* block, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept {
  am::impl::give_block(block);
}
void* operator new[](std::size_t bytes) { return am::impl::allocate(bytes, 1); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return am::impl::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return am::impl::try_allocate(bytes, 1);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return am::impl::try_allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete[](void* block) noexcept { am::impl::give_block(block); }
void operator delete[](void* block, std::size_t /*bytes*/) noexcept { am::impl::give_block(block); }
void operator delete[](void* block, std::align_val_t /*alignment*/) noexcept { am::impl::give_block(block); }
void operator delete[](void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  am::impl::give_block(block);
}
void operator delete[](void* block, const std::nothrow_t& /*tag*/) noexcept { am::impl::give_block(block); }
void operator delete[](void* block, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept {
  am::impl::give_block(block);
}
// NOLINTEND(misc-definitions-in-headers)
