// expected: a payload is a range \(std::vector, std::string, std::span\) or an am::Payload: for one value write std::span\(&value, 1\)
// expected: a payload's values hold pointers
// expected: a payload is a contiguous range of trivially copyable values
// expected: a payload is a contiguous range of trivially copyable values
// expected: a pointer as payload has no length: write std::span\(pointer, count\)
#include <am/node.hpp>
#include <list>
#include <string>
#include <string_view>
#include <vector>

void handler(am::Request&, am::Payload);

void f(am::Node& node, const std::vector<std::string_view>& views, const std::vector<std::string>& strings,
       const std::list<int>& list) {
  node.request<handler>(0, 5);
  node.request<handler>(0, views);
  node.request<handler>(0, strings);
  node.request<handler>(0, list);
  node.request<handler>(0, views.data());
}
