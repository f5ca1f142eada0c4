// expected: first parameter is am::Request& or am::Reply&
#include <am/node.hpp>

void handler(int&, int);

void f(am::Node& node) { node.request<handler>(0, 1); }
