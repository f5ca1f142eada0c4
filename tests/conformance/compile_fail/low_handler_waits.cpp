// expected: a handler must not wait for the low network: write try_request, or post a function
// expected: a handler must not wait for the low network: write try_request, or post a function
#include <am/node.hpp>

void other(am::Request&);
void another(am::Request&, int);

void handler(am::Request& request) { request.request<other>(0); }
void outlet(am::LowEvent& event) { event.request<another>(0, 1); }
