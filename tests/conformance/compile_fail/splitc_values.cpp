// Split-C copies values as bytes: a type with a copy constructor of its own does not travel.
// expected: global memory holds trivially copyable values: they are copied between nodes as bytes
#include <am/splitc.hpp>
#include <string>

void f(const am::splitc::spread_array<std::string>& names) { static_cast<void>(names.size()); }
