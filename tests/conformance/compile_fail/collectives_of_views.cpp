// A collective of these would hand round pointers.
// expected: would hand round pointers
// expected: would hand round pointers
// expected: would hand round pointers
// expected: would hand round pointers
// expected: would hand round pointers
// expected: would hand round pointers
// expected: the results replace the values: give a std::span of values that are not const
#include <am/collectives.hpp>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

void f(am::Node& node, std::span<int> values, std::span<const int> constant, int& value) {
  static_cast<void>(am::all_gather(node, values));
  static_cast<void>(am::all_gather(node, std::pair(1, constant)));
  static_cast<void>(am::broadcast(node, std::string_view("abc")));
  static_cast<void>(am::broadcast(node, "abc"));
  static_cast<void>(am::reduce(node, std::ref(value), std::plus<>()));
  static_cast<void>(am::all_reduce(node, &value, [](int* a, int*) { return a; }));
  am::broadcast(node, constant);
}
