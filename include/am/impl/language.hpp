// The language that the headers are written in. Each that programs include begins with this one, or with one that does, so
// that an older language ends in one readable line, and not in what a compiler makes of the rest.
#pragma once

#if __cplusplus < 202002L
#error libam needs C++20: compile with -std=c++20
#define AM_STOP "libam: nothing is compiled beyond this line"  // no such file: compilers stop at once
#include AM_STOP
#endif
