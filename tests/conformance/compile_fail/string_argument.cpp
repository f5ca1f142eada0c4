// expected: must be trivially copyable values
#include <am/node.hpp>
#include <string>

void handler(am::Request&, std::string);

void f(am::Node& node) { node.request<handler>(0, std::string("text")); }
