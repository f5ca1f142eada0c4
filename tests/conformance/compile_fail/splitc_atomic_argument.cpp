// The arguments of atomic travel to the owner of the place, in words.
// expected: a handler's arguments must be trivially copyable values \(std::string, std::vector
#include <am/splitc.hpp>
#include <string>

void append(char& last, std::string text) { last = text.back(); }

void f(am::splitc::global_ptr<char> last, const std::string& text) { am::splitc::atomic<append>(last, text); }
