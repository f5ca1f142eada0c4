// A literal would bring its NUL along.
// expected: write std::string_view\(text\), or std::span\(text\)
// expected: write std::string_view\(text\), or std::span\(text\)
// expected: write std::string_view\(text\), or std::span\(text\)
#include <am/node.hpp>

void handler(am::Request&, am::Payload);

void f(am::Node& node, const char* text, char* buffer) {
  node.request<handler>(0, "abc");
  node.request<handler>(0, text);
  static_cast<void>(am::Payload(buffer));
}
