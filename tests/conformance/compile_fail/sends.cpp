// Sends that do not fit their handler, or where they stand.
#include <am/am.hpp>
#include <am/draft.hpp>
#include <am/node.hpp>

#include <atomic>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// expected 2 times: an argument does not become the handler's parameter
namespace argument_of_another_type {
enum class Colour { red };
void number(am::Request&, int);
void colour(am::Request&, Colour);

void f(am::Node& node) {
  node.request<number>(0, std::string("7"));
  node.request<colour>(0, 0);
}
}  // namespace argument_of_another_type

// expected 10 times: an argument is a wider number than the handler.s parameter, or one of another kind
namespace narrowed_arguments {
void number(am::Request&, int);
void small_number(am::Request&, std::uint8_t);
void real_number(am::Request&, float);
void truth(am::Reply&, bool);
void perhaps_a_number(am::Request&, std::optional<int>);
void with_payload(am::Request&, int, am::Payload);

void f(am::Node& node, am::Request& request, double real, const std::vector<int>& values,
       std::atomic<std::int64_t>& shared, am::GlobalPtr<int> place) {
  node.request<number>(0, 5000000000);
  node.request<number>(0, real);
  node.request<small_number>(0, 7);
  node.request<real_number>(0, 0.5);
  node.request<real_number>(0, values.size());
  node.request<number>(0, shared);
  request.reply<truth>(1);
  node.request<perhaps_a_number>(0, 5000000000);
  static_cast<void>(node.prepare<with_payload>(0, 100, values.size()));
  am::put_notify<number>(node, place, values, 5LL);
}
}  // namespace narrowed_arguments

namespace sends_to_other_handlers {
void two(am::Request&, int, int);
void question(am::Request&);
void answer(am::Reply&);

void f(am::Node& node, am::Request& request) {
  // expected: too few arguments
  node.request<two>(0, 1);
  // expected: too many arguments
  node.request<two>(0, 1, 2, 3);
  // expected: reply to those that take am::Reply&
  request.reply<question>();
  // expected: request sends to handlers that take am::Request&
  node.request<answer>(0);
}
}  // namespace sends_to_other_handlers

namespace handlers_that_wait {
void question(am::Request&);
void question_of(am::Request&, int);
void answer(am::Reply&);
void answer_of(am::Reply&, int);

// expected 2 times: a handler must not wait for the low network: write try_request, or post a function
void low(am::Request& request) { request.request<question>(0); }
void outlet(am::LowEvent& event) { event.request<question_of>(0, 1); }

// expected 3 times: a reply handler must not wait: write try_reply_to \(to reply.from\(\)\) or try_request, or post
void high(am::Reply& reply) {
  reply.reply<answer>();
  reply.reply_to<answer_of>(0, 1);
  reply.request<question>(0);
}
}  // namespace handlers_that_wait

// expected: a reply handler must not wait: write try_reply_to
// expected: a handler must not wait for the low network: write try_request
namespace handlers_that_wait_to_send_unordered {
void question(am::Request&);
void answer(am::Reply&, double);

void high(am::Reply& reply) { reply.reply_to<answer>(am::unordered(reply.from()), 1.5); }
void low(am::Request& request) { request.request<question>(am::unordered(request.from())); }
}  // namespace handlers_that_wait_to_send_unordered

// expected: a payload is a range \(std::vector, std::string, std::span\) or an am::Payload: for one value write std::span\(&value, 1\)
// expected: a payload's values hold pointers
// expected 2 times: a payload is a contiguous range of trivially copyable values
// expected: a pointer as payload has no length: write std::span\(pointer, count\)
namespace payload_of_something_else {
void handler(am::Request&, am::Payload);

void f(am::Node& node, const std::vector<std::string_view>& views, const std::vector<std::string>& strings,
       const std::list<int>& list) {
  node.request<handler>(0, 5);
  node.request<handler>(0, views);
  node.request<handler>(0, strings);
  node.request<handler>(0, list);
  node.request<handler>(0, views.data());
}
}  // namespace payload_of_something_else

// A literal would bring its NUL along.
// expected 3 times: write std::string_view\(text\), or std::span\(text\)
namespace text_payload {
void handler(am::Request&, am::Payload);

void f(am::Node& node, const char* text, char* buffer) {
  node.request<handler>(0, "abc");
  node.request<handler>(0, text);
  static_cast<void>(am::Payload(buffer));
}
}  // namespace text_payload

namespace prepare_for_another_handler {
void with_payload(am::Request&, int, am::Payload);
void without_payload(am::Request&, int);

void f(am::Node& node) {
  // expected: prepare takes one argument for each parameter of the handler between its first one and the payload
  static_cast<void>(node.prepare<with_payload>(0, 3, 1, std::string("abc")));
  // expected: prepare is for handlers that take an am::Payload
  static_cast<void>(node.prepare<without_payload>(0, 100, 1));
}
}  // namespace prepare_for_another_handler

// expected 3 times: drafts and multicasts go in order: am::unordered is for request, reply_to and their try_ forms
namespace unordered_draft {
void handler(am::Request&, int, am::Payload);
void other(am::Reply&, am::Payload);
void multicast(am::Request&);

void f(am::Node& node) { static_cast<void>(node.prepare<handler>(am::unordered(1), 100, 1)); }
void g(am::Node& node) { static_cast<void>(node.try_prepare<other>(am::unordered(1), 100)); }
void h(am::Node& node) { node.multicast<multicast>(am::unordered(1)); }
}  // namespace unordered_draft
