// Uses of Split-C that the language refuses.
#include <am/splitc.hpp>

#include <string>
#include <vector>

// The arguments of atomic travel to the owner of the place, in words.
// expected: a handler's arguments must be trivially copyable values \(std::string, std::vector
namespace splitc_atomic_argument {
void append(char& last, std::string text) { last = text.back(); }

void f(am::splitc::global_ptr<char> last, const std::string& text) { am::splitc::atomic<append>(last, text); }
}  // namespace splitc_atomic_argument

// What atomic runs, runs on another node, which has nothing of what a lambda has captured, and no address of this process.
// expected 2 times: atomic runs f on another node: give a lambda without captures
namespace splitc_atomic_closure {
void add_one(int& value) { ++value; }

void f(am::splitc::global_ptr<int> place, int by) {
  am::splitc::atomic([by](int& value) { value += by; }, place);
  am::splitc::atomic(add_one, place);
}
}  // namespace splitc_atomic_closure

// Nodes that do something together hand round bytes: what has a copy constructor of its own does not go round. (The compiler says so
// of each type once.)
// expected 3 times: a collective takes trivially copyable values \(a number, a struct, a std::array of them\)
namespace splitc_collectives {
struct Named {
  std::string name;
  friend Named operator+(Named a, const Named& b) { return {a.name += b.name}; }
};

void f(const std::string& text, const std::vector<int>& list, const Named& named) {
  static_cast<void>(am::splitc::all_bcast(text));
  static_cast<void>(am::splitc::all_gather(list));
  static_cast<void>(am::splitc::all_reduce_to_all_add(named));
}
}  // namespace splitc_collectives

// What a global pointer to const points to is not written.
// expected 4 times: what the pointer points to is const: it is only read
namespace splitc_const {
void f(am::splitc::global_ptr<const int> i, am::splitc::spread_ptr<const double> d,
       am::splitc::global_ptr<const char> c, am::splitc::global_ptr<const long> l, const char* text) {
  *i = 5;
  am::splitc::put(d, 0.5);
  am::splitc::bulk_put(c, text, 5);
  am::splitc::store(l, 5);
}
}  // namespace splitc_const

// Nothing is put to, or got from, a place for what is not copied as bytes: there is no pointer to one.
// expected 2 times: global memory holds trivially copyable values: they are copied between nodes as bytes
namespace splitc_put_get {
void f(am::splitc::global_ptr<std::string> name, const std::string& text) { am::splitc::put(name, text); }
void g(std::vector<int>* into, am::splitc::spread_ptr<std::vector<int>> list) { am::splitc::get(into, list); }
}  // namespace splitc_put_get

// Split-C copies values as bytes: a type with a copy constructor of its own does not travel.
// expected: global memory holds trivially copyable values: they are copied between nodes as bytes
namespace splitc_values {
void f(const am::splitc::spread_array<std::vector<char>>& names) { static_cast<void>(names.size()); }
}  // namespace splitc_values
