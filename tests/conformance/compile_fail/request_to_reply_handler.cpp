// expected: request sends to handlers that take am::Request&
#include <am/node.hpp>

void handler(am::Reply&);

void f(am::Node& node) { node.request<handler>(0); }
