// Values that collectives cannot take.
#include <am/collectives.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// expected: a collective takes trivially copyable values .*: std::span\(vector\) for a std::vector
// expected: a collective takes trivially copyable values
// expected: op\(a, b\) takes two values of the collective's type and returns one
namespace collectives_of_something_else {
void f(am::Node& node, const std::vector<int>& values) {
  static_cast<void>(am::all_reduce(node, values, std::plus<>()));
  static_cast<void>(am::all_gather(node, "abc"));
  static_cast<void>(am::all_reduce(node, 1, std::plus<std::string>()));
}
}  // namespace collectives_of_something_else

// A collective of these would hand round pointers.
// expected 6 times: would hand round pointers
// expected: the results replace the values: give a std::span of values that are not const
namespace collectives_of_views {
void f(am::Node& node, std::span<int> values, std::span<const int> constant, int& value) {
  static_cast<void>(am::all_gather(node, values));
  static_cast<void>(am::all_gather(node, std::pair(1, constant)));
  static_cast<void>(am::broadcast(node, std::string_view("abc")));
  static_cast<void>(am::broadcast(node, "abc"));
  static_cast<void>(am::reduce(node, std::ref(value), std::plus<>()));
  static_cast<void>(am::all_reduce(node, &value, [](int* a, int*) { return a; }));
  am::broadcast(node, constant);
}
}  // namespace collectives_of_views
