// What holds a view, a pointer or a reference is no better than they are, however deep they lie.
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
// expected: a pointer means nothing on another node, nor does what holds one
#include <am/node.hpp>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

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
