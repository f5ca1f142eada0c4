// expected: too few arguments
#include <am/node.hpp>

void handler(am::Request&, int, int);

void f(am::Node& node) { node.request<handler>(0, 1); }
