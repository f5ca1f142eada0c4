// A program and its library are compiled with AM_CHECKED both, or both without it: each makes its half of the checks. And both with
// one standard library, whose vectors and strings are of one kind. Every source file of a program asks for symbols that only a
// library of its own kind has; so what the linker, or the loader of a shared library, does not find is a sentence.
#pragma once

#include <cstddef>  // any header of the standard library: it says which one it is

#if __has_cpp_attribute(gnu::retain)  // also by linkers that leave out what nobody uses
#define AM_KEEP [[gnu::used, gnu::retain]]
#else
#define AM_KEEP [[gnu::used]]
#endif

namespace am {

// NOLINTBEGIN(readability-identifier-naming): AM_CHECKED is written as compilers know it
#ifdef AM_CHECKED
extern const char program_with_AM_CHECKED_needs_libam_with_AM_CHECKED;
namespace impl {
AM_KEEP inline const char* const build_with_checks = &program_with_AM_CHECKED_needs_libam_with_AM_CHECKED;
}
#else
extern const char program_without_AM_CHECKED_needs_libam_without_AM_CHECKED;
namespace impl {
AM_KEEP inline const char* const build_without_checks =
    &program_without_AM_CHECKED_needs_libam_without_AM_CHECKED;
}
#endif
#if defined(_LIBCPP_VERSION)
#define AM_STANDARD_LIBRARY program_with_libcxx_needs_libam_with_libcxx
#elif defined(_GLIBCXX_DEBUG)
#define AM_STANDARD_LIBRARY program_with_GLIBCXX_DEBUG_needs_libam_with_GLIBCXX_DEBUG
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define AM_STANDARD_LIBRARY program_with_GLIBCXX_USE_CXX11_ABI_0_needs_libam_with_GLIBCXX_USE_CXX11_ABI_0
#else
#define AM_STANDARD_LIBRARY program_with_plain_libstdcxx_needs_libam_with_plain_libstdcxx
#endif
extern const char AM_STANDARD_LIBRARY;
namespace impl {
AM_KEEP inline const char* const standard_library = &AM_STANDARD_LIBRARY;
}
// NOLINTEND(readability-identifier-naming)

}  // namespace am

#undef AM_KEEP
