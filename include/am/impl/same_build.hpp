// A program and its library are compiled with AM_CHECKED both, or both without it: each makes its half of the checks. Every
// source file of a program asks for a symbol that only a library of its own kind has; so what the linker, or the loader of
// a shared library, does not find is a sentence.
#pragma once

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
// NOLINTEND(readability-identifier-naming)

}  // namespace am

#undef AM_KEEP
