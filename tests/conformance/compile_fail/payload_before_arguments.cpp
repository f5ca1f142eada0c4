// expected: a handler has at most one am::Payload, its last parameter
// expected: a handler has at most one am::Payload, its last parameter
#include <am/node.hpp>
#include <string>

void before(am::Request&, am::Payload, int);
void twice(am::Reply&, am::Payload, am::Payload);

void f(am::Node& node, const std::string& text) {
  node.request<before>(0, text, 1);
  node.reply_to<twice>(0, text, text);
}
