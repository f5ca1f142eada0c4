// expected: reply to those that take am::Reply&
#include <am/node.hpp>

void handler(am::Request&);

void f(am::Request& request) { request.reply<handler>(); }
