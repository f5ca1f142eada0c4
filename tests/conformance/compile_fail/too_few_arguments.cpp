// expected: the number of arguments differs
#include <am/node.hpp>

void handler(am::Request&, int, int);

void f(am::Node& node) { node.request<handler>(0, 1); }
