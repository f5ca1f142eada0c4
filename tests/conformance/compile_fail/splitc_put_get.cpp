// Nothing is put to, or got from, a place for what is not copied as bytes: there is no pointer to one.
// expected: global memory holds trivially copyable values: they are copied between nodes as bytes
// expected: global memory holds trivially copyable values: they are copied between nodes as bytes
#include <am/splitc.hpp>
#include <string>
#include <vector>

void f(am::splitc::global_ptr<std::string> name, const std::string& text) { am::splitc::put(name, text); }
void g(std::vector<int>* into, am::splitc::spread_ptr<std::vector<int>> list) { am::splitc::get(into, list); }
