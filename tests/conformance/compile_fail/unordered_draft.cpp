// expected: drafts and multicasts go in order: am::unordered is for request, reply_to and their try_ forms
// expected: drafts and multicasts go in order: am::unordered is for request, reply_to and their try_ forms
// expected: drafts and multicasts go in order: am::unordered is for request, reply_to and their try_ forms
#include <am/am.hpp>

void handler(am::Request&, int, am::Payload);
void other(am::Reply&, am::Payload);
void multicast(am::Request&);

void f(am::Node& node) { static_cast<void>(node.prepare<handler>(am::unordered(1), 100, 1)); }
void g(am::Node& node) { static_cast<void>(node.try_prepare<other>(am::unordered(1), 100)); }
void h(am::Node& node) { node.multicast<multicast>(am::unordered(1)); }
