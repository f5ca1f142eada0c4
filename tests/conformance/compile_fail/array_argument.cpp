// expected: an array is no argument: take a std::array
#include <am/node.hpp>

void handler(am::Request&, const int (&)[4]);

void f(am::Node& node, const int (&values)[4]) { node.request<handler>(0, values); }
