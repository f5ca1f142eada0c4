// Functions that are no handlers, and parameters that no handler can have.
#include <am/draft.hpp>
#include <am/node.hpp>

#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace no_handlers {
void of_something_else(int&, int);
int that_returns_int(am::Request&);

void f(am::Node& node) {
  // expected: first parameter is am::Request& or am::Reply&
  node.request<of_something_else>(0, 1);
  // expected: a handler is a function or member function that returns void
  node.request<that_returns_int>(0);
}
}  // namespace no_handlers

namespace arguments_that_do_not_travel {
void seven_words(am::Request&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                 std::uint64_t, std::uint64_t);
void text(am::Request&, std::string);
void array(am::Request&, const int (&)[4]);
void reference(am::Request&, int&);
void pointer(am::Request&, int*);
void pair(am::Request&, std::pair<int, int>);

void f(am::Node& node, const int (&values)[4], int& value) {
  // expected: take more than 48 bytes
  node.request<seven_words>(0, 1u, 2u, 3u, 4u, 5u, 6u, 7u);
  // expected: must be trivially copyable values
  node.request<text>(0, std::string("text"));
  // expected: an array is no argument: take a std::array
  node.request<array>(0, values);
  // expected: arguments arrive by value
  node.request<reference>(0, value);
  // expected: a pointer means nothing on another node
  node.request<pointer>(0, &value);
  // expected: std::pair and std::tuple are not trivially copyable: take a struct of your own
  node.request<pair>(0, std::pair(1, 2));
}
}  // namespace arguments_that_do_not_travel

// Views and references are trivially copyable; what they point to stays behind.
// expected 6 times: a pointer means nothing on another node, nor does what holds one
namespace view_arguments {
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
}  // namespace view_arguments

// What holds a view, a pointer or a reference is no better than they are, however deep they lie.
// expected 8 times: a pointer means nothing on another node, nor does what holds one
namespace views_inside_arguments {
struct Named {
  int number;
  std::string_view name;
};
struct Rows {
  std::array<Named, 1> row[2];
};

void in_pair(am::Request&, std::pair<int, std::string_view>);
void in_tuple(am::Request&, std::tuple<std::span<int>>);
void in_array(am::Request&, std::array<std::string_view, 2>);
void in_optional(am::Request&, std::optional<std::string_view>);
void in_variant(am::Request&, std::variant<int, int*>);
void in_struct(am::Request&, const Named&);
void deep_inside(am::Request&, std::optional<Rows>);
void a_payload(am::Request&, std::pair<int, am::Payload>);

void f(am::Node& node) {
  node.request<in_pair>(0, std::pair(1, std::string_view("text")));
  node.request<in_tuple>(0, std::tuple(std::span<int>()));
  node.request<in_array>(0, std::array<std::string_view, 2>());
  node.request<in_optional>(0, std::nullopt);
  node.request<in_variant>(0, 1);
  node.request<in_struct>(0, Named{1, "text"});
  node.request<deep_inside>(0, std::nullopt);
  node.request<a_payload>(0, std::pair(1, am::Payload()));
}
}  // namespace views_inside_arguments

// expected 2 times: a handler has at most one am::Payload, its last parameter
namespace payload_before_arguments {
void before(am::Request&, am::Payload, int);
void twice(am::Reply&, am::Payload, am::Payload);

void f(am::Node& node, const std::string& text) {
  node.request<before>(0, text, 1);
  node.reply_to<twice>(0, text, text);
}
}  // namespace payload_before_arguments

// expected 2 times: a payload is read as trivially copyable values without pointers
// expected: a payload is written as trivially copyable values without pointers
namespace payload_as_something_else {
void f(am::Payload payload, am::Draft& draft) {
  static_cast<void>(payload.as<std::string_view>());
  static_cast<void>(payload.as<std::string>());
  static_cast<void>(draft.as<const char*>());
}
}  // namespace payload_as_something_else
