// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
// expected: an argument is a wider number than the handler.s parameter, or one of another kind
#include <am/am.hpp>
#include <atomic>
#include <optional>
#include <vector>

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
