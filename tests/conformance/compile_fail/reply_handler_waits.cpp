// expected: no member named
#include <am/node.hpp>

void other(am::Reply&);

// A reply handler has no waiting send: neither reply, nor reply_to, nor request.
void handler(am::Reply& reply) { reply.reply_to<other>(0); }
