// expected: a collective takes trivially copyable values .*: std::span\(vector\) for a std::vector
// expected: a collective takes trivially copyable values
// expected: op\(a, b\) takes two values of the collective's type and returns one
#include <am/collectives.hpp>
#include <functional>
#include <string>
#include <vector>

void f(am::Node& node, const std::vector<int>& values) {
  static_cast<void>(am::all_reduce(node, values, std::plus<>()));
  static_cast<void>(am::all_gather(node, "abc"));
  static_cast<void>(am::all_reduce(node, 1, std::plus<std::string>()));
}
