// expected: too many arguments
#include <am/node.hpp>

void handler(am::Request&, int);

void f(am::Node& node) { node.request<handler>(0, 1, 2); }
