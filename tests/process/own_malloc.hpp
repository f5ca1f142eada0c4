// A malloc of this program's own in the place of the C library's, to which it passes everything on. Included by one file of a program, which
// says what else a call does.
#pragma once

#include <cerrno>
#include <cstddef>

namespace {

/// `function` of the C library begins. A free of nothing does not count.
void malloc_begins(const char* function) noexcept;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the C library's names
extern "C" {
void* __libc_malloc(std::size_t bytes) noexcept;
void* __libc_calloc(std::size_t n, std::size_t bytes) noexcept;
void* __libc_realloc(void* old, std::size_t bytes) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t bytes) noexcept;
void __libc_free(void* old) noexcept;

void* malloc(std::size_t bytes) noexcept {
  malloc_begins("malloc");
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) noexcept {
  malloc_begins("calloc");
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  malloc_begins("realloc");
  return __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  malloc_begins("memalign");
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return memalign(alignment, bytes); }
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) noexcept {
  *out = memalign(alignment, bytes);
  return *out != nullptr ? 0 : ENOMEM;
}
void free(void* old) noexcept {
  if (old != nullptr) malloc_begins("free");
  __libc_free(old);
}
}
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
