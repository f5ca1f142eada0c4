// Views and references are trivially copyable; what they point to stays behind.
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
#include <am/node.hpp>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

void span(am::Request&, std::span<const int>);
void text(am::Request&, std::string_view);
void reference(am::Request&, const std::reference_wrapper<int>&);
void list(am::Request&, std::initializer_list<int>);
void iterator(am::Request&, std::vector<int>::const_iterator);
void error(am::Reply&, std::error_code);  // points to its category

void f(am::Node& node, std::vector<int>& values) {
  node.request<span>(0, values);
  node.request<text>(0, "text");
  node.request<reference>(0, std::ref(values[0]));
  node.request<list>(0, std::initializer_list<int>{1, 2});
  node.request<iterator>(0, values.begin());
  node.reply_to<error>(0, std::error_code());
}
