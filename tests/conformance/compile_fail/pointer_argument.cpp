// expected: a pointer means nothing on another node
#include <am/node.hpp>

void handler(am::Request&, int*);

void f(am::Node& node, int* value) { node.request<handler>(0, value); }
