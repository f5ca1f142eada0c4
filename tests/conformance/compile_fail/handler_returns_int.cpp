// expected: a handler is a function or member function that returns void
#include <am/node.hpp>

int handler(am::Request&);

void f(am::Node& node) { node.request<handler>(0); }
