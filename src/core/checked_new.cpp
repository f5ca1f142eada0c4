// The debug build (AM_CHECKED) ends a program whose handler allocates by new while it interrupts the computation: that may
// be inside malloc just then, and the next such interrupt breaks the heap or hangs. Programs that include am/safe_new.hpp
// have other operators, with which it is allowed. What calls malloc itself is not seen.
//
// In a file of its own: a program that defines these operators leaves it out of a static library.
#ifdef AM_CHECKED

#include <cstdlib>
#include <new>
#include <string>

#include "core/engine.hpp"
#include "core/fatal.hpp"

namespace am::impl {
Node* current_node() noexcept;  // node.cpp
}

namespace {

void must_not_interrupt() noexcept {
  am::Node* node = am::impl::current_node();
  if (node == nullptr || !node->engine().interrupts_computation()) return;
  node->engine().forgive_interrupt();  // what follows allocates
  am::core::broken(node->id(),
                   "handler " + std::string(node->engine().running_handler()) +
                       " allocates while it interrupts the computation (AM_DISPATCH=interrupt): take "
                       "memory beforehand, post the work, or include am/safe_new.hpp in the program");
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  must_not_interrupt();
  const std::size_t size = bytes != 0 ? bytes : 1;
  for (;;) {
    void* block = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
                      ? std::malloc(size)
                      : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  try {
    return allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

// All forms: where a sanitizer has its own, they do not call each other.
void* operator new(std::size_t bytes) { return allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return try_allocate(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return try_allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(block);
}
void operator delete(void* block, const std::nothrow_t& /*tag*/) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept {
  std::free(block);
}
void* operator new[](std::size_t bytes) { return allocate(bytes, 1); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return try_allocate(bytes, 1);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return try_allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t /*bytes*/) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t /*alignment*/) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(block);
}
void operator delete[](void* block, const std::nothrow_t& /*tag*/) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept {
  std::free(block);
}

#endif
