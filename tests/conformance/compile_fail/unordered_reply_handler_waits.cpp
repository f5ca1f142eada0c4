// expected: a reply handler must not wait: write try_reply_to
// expected: a handler must not wait for the low network: write try_request
#include <am/node.hpp>

void none(am::Request&);
void answer(am::Reply&);

void high(am::Reply& reply) { reply.reply_to<answer>(am::unordered(reply.from())); }
void low(am::Request& request) { request.request<none>(am::unordered(request.from())); }
