// expected: a reply handler must not wait: write try_reply_to \(to reply.from\(\)\) or try_request, or post
// expected: a reply handler must not wait: write try_reply_to \(to reply.from\(\)\) or try_request, or post
// expected: a reply handler must not wait: write try_reply_to \(to reply.from\(\)\) or try_request, or post
#include <am/node.hpp>

void answer(am::Reply&);
void answer_of(am::Reply&, int);
void question(am::Request&);

void handler(am::Reply& reply) {
  reply.reply<answer>();
  reply.reply_to<answer_of>(0, 1);
  reply.request<question>(0);
}
