// expected: a payload is read as trivially copyable values without pointers
// expected: a payload is read as trivially copyable values without pointers
// expected: a payload is written as trivially copyable values without pointers
#include <am/draft.hpp>
#include <string>
#include <string_view>

void f(am::Payload payload, am::Draft& draft) {
  static_cast<void>(payload.as<std::string_view>());
  static_cast<void>(payload.as<std::string>());
  static_cast<void>(draft.as<const char*>());
}
