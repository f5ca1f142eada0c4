// expected: prepare takes one argument for each parameter of the handler between its first one and the payload
#include <am/draft.hpp>
#include <string>

void handler(am::Request&, int, am::Payload);

void f(am::Node& node) { static_cast<void>(node.prepare<handler>(0, 3, 1, std::string("abc"))); }
