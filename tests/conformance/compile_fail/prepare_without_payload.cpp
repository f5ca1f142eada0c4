// expected: prepare is for handlers that take an am::Payload
#include <am/draft.hpp>

void handler(am::Request&, int);

void f(am::Node& node) { static_cast<void>(node.prepare<handler>(0, 100, 1)); }
