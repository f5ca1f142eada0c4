// What atomic runs, runs on another node, which has nothing of what a lambda has captured, and no address of this process.
// expected: atomic runs f on another node: give a lambda without captures
// expected: atomic runs f on another node: give a lambda without captures
#include <am/splitc.hpp>

void add_one(int& value) { ++value; }

void f(am::splitc::global_ptr<int> place, int by) {
  am::splitc::atomic([by](int& value) { value += by; }, place);
  am::splitc::atomic(add_one, place);
}
