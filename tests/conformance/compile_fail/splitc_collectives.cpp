// Nodes that do something together hand round bytes: what has a copy constructor of its own does not go round. (The compiler says so
// of each type once.)
// expected: a collective takes trivially copyable values \(a number, a struct, a std::array of them\)
// expected: a collective takes trivially copyable values \(a number, a struct, a std::array of them\)
// expected: a collective takes trivially copyable values \(a number, a struct, a std::array of them\)
#include <am/splitc.hpp>
#include <string>
#include <vector>

struct Named {
  std::string name;
  friend Named operator+(Named a, const Named& b) { return {a.name += b.name}; }
};

void f(const std::string& text, const std::vector<int>& list, const Named& named) {
  static_cast<void>(am::splitc::all_bcast(text));
  static_cast<void>(am::splitc::all_gather(list));
  static_cast<void>(am::splitc::all_reduce_to_all_add(named));
}
