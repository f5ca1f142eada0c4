// expected: std::pair and std::tuple are not trivially copyable: take a struct of your own
#include <am/node.hpp>
#include <utility>

void handler(am::Request&, std::pair<int, int>);

void f(am::Node& node) { node.request<handler>(0, std::pair(1, 2)); }
